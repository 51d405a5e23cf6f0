#!/bin/sh
# Adds to the corpora what other inputs reach that they do not, the shortest
# first, so that they stay small.  usage: merge.sh DIRECTORY_OF_TARGETS FROM
# FROM/NAME/ holds inputs for fuzz_NAME, as `make fuzz` leaves them.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
max=16384	# bytes of an input that is worth keeping
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

for from in "$2"/*/; do
	name=$(basename "$from")
	[ -x "$1/fuzz_$name" ] || continue
	mkdir -p "$work/new/$name" "$here/corpus/$name"
	find "$here/corpus/$name" "$from" -type f -size "-${max}c" \
	    -exec cp {} "$work/new/$name" \; || :
	"$1/fuzz_$name" -set_cover_merge=1 -use_counters=0 -timeout=300 \
	    -rss_limit_mb=4096 \
	    "$here/corpus/$name" "$work/new/$name" >"$work/log" 2>&1 || {
		tail -20 "$work/log"
		exit 1
	}
done
exec "$here/sizes.sh"
