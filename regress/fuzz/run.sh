#!/bin/sh
# Every fuzz target: first what the corpus and the kept crashes hold, which
# must do no harm, then new inputs for some seconds.  What crashes a target is
# kept in regress/fuzz/crashes/NAME/ and replayed from then on.  Speaks TAP.
# usage: run.sh DIRECTORY_OF_TARGETS SECONDS [JOBS]
#
# FUZZ_ONLY	names of targets, instead of all
# FUZZ_LIMIT	seconds that one input may take (25)
# FUZZ_IDLE	1: new inputs get only the time of processors that nobody
#		else wants, and a target that gets none is stopped: it has
#		replayed what there is, and that is what it must do
# FUZZ_SEED	the same new inputs each time, as far as it gets (random)
#
# Without FUZZ_IDLE what is found stays in DIRECTORY/found/NAME, for the next
# run and for `make fuzz-merge`; how long was looked is added to DIRECTORY/time.
set -u

here=$(cd "$(dirname "$0")" && pwd)
bins=$1
seconds=$2
jobs=${3:-1}
most=$((seconds + 3600))	# then it hangs
idle=
if [ "${FUZZ_IDLE:-0}" = 1 ]; then
	most=$((seconds + 15))
	idle="nice -n 19"
	! chrt -i 0 true 2>/dev/null || idle="chrt -i 0"
fi

# $1: what it was doing when it ended
complain() {
	is_quiet || mkdir -p "$here/crashes/$name"
	mv "$work/crash-"* "$work/leak-"* "$work/timeout-"* "$work/oom-"* \
	    "$here/crashes/$name/" 2>/dev/null
	{
		echo "not ok - $name: $1"
		tail -60 "$work/log" | sed 's/^/# /'
	} >"$work/said"
	cat "$work/said"
	exit 1
}

is_quiet() {
	for f in "$work"/crash-* "$work"/leak-* "$work"/timeout-* \
	    "$work"/oom-*; do
		[ ! -e "$f" ] || return 1
	done
}

one() {
	name=$1
	bin=$bins/fuzz_$name
	# the run of tests that this is a part of is over
	[ -z "${DL_BIN:-}" ] || [ -d "$DL_BIN" ] || exit 1
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
	TMPDIR=$work
	export TMPDIR
	trap 'exit 1' INT TERM
	found=$work/found
	[ -n "$idle" ] || found=$bins/found/$name
	mkdir -p "$found" "$work/none"
	set -- "$work/none"
	for d in "$here/corpus/$name" "$here/crashes/$name"; do
		[ ! -d "$d" ] || set -- "$@" "$d"
	done
	kept=$(find "$@" -type f | wc -l)
	options="-timeout=${FUZZ_LIMIT:-25} -rss_limit_mb=4096"
	options="$options -print_final_stats=1 -artifact_prefix=$work/"
	[ -z "${FUZZ_SEED:-}" ] || options="$options -seed=$FUZZ_SEED"
	[ ! -f "$here/dict/$name.dict" ] ||
		options="$options -dict=$here/dict/$name.dict"
	# shellcheck disable=SC2086 # options are words
	"$bin" -runs=0 $options "$@" >"$work/log" 2>&1 ||
	    complain "an input that is kept breaks it"
	# shellcheck disable=SC2086
	$idle timeout -s KILL "$most" "$bin" -max_total_time="$seconds" \
	    $options "$found" "$@" >"$work/log" 2>&1
	ret=$?
	if [ "$ret" -eq 0 ]; then
		n=$(sed -n 's/^stat::number_of_executed_units: *//p' \
		    "$work/log")
	elif [ -n "$idle" ] && [ "$ret" -ge 124 ] && is_quiet; then
		n=some
	else
		complain "an input that was found breaks it"
	fi
	[ -n "$idle" ] || echo "$name $seconds $n" >>"$bins/time"
	echo "ok - $name: $kept inputs that are kept, $n in $seconds s"
}

if [ "${4:-}" != "" ]; then
	one "$4"
	exit 0
fi
names=${FUZZ_ONLY:-$(find "$here" -name 'fuzz_*.c' |
    sed 's,.*/fuzz_\(.*\)\.c$,\1,' | sort)}
echo "1..$(echo "$names" | wc -w)"
# shellcheck disable=SC2086 # names are words
printf '%s\n' $names | xargs -n 1 -P "$jobs" "$0" "$bins" "$seconds" "$jobs"
