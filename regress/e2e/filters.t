#!/bin/sh
# SPDX-License-Identifier: ISC
# Each process's system call filter: what libseccomp makes of its table is
# what was looked at last, and the kernel judges every number as it says.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
filters=${DL_HELPERS:-$top/build/regress/helpers}/filters
count=0

# $1: what; the rest: a command that must succeed
must() {
	what=$1
	shift
	count=$((count + 1))
	if out=$("$@" 2>&1); then
		echo "ok $count - $what"
	else
		echo "not ok $count - $what"
		echo "$out" | tail -40 | sed 's/^/# /'
	fi
}

golden() {
	"$filters" pfc "$1" | diff -u "$top/regress/filters/$1.pfc" -
}

tries() {
	out=$("$filters" try "$1") || { echo "$out"; return 1; }
	echo "$out" | grep -q '; 0 not as'
}

differs() {
	! "$filters" try symbols tracer >/dev/null 2>&1
}

# Numbers that were not asked in the way that programs ask are all killed.
many_pass() {
	for name in launcher session; do
		# the numbers of 32-bit programs as well, where there are any
		"$filters" try "$name" | sed -n \
		    's/^\([0-9]*\) tried: \([0-9]*\) allowed.*/\1 \2/p' | {
			read -r tried allowed
			[ "${tried:-0}" -gt 1000 ] &&
			    [ "$allowed" -gt $((tried * 2 / 5)) ] ||
				echo "$name: only $allowed of $tried"
		} | grep . && return 1
	done
	return 0
}

names() {
	{ "$filters"; for f in "$top"/regress/filters/*.pfc; do
		basename "$f" .pfc
	done; } | sort | uniq -u | diff /dev/null -
}

for name in $("$filters"); do
	must "$name: the filter is the one that is kept ('make filters')" \
	    golden "$name"
	must "$name: the kernel does with every number what the table says" \
	    tries "$name"
done
must 'the test tells one filter from another' differs
must 'where most is allowed many were tried and passed' many_pass
must 'each filter is kept, and nothing else' names
echo "1..$count"
