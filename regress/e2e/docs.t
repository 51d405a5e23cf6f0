#!/bin/sh
# SPDX-License-Identifier: ISC
# The message table in docs/ is what the build's table says.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
helpers=${DL_HELPERS:-$top/build/regress/helpers}
out=$(mktemp)
trap 'rm -f "$out"' EXIT

echo 1..2
if "$helpers/msgtable" >"$out" && [ -s "$out" ] &&
    ! grep -q '(null)' "$out"; then
	echo 'ok 1 - the table is printed, with a word for everything'
else
	echo 'not ok 1 - the table is printed, with a word for everything'
fi
if diff -u "$top/docs/MESSAGES.md" "$out" >"$out.diff" 2>&1; then
	echo 'ok 2 - docs/MESSAGES.md is what "make docs" prints'
else
	echo 'not ok 2 - docs/MESSAGES.md is what "make docs" prints'
	sed 's/^/# /' "$out.diff" | head -40
fi
rm -f "$out.diff"
