#!/bin/sh
# Runs every test below regress/ against a build directory and prints one
# line of counts last.  usage: regress/run.sh BUILD_DIRECTORY
#
# DL_TESTS	files to run instead of all
# DL_JOBS	how many at a time (2)
# DL_LIMIT	seconds that a file may take (1800)
# DL_ONCE	1: what failed beside others gets no second run alone
# DL_LOG	where to leave all that was said
# DL_EXEC	a program that is given each file and runs it
set -u

[ -n "${DL_STAGED:-}" ] ||
	DL_STAGED=yes exec "$(dirname "$0")/env.sh" "$1" "$0" "$@"
unset DL_STAGED

build=$DL_BUILD
cd "$(dirname "$0")/.." || exit 1
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
trap "exit 1" INT TERM
limit=${DL_LIMIT:-1800}
smoke="regress/fuzz/smoke.t regress/static/analyzers.t"
# a sample, in two minutes; make faults has all of them
faults=regress/faults/faults.t
# a build without the page has nothing that a browser could be shown
web='regress/web/*.t regress/mcp/*.t'
[ -d "$build/web-test" ] || web=
# a ^C is for the tests as well
front=
[ ! -t 0 ] || front=--foreground
# fuzz targets have sanitizers of their own in every build
if [ "$DL_SANITIZED" = 1 ]; then
	smoke=
	# they have a malloc of their own
	faults=
	limit=${DL_LIMIT:-3600}
fi

# the long ones first, so that none is left to run by itself
[ -z "${DL_TESTS:-}" ] || smoke=
# shellcheck disable=SC2086 # a list of files
set -- ${DL_TESTS:-$faults regress/attack/*.t $web regress/e2e/*.t \
    "$build"/regress/test_*}
# a long list is more than some tests' programs may be given
unset DL_TESTS

log_of() {
	echo "$logs/$(basename "$(dirname "$1")")-$(basename "$1")"
}

# $1: how many at a time; then the files.  Leaves a log of each, and an
# empty file beside it if all was well.
run() {
	jobs=$1
	shift
	# shellcheck disable=SC2016 # what is within is for the inner shell
	for file; do
		printf '%s\0%s\0' "$file" "$(log_of "$file")"
	done | limit="$limit" front="$front" xargs -0 -r -n 2 -P "$jobs" sh -c '
		timeout -k 10 $front "$limit" prove --verbose --merge \
		    --exec "${DL_EXEC:-}" "$1" >"$2.log" 2>&1 && : >"$2.good" || :' run
}

# Those of the files that are not well.
bad() {
	for file; do
		[ -e "$(log_of "$file").good" ] || echo "$file"
	done
}

# What failed, with what it said; the rest only counts.
complain() {
	grep -hE '^(not ok|Bail out|# )|Dubious|Failed|Parse errors' \
	    "$(log_of "$1").log" | grep -v '^# ok'
}

# Those that wait more than they compute, if $1 is -l, or the others.
lane() {
	how=$1
	shift
	grep "$how" -sx '# lane: waits' "$@"
}

# Fuzzers and analyzers take what the others leave of the processors, so they
# are no burden to them, nor do they wait for them.  Nor is one that waits.
if [ -n "$smoke" ]; then
	# shellcheck disable=SC2086 # a list of files
	limit=1800 run 1 $smoke &
	# shellcheck disable=SC2046 # a list of files
	run 1 $(lane -l "$@") &
	# shellcheck disable=SC2046 # a list of files
	run "${DL_JOBS:-2}" $(lane -L "$@")
else
	run "${DL_JOBS:-2}" "$@"
fi
wait
# shellcheck disable=SC2086 # a list, or none
set -- $smoke "$@"
# Two processors that others use as well may make a test wait too long.  Such
# a file is named and gets two more runs, alone; where many have failed it was
# not that.
unsteady=
again=$(bad "$@")
if [ "${DL_ONCE:-0}" != 1 ] && [ "$(echo "$again" | wc -w)" -le 6 ]; then
	for file in $again $again; do
		[ ! -e "$(log_of "$file").good" ] || continue
		echo "# $file failed:"
		complain "$file" | tail -60
		run 1 "$file"
		[ ! -e "$(log_of "$file").good" ] ||
			unsteady="$unsteady $file"
	done
fi

log=$logs/all
cat "$logs"/*.log >"$log"
passed=$(grep -cE '^ *ok [0-9]+' "$log")
failed=$(grep -cE '^ *not ok [0-9]+' "$log")
skips='^ *ok [0-9]+.*# skip|^[^ #]+ \.+ skipped:'
skipped=$(grep -ciE "$skips" "$log")
passed=$((passed - $(grep -ciE '^ *ok [0-9]+.*# skip' "$log")))
# a test that dies or stops half-way has failed, whatever it counted
if [ -n "$(bad "$@")" ] && [ "$failed" -eq 0 ]; then
	failed=1
fi
if [ "${MUST_WORK:-0}" = 1 ] && [ "$skipped" -gt 0 ]; then
	echo "skipped with MUST_WORK=1:"
	grep -iE "$skips" "$log"
	failed=$((failed + skipped))
fi
[ -z "${DL_LOG:-}" ] || cp "$log" "$DL_LOG"
# what a reader must see is near the end, where a short view still shows it
for file; do
	[ ! -e "$(log_of "$file").good" ] || complain "$file"
done | tail -200
for file in $(bad "$@"); do
	echo "# $file failed:"
	complain "$file" | tail -60
done
[ -z "$unsteady" ] || echo "passed only alone:$unsteady"
# no skips: nothing that could be installed or set would help
grep -h '^# this machine cannot' "$log" | sort -u
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
