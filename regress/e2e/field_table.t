#!/bin/sh
# SPDX-License-Identifier: ISC
# The table of `make field`: a part fails by its ratio, by the number of its
# cases and by saying nothing, and adapters that are not here are named.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cp "$top/regress/field/run.sh" "$work"
n=0

# check WHAT EXIT_CODE WORD: one part that says $said, with this line of ratios
check() {
	n=$((n + 1))
	printf '%s\n' "$ratio" >"$work/ratios"
	printf '#!/bin/sh\ncat <<"END"\n%s\nEND\n' "$said" >"$work/one"
	chmod 755 "$work/one"
	out=$(FIELD_SEED=${seed:-1} "$work/run.sh" "$work" 2>&1)
	code=$?
	if [ "$code" -eq "$2" ] && echo "$out" | grep -q -e "$3"; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		printf 'exit %s\n%s\n' "$code" "$out" | sed 's/^/# /'
	fi
}

echo 1..8
ratio='one 1 100'
said='one: 98 same of 98, 2 excepted'
check 'as many cases as before, excepted ones among them' 0 '1.0000'
said='one: 96 same of 96'
check 'a few cases fewer are good' 0 '1.0000'
said='one: 90 same of 90, 4 excepted'
check 'fewer cases than before fail' 1 'fewer$'
seed=2 said='one: 80 same of 80'
check 'another seed may have more fewer' 0 '1.0000'
seed=2 said='one: 70 same of 70'
check 'but not any number' 1 'fewer$'
seed=1 ratio='one 1' said='one: 3 same of 3'
check 'without a number any will do' 0 '1.0000'
ratio='one 1 100' said='one: 99 same of 100'
check 'a lower ratio fails' 1 'lower$'
said='# left out: gdb (not installed here)
one: 100 same of 100'
check 'what is left out is named' 0 '^one left out: gdb (not installed here)$'
