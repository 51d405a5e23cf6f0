#!/bin/sh
# SPDX-License-Identifier: ISC
# Everything that a reviewer can have made for them, in one report, which goes to
# standard output; how far it is goes to standard error.  As root; a few minutes
# and, with the coverage, a quarter of an hour.
#
# usage: evidence.sh BUILD_DIRECTORY	made by `make evidence`
#
# DL_PARTS	the parts wanted, instead of all: messages filters rights calls
#		binaries units sbom fuzz coverage
# DL_DRIVE	what the daemon is driven by to see which calls it makes
set -u

build=$1
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
cd "$top" || exit 1
parts=${DL_PARTS:-messages filters rights calls binaries units sbom fuzz coverage}
work=$build/evidence
mkdir -p "$work"
DL_BUILD=$build
DL_BIN=$build/bin
DL_LIBEXEC=$build/libexec/debuglantern
DL_HELPERS=$build/regress/helpers
export DL_BUILD DL_BIN DL_LIBEXEC DL_HELPERS
filters=$DL_HELPERS/filters
bad=0

# $1: title
part() {
	echo "evidence: $1" >&2
	printf '\n## %s\n\n' "$1"
}

fenced() {
	echo '```'
	cat
	echo '```'
}

# $1: what; the rest: a test file, with what it said
test_says() {
	what=$1
	shift
	if DL_ONCE=1 DL_JOBS=1 DL_TESTS="$*" DL_LOG=$work/log \
	    regress/run.sh "$build" >"$work/said" 2>&1; then
		echo "$what: **holds** ($(tail -1 "$work/said"))"
	else
		echo "$what: **does not hold**"
		bad=1
		tail -60 "$work/said" | fenced
	fi
	echo
}

of_messages() {
	part 'Messages, by boundary'
	test_says 'docs/MESSAGES.md is what the binaries use' regress/e2e/docs.t
	# of the document, what is below its title
	"$DL_HELPERS/msgtable" | sed -e 1d -e 's/^## /### /'
}

of_filters() {
	part 'System call filters'
	test_says "Filters are those of regress/filters/, and the kernel's verdict on every number is the table's" \
	    regress/e2e/filters.t
	echo '| filter | differs from the one kept | every number tried |'
	echo '|---|---|---|'
	for name in $("$filters"); do
		n=$("$filters" pfc "$name" |
		    diff "regress/filters/$name.pfc" - | grep -c '^[<>]')
		echo "| $name | $n lines | $("$filters" try "$name" | tail -1) |"
	done
	for name in $("$filters"); do
		printf '\n### %s\n\n' "$name"
		"$filters" pfc "$name" | fenced
	done
}

of_rights() {
	part 'What the kernel says of each process'
	test_says 'Every process has the rights that are kept in regress/audit/' \
	    regress/e2e/audit.t
	for mode in system user; do
		printf '### In %s mode\n\n' "$mode"
		fenced <"regress/audit/$mode.txt"
		echo
	done
}

# $1: a filter; $2: the name of its process
unused() {
	"$filters" calls "$1" | sort -u >"$work/allowed"
	grep "^$2 " "$work/seen" | cut -d ' ' -f 2 | sort -u >"$work/used"
	echo "| $1 | $(wc -l <"$work/allowed") | $(comm -23 "$work/allowed" \
	    "$work/used" | tr '\n' ' ') |"
}

of_calls() {
	part 'Calls that are allowed and were not made'
	cat <<'EOF'
By the kernel's tracing of system calls, while the tests that are named below
ran, in both modes. What was made before a filter was loaded counts as well. A
call that stands here is for what is rare: a reload, a host with another
libc, an error on its way, a restart.

EOF
	part_of_suite='regress/e2e/lifecycle.t regress/e2e/bundle.t
regress/e2e/sysroot.t regress/e2e/debug.t regress/e2e/keys.t
regress/e2e/token.t regress/e2e/tls.t regress/e2e/terminal.t
regress/e2e/dap_daemon.t regress/e2e/tracer_role.t
regress/e2e/trace_store.t regress/e2e/supervise.t regress/e2e/discovery.t
regress/e2e/quota.t regress/e2e/http.t'
	drive=${DL_DRIVE:-$part_of_suite}
	echo "$drive" | fenced
	roles='acctproc announcer debugger idproc logger netproc spawner symbols tlsproc tracer'
	# all that was tried counts, so a second run does no harm
	if DL_TESTS=$drive "$here/calls.py" \
	    "$(echo "$roles" archiver debuglanternd | tr ' ' ,)" \
	    regress/run.sh "$build" \
	    >"$work/numbers" 2>"$work/said"; then
		tail -2 "$work/said" | fenced
	else
		bad=1
		tail -60 "$work/said" | fenced
	fi
	"$filters" names <"$work/numbers" >"$work/seen"
	echo
	echo '| filter | calls | of these never made |'
	echo '|---|---:|---|'
	for role in $roles; do
		unused "$role" "$role"
	done
	unused archiver-pack archiver
	unused archiver-unpack archiver
	unused parent-system debuglanternd
}

