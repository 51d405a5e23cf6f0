#!/bin/sh
# The fuzz targets: inputs and bytes of each corpus, kept crashes, words of the
# dictionary, and, with a directory of targets whose `make fuzz` has run,
# seconds of it.  Fields are separated by tabs.
# usage: sizes.sh [DIRECTORY_OF_TARGETS]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
time=${1:-/dev/null}
[ ! -d "$time" ] || time=$time/time
[ -e "$time" ] || time=/dev/null

files() {
	[ ! -d "$1" ] || find "$1" -type f "$2" "$3"
}

printf 'target\tinputs\tbytes\tcrashes\twords\tseconds\n'
for f in "$here"/fuzz_*.c; do
	name=${f##*/fuzz_}
	name=${name%.c}
	printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$name" \
	    "$(files "$here/corpus/$name" -printf '.\n' | wc -l)" \
	    "$(files "$here/corpus/$name" -printf '%s\n' |
	    awk '{ n += $1 } END { print n + 0 }')" \
	    "$(files "$here/crashes/$name" -printf '.\n' | wc -l)" \
	    "$(grep -c '^[^#]' "$here/dict/$name.dict" 2>/dev/null || :)" \
	    "$(awk -v n="$name" '$1 == n { s += $2 } END { print s + 0 }' \
	    "$time")"
done
