#!/bin/sh
# The sources as several analyzers see them: nothing may be found but what the
# lists beside this name with a reason.  usage: check.sh BUILD_DIRECTORY
#
# DL_STATIC	what to run instead of all: gcc tidy cppcheck shell man spell plain
#		subjects wings tcb
set -eu

work=$1/static
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."
mkdir -p "$work"
bad=0
# a version is a string, and nobody prints this one
flags='-std=gnu11 -D_GNU_SOURCE -DDL_VERSION=__FILE__ -Icommon -I.'

# Without dispatch.c, which is compiled once for each role, with its name.
sources() {
	git ls-files '*.c' | grep -v -e '^regress/' -e '^common/wire/dispatch.c$'
}

# $1: what; $2: a file that holds what was found
verdict() {
	if [ -s "$2" ]; then
		echo "not ok - $1"
		sed 's/^/# /' "$2"
		bad=1
	else
		echo "ok - $1"
	fi
}

# File and kind of each finding; then what is in one of the lists alone.
run_gcc() {
	# shellcheck disable=SC2086	# a list of words
	sources | xargs -P "$(nproc)" -n 1 gcc $flags -O0 -fanalyzer \
	    -Wno-analyzer-malloc-leak -fdiagnostics-plain-output -c \
	    -o /dev/null 2>"$work/gcc.log" || :
	sed -n 's,^\([^:]*\):.*warning:.*\[-Wanalyzer-\(.*\)\]$,\1	\2,p
	    /error:/p' "$work/gcc.log" | sort -u >"$work/gcc.found"
	grep -v '^#' "$here/analyzer.txt" | cut -f 1,2 | sort -u \
	    >"$work/gcc.known"
	comm -3 "$work/gcc.found" "$work/gcc.known" >"$work/gcc.differs"
	verdict 'gcc -fanalyzer finds what analyzer.txt explains, no less' \
	    "$work/gcc.differs"
}

# The chosen checks are in .clang-tidy; headers are seen by way of sources.
run_tidy() {
	# shellcheck disable=SC2016	# they are the inner shell's
	sources | flags=$flags xargs -P "$(nproc)" -n 1 sh -c \
	    'clang-tidy --quiet "$0" -- $flags 2>/dev/null ||
		echo "$0: clang-tidy failed"' >"$work/tidy.log" || :
	verdict 'clang-tidy finds nothing' "$work/tidy.log"
}

# Scripts by their first line, whatever their names end in.
run_shell() {
	git grep -lI -e '^#!/bin/sh' -e '^#!/bin/bash' \
	    -e '^#!/usr/bin/env bash' -- ':!*.md' ':!*corpus*' | xargs shellcheck \
	    >"$work/shell.log" 2>&1 || :
	verdict 'shellcheck finds nothing' "$work/shell.log"
}

run_man() {
	mandoc -T lint -W warning man/*.[1-9] >"$work/man.log" 2>&1 || :
	verdict 'mandoc finds nothing' "$work/man.log"
}

run_cppcheck() {
	sources | cppcheck -q --file-list=- --std=c11 \
	    --enable=warning,performance,portability \
	    --template='{file}:{line}: {message} [{id}]' \
	    --suppressions-list="$here/cppcheck.txt" \
	    --include="$here/cppcheck.h" -Icommon -I. -D_GNU_SOURCE \
	    -D__x86_64__=1 -D__SIZEOF_POINTER__=8 -DDL_VERSION='"0"' \
	    >"$work/cppcheck.log" 2>&1 || :
	verdict 'cppcheck finds nothing that cppcheck.txt does not explain' \
	    "$work/cppcheck.log"
}

run_spell() {
	git ls-files | grep -v -e '/package-lock.json$' -e '^regress/.*corpus' |
	    xargs codespell -L "$(grep -v '^#' "$here/words.txt" | paste -sd,)" \
	    >"$work/spell.log" 2>&1 || :
	verdict 'codespell finds nothing' "$work/spell.log"
}

run_plain() {
	git ls-files '*.[chyS]' '*.def' '*.md' 'man/*.[1-9]' '*.t' '*.py' '*.sh' \
	    '*.js' '*.mjs' etc debian Makefile '*.mk' |
	    grep -v -e '/static/plain.py$' -e '/static/subjects.py$' \
	    -e '/e2e/static.t$' | xargs "$here/plain.py" >"$work/plain.log" \
	    2>&1 || :
	verdict 'sentences begin with their subject' "$work/plain.log"
}

run_subjects() {
	git log --no-merges --format='%at %h %s' | "$here/subjects.py" \
	    >"$work/subjects.log" 2>&1 || :
	verdict 'subjects of commits are short and imperative' \
	    "$work/subjects.log"
}

run_wings() {
	"$here/wings.py" "$1" >"$work/wings.log" 2>&1 || :
	verdict 'directories use each other as wings.txt allows' \
	    "$work/wings.log"
}

run_tcb() {
	"$here/tcb.py" "$1" >"$work/tcb.log" 2>&1 || :
	verdict 'docs/TCB.md has what runs with privilege' "$work/tcb.log"
}

for tool in ${DL_STATIC:-gcc tidy cppcheck shell man spell plain subjects wings \
    tcb}; do
	case $tool in
	gcc) run_gcc ;;
	tidy) run_tidy ;;
	shell) run_shell ;;
	man) run_man ;;
	cppcheck) run_cppcheck ;;
	spell) run_spell ;;
	plain) run_plain ;;
	subjects) run_subjects ;;
	wings) run_wings "$1" ;;
	tcb) run_tcb "$1" ;;
	*) echo "no such tool: $tool" >&2; exit 2 ;;
	esac
done
exit $bad
