#!/bin/sh
# SPDX-License-Identifier: ISC
# What share of the lines of each directory a part of the tests passes through.
# The counters are a file that each process maps before it gives up its rights,
# so that those count, too, that never exit by themselves.
#
# usage: coverage.sh BUILD_DIRECTORY	made by `make coverage`
#
# DL_TESTS	what to run instead of the part below
set -eu

build=$1
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
work=$build/coverage
rm -rf "$work"
# every role and every user writes to the same ones
mkdir -p "$work"
chmod 777 "$work"

programs() {
	find "$build/bin" "$build/libexec" "$build/regress" -maxdepth 2 \
	    -type f -perm -100 ! -name '*.d'
}

# Started in vain, each of them leaves its file of counters, for all to open.
(umask 0
for p in $(programs); do
	case $p in
	*/bin/*|*/libexec/*)
		timeout 10 "$p" --version </dev/null >/dev/null 2>&1 || : ;;
	esac
done)

part='regress/e2e/lifecycle.t regress/e2e/bundle.t regress/e2e/sysroot.t
regress/e2e/jsonlines.t regress/e2e/framing.t regress/e2e/output.t
regress/e2e/keys.t regress/e2e/share.t regress/e2e/token.t regress/e2e/tls.t
regress/e2e/quota.t regress/e2e/debug.t regress/e2e/debugger_role.t
regress/e2e/dap_engine.t regress/e2e/dap_traps.t regress/e2e/tracer_role.t
regress/e2e/tracer_process.t regress/e2e/trace_engine.t regress/e2e/trace_store.t
regress/e2e/symbols.t regress/e2e/mcp.t regress/e2e/http.t regress/e2e/ws.t
regress/e2e/pty.t regress/e2e/terminal.t regress/e2e/ctl.t regress/e2e/ctl_term.t
regress/e2e/ctl_trace.t regress/e2e/ctl_timeline.t regress/e2e/debugger_cli.t
regress/e2e/supervise.t regress/e2e/audit.t regress/e2e/discovery.t
regress/e2e/openapi.t regress/e2e/ctl_token.t regress/e2e/debugger.t
regress/e2e/daemon.t regress/e2e/auditfile.t regress/e2e/hold.t regress/e2e/ctl_ssh.t
regress/e2e/ctl_tls.t regress/e2e/dap_editor.t
regress/attack/netproc.t regress/attack/http.t'
DL_ONCE=1 DL_TESTS=${DL_TESTS:-$part $(echo "$build"/regress/test_*)} \
    regress/run.sh "$build" >"$work/tests" 2>&1 || :
tail -1 "$work/tests"

"llvm-profdata-${LLVM:-14}" merge -sparse -o "$work/all.profdata" "$work"/*.profraw
objects=$(programs | while read -r p; do
	case $p in
	*/helpers/*)	;;
	*)	echo "-object=$p" ;;
	esac
done)
# shellcheck disable=SC2086	# a list of words
"llvm-cov-${LLVM:-14}" export -summary-only -instr-profile="$work/all.profdata" \
    $objects >"$work/summary.json" 2>"$work/llvm-cov.log"
"$here/bydir.py" "$work/summary.json"
