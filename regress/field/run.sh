#!/bin/sh
# Runs the parts of the field suite and prints a table of their ratios.
# usage: regress/field/run.sh BUILD_DIRECTORY [PART ...]
#
# A part compares the product with a reference that is not this project's, on
# programs of Debian's packages, and prints "PART: N same of M" last.  A part
# fails when its ratio is lower than the one in regress/field/ratios; when
# it is higher, that file should have the new one.  It also fails when it had
# fewer cases than the last time, excepted ones included: 5 in 100 fewer are
# good, since some have no end or another each time, and 25 with another seed.
# FIELD_SEED=N	another choice where a part chooses at random
# FIELD_ALL=1	all cases instead of a choice
set -u

build=$1
shift
cd "$(dirname "$0")" || exit 1
logs=$build/field
mkdir -p "$logs"
umask 022
LC_ALL=C.UTF-8
PYTHONDONTWRITEBYTECODE=1
export LC_ALL PYTHONDONTWRITEBYTECODE
# shellcheck disable=SC2046 # a list of words
[ $# -gt 0 ] || set -- $(sed -n 's/^\([a-z]\{1,\}\) .*/\1/p' ratios)

failed=0
for part; do
	echo "# $part: all that it says is in $logs/$part.log"
	"./$part" "$build" --seed "${FIELD_SEED:-1}" >"$logs/$part.log" 2>&1
	grep -A8 'DIFFERS' "$logs/$part.log" | head -400
done
slack=5
[ "${FIELD_SEED:-1}" -eq 1 ] || slack=25
printf '%-10s %8s %8s %9s %8s %8s %8s %8s\n' part same of excepted ratio last \
    cases last
for part; do
	last=$(sed -n "s/^$part \([^ ]*\).*/\1/p" ratios)
	cases=$(sed -n "s/^$part [^ ]* //p" ratios)
	sed -n "s/^$part: \([0-9]*\) same of \([0-9]*\)\(, \([0-9]*\) excepted\)\{0,1\}.*/\1 \2 \4/p" \
	    "$logs/$part.log" | tail -1 |
	    awk -v part="$part" -v last="${last:-1}" -v cases="${cases:-0}" \
		-v slack="$slack" '
		{ ratio = $2 ? $1 / $2 : 0; seen = 1 }
		END {
			fewer = ($2 + $3) * 100 < cases * (100 - slack)
			printf "%-10s %8d %8d %9d %8.4f %8.4f %8d %8d%s%s\n",
			    part, $1, $2, $3, ratio, last, $2 + $3, cases,
			    ratio < last ? "  lower" : "", fewer ? "  fewer" : ""
			exit(!seen || ratio < last || fewer)
		}' || failed=1
done
for part; do
	sed -n "s/^# left out: /$part left out: /p" "$logs/$part.log"
done
exit $failed
