#!/bin/sh
# SPDX-License-Identifier: ISC
# The message table in docs/ is what the build's table says, and what the
# documents at the top name is there.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
helpers=${DL_HELPERS:-$top/build/regress/helpers}
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# Words in backquotes and targets of links that look like files of the tree.
named() {
	# shellcheck disable=SC2016	# these are backquotes
	grep -Eo '`[^` ]+`|\]\([^)]+\)' "$1" | tr -d '`]()' |
	    grep -E '^([a-zA-Z0-9_.-]+/)+[a-zA-Z0-9_.-]*$|^[a-zA-Z0-9_-]+\.(md|conf)$|^Makefile$' |
	    sort -u
}

echo 1..6
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

count=2
for doc in README.md CONTRIBUTING.md SECURITY.md CHANGELOG.md; do
	count=$((count + 1))
	missing=$(named "$top/$doc" | while read -r file; do
		[ -e "$top/$file" ] ||
			[ "${file#build/}" != "$file" ] || echo "$file"
	done)
	if [ -r "$top/$doc" ] && [ -z "$missing" ]; then
		echo "ok $count - $doc names files that are there"
	else
		echo "not ok $count - $doc names files that are there"
		echo "$missing" | sed 's/^/# not there: /'
	fi
done
