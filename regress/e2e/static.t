#!/bin/sh
# SPDX-License-Identifier: ISC
# The sources as analyzers see them that take seconds: spelling, scripts, man
# pages and comments.  Those that take minutes are asked by analyzers.t.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

DL_STATIC='spell shell man plain' "$top/regress/static/check.sh" "$work" \
    >"$work/out" 2>&1
# of the same form but without numbers
awk '/^(not )?ok - / { sub("ok -", "ok " ++n " -") } { print }
    END { print "1.." n }' "$work/out"
