#!/bin/sh
# SPDX-License-Identifier: ISC
# The sources as the analyzers see them that take minutes: gcc, clang-tidy and
# cppcheck.  They take what other tests leave of the processors.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

DL_STATIC='gcc tidy cppcheck' nice -n 19 "$top/regress/static/check.sh" \
    "$work" >"$work/out" 2>&1
# of the same form but without numbers
awk '/^(not )?ok - / { sub("ok -", "ok " ++n " -") } { print }
    END { print "1.." n }' "$work/out"
