#!/bin/sh
# SPDX-License-Identifier: ISC
# What memcheck.py must see it sees, and no more: run by make check-valgrind,
# as all else is worth nothing without it.
set -u

here=$(dirname "$0")
faulty=$DL_BUILD/regress/memcheck_faulty
memory='memcheck finds nothing'
fds='no descriptor is left open'
n=0
echo 1..9

# $1: name; the rest: a command that is true
ok() {
	n=$((n + 1))
	name=$1
	shift
	if "$@"; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		echo "$said" | sed 's/^/# /'
	fi
}

# $1: fault; $2, $3: what is said of memory and of descriptors; $4: how it ends
says() {
	said=$(FAULT=$1 "$here/memcheck.py" "$faulty" 2>&1)
	code=$?
	[ "$code" -eq "$4" ] && echo "$said" | grep -qx '1\.\.3' &&
	    echo "$said" | grep -qx "$2 2 - $memory" &&
	    echo "$said" | grep -qx "$3 3 - $fds"
}

# $1: names; how it ends
leaves_out() {
	said=$(FAULT=nothing MEMCHECK_SKIP=$1 \
	    LD_PRELOAD=$DL_BUILD/regress/memcheck.so "$faulty" 2>&1)
}

leaves_out_one() {
	leaves_out faulty && echo "$said" | grep -q '# SKIP'
}

refuses_another() {
	! leaves_out 'faulty gone' && echo "$said" | grep -q 'the name gone$'
}

ok 'nothing is wrong' says nothing ok ok 0
ok 'a byte beyond its memory' says reads_beyond 'not ok' ok 1
ok 'a value that nobody has set' says unset_value 'not ok' ok 1
ok 'memory that is lost' says lost 'not ok' ok 1
ok 'a descriptor that is left open' says left_open ok 'not ok' 1
ok 'memory of a child, but not its descriptors' says in_a_child 'not ok' ok 1
ok 'nobody waits for a process that is left behind' says left_behind ok ok 0
ok 'a test that is named is left out' leaves_out_one
ok 'a name that no test has is refused' refuses_another
