#!/bin/sh
# Runs every test below regress/ against a build directory and prints one
# line of counts last.  usage: regress/run.sh BUILD_DIRECTORY
set -u

build=$1
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top" || exit 1
[ "$(id -u)" -ne 0 ] || etc/service-users.sh || exit 1

# a copy that every user can reach, wherever the tree stands
stage=$(mktemp -d)
log=$(mktemp)
trap 'rm -rf "$stage" "$log"' EXIT
trap "exit 1" INT TERM
chmod 755 "$stage"
cp -r "$build/bin" "$build/libexec" "$build/regress/helpers" "$stage" ||
    exit 1

DL_BUILD=$build
DL_BIN=$stage/bin
DL_LIBEXEC=$stage/libexec/debuglantern
DL_HELPERS=$stage/helpers
CMOCKA_MESSAGE_OUTPUT=TAP
PYTHONDONTWRITEBYTECODE=1
DL_SANITIZED=0
smoke=regress/fuzz/smoke.t
# a build without the page has nothing that a browser could be shown
web='regress/web/*.t'
[ -d "$build/web-test" ] || web=
# fuzz targets have sanitizers of their own in every build
if grep -q __asan_init "$build/bin/debuglanternd"; then
	DL_SANITIZED=1
	smoke=
fi
export DL_SANITIZED DL_BUILD DL_BIN DL_LIBEXEC DL_HELPERS \
    CMOCKA_MESSAGE_OUTPUT PYTHONDONTWRITEBYTECODE

set -- "$build"/regress/test_*
[ -z "${DL_TESTS:-}" ] || set --
# shellcheck disable=SC2086 # a list of files
prove --jobs "${DL_JOBS:-2}" --verbose --merge --exec '' "$@" \
    ${DL_TESTS:-regress/e2e/*.t regress/attack/*.t $web $smoke} >"$log" 2>&1
status=$?

# what failed, with what it said; the rest only counts
grep -E '^(not ok|Bail out|# )|Dubious|Failed|Result|Parse errors|^Files=' \
    "$log" | tail -400
passed=$(grep -cE '^ *ok [0-9]+' "$log")
failed=$(grep -cE '^ *not ok [0-9]+' "$log")
skips='^ *ok [0-9]+.*# skip|^[^ #]+ \.+ skipped:'
skipped=$(grep -ciE "$skips" "$log")
passed=$((passed - $(grep -ciE '^ *ok [0-9]+.*# skip' "$log")))
# a test that dies or stops half-way has failed, whatever it counted
if [ "$status" -ne 0 ] && [ "$failed" -eq 0 ]; then
	failed=1
fi
if [ "${MUST_WORK:-0}" = 1 ] && [ "$skipped" -gt 0 ]; then
	echo "skipped with MUST_WORK=1:"
	grep -iE "$skips" "$log"
	failed=$((failed + skipped))
fi
[ -z "${DL_LOG:-}" ] || cp "$log" "$DL_LOG"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
