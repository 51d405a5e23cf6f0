#!/bin/sh
# Runs the parts of the field suite and prints a table of their ratios.
# usage: regress/field/run.sh BUILD_DIRECTORY [PART ...]
#
# A part compares the product with a reference that is not this project's, on
# programs of Debian's packages, and prints "PART: N same of M" last.  A part
# fails when its ratio is lower than the one in regress/field/ratios; when
# it is higher, that file should have the new one.
# FIELD_SEED=N	another choice where a part chooses at random
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
printf '%-10s %8s %8s %9s %8s %8s\n' part same of excepted ratio last
for part; do
	last=$(sed -n "s/^$part //p" ratios)
	sed -n "s/^$part: \([0-9]*\) same of \([0-9]*\)\(, \([0-9]*\) excepted\)\{0,1\}.*/\1 \2 \4/p" \
	    "$logs/$part.log" | tail -1 |
	    awk -v part="$part" -v last="${last:-1}" '
		{ ratio = $2 ? $1 / $2 : 0; seen = 1 }
		END {
			printf "%-10s %8d %8d %9d %8.4f %8.4f%s\n", part, $1, $2,
			    $3, ratio, last, ratio < last ? "  lower" : ""
			exit(!seen || ratio < last)
		}' || failed=1
done
exit $failed
