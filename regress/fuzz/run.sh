#!/bin/sh
# Runs every fuzz target for some seconds on a copy of its corpus; what
# crashed is kept in regress/fuzz/crashes/.  Speaks TAP.
# usage: run.sh DIRECTORY_OF_TARGETS SECONDS
set -u

bins=$1
seconds=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM
n=0
bad=0

for bin in "$bins"/fuzz_*; do
	if [ ! -f "$bin" ] || [ ! -x "$bin" ]; then
		continue
	fi
	name=$(basename "$bin" | sed 's/^fuzz_//')
	n=$((n + 1))
	mkdir -p "$work/$name" "$work/crashes"
	[ ! -d "$here/corpus/$name" ] ||
	    cp -r "$here/corpus/$name/." "$work/$name/"
	set -- "$work/$name"
	[ ! -f "$here/dict/$name.dict" ] || set -- "$@" \
	    "-dict=$here/dict/$name.dict"
	if "$bin" "$@" -max_total_time="$seconds" -timeout=10 \
	    -rss_limit_mb=2048 -print_final_stats=1 \
	    -artifact_prefix="$work/crashes/$name-" >"$work/log" 2>&1; then
		execs=$(sed -n 's/^stat::number_of_executed_units: *//p' \
		    "$work/log")
		if [ "${execs:-0}" -gt 0 ]; then
			echo "ok $n - $name: $execs inputs in $seconds s"
			continue
		fi
	fi
	bad=1
	echo "not ok $n - $name"
	tail -40 "$work/log" | sed 's/^/# /'
	mkdir -p "$here/crashes"
	cp "$work/crashes/$name"-* "$here/crashes/" 2>/dev/null
done
echo "1..$n"
[ "$bad" -eq 0 ] && [ "$n" -gt 0 ]