of_binaries() {
	part 'Hardening of the binaries'
	test_says 'Every program is built as it should be' \
	    regress/e2e/hardening.t
	grep -E '^ok .* - .*PIE' "$work/log" | sed 's/^ok [0-9]* - /- /'
}

of_units() {
	part 'Units'
	test_says 'Every step that is left open has its reason' \
	    regress/e2e/units.t
	for unit in debuglantern debuglantern-user; do
		printf '### %s\n\n' "$unit"
		sed -e 's,@BINDIR@,/usr/bin,g' -e 's,@SYSCONFDIR@,/etc,g' \
		    "etc/systemd/$unit.service.in" >"$work/$unit.service"
		systemd-analyze security --offline=true --no-pager \
		    "$work/$unit.service" | fenced
		echo
	done
	printf '### debuglantern with closed.conf\n\n'
	mkdir "$work/debuglantern.service.d"
	cp etc/systemd/closed.conf "$work/debuglantern.service.d"
	systemd-analyze security --offline=true --no-pager \
	    "$work/debuglantern.service" | fenced
}

of_sbom() {
	part 'What the programs are made of'
	test_says 'The list is SPDX and complete' regress/e2e/sbom.t
	etc/sbom.py "$(sed -n 's/^VERSION := *//p' Makefile)" "$DL_BIN" \
	    "$DL_LIBEXEC" | fenced
}

of_fuzz() {
	part 'Fuzzing'
	# shellcheck disable=SC2016	# these are backquotes
	echo 'Seconds are those of `make fuzz` in this build directory.'
	echo
	regress/fuzz/sizes.sh "$build/fuzz" | awk -F '\t' '
	    { for (i = 1; i <= NF; i++) printf "| %s ", $i; print "|" }
	    NR == 1 { print "|---|---:|---:|---:|---:|---:|" }
	    { inputs += $2; seconds += $6 }
	    END { printf "\n%d inputs, %.1f hours\n\n", inputs, seconds / 3600 }'
	# these go stale when what they are inputs for changes
	if make --no-print-directory O="$build" fuzz-coverage \
	    >"$work/reached" 2>"$work/said"; then
		echo 'The inputs reach 90 % of each parser: **holds**'
	else
		echo 'The inputs reach 90 % of each parser: **does not hold**'
		bad=1
		tail -40 "$work/said"
	fi
	echo
	grep ' %  ' "$work/reached" | fenced
}

of_coverage() {
	part 'Coverage'
	if make --no-print-directory O="$build" coverage \
	    >"$work/coverage" 2>"$work/said"; then
		sed -n '/ passed, /,$p' "$work/coverage"
	else
		bad=1
		tail -40 "$work/said" | fenced
	fi
}

echo '# debuglantern: evidence'
echo
echo "Made by \`make evidence\` on $(uname -srm), $(sed -n \
    's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release), of $(git describe \
    --always --dirty 2>/dev/null || echo 'a tree without history')."
echo
echo 'What each part is for: docs/THREATS.md; how much hangs on each file:'
echo 'docs/AUDIT.md.'
for p in $parts; do
	case $p in
	messages)	of_messages ;;
	filters)	of_filters ;;
	rights)		of_rights ;;
	calls)		of_calls ;;
	binaries)	of_binaries ;;
	units)		of_units ;;
	sbom)		of_sbom ;;
	fuzz)		of_fuzz ;;
	coverage)	of_coverage ;;
	*)		echo "no such part: $p" >&2; exit 2 ;;
	esac
done
exit $bad
