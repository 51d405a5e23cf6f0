#!/bin/sh
# Prints the sources that a test names in a line of its own:
#
#   /* links: spawner/ !spawner/main.c spawner/dispatch.o -Wl,--wrap=loop_add */
#
# A directory stands for all of its sources, that of a role for those below it,
# too; a pattern after ! leaves some out.
# Objects (.o) that have no source of their name and words for the linker (-)
# are printed as they are.  usage: regress/links.sh FILE
set -euf

words=$(sed -n 's,^/\* links: \(.*\) \*/$,\1,p' "$1")

is_left_out() {
	for w in $words; do
		case $w in
		!*)	;;
		*)	continue ;;
		esac
		# shellcheck disable=SC2254 # it is a pattern
		case $1 in
		${w#!})	return 0 ;;
		esac
	done
	return 1
}

for w in $words; do
	case $w in
	!*)	continue ;;
	*/*/)	set +f
		set -- "$w"*.c
		set -f ;;
	*/)	set +f
		set -- "$w"*.c "$w"*/*.c
		set -f ;;
	*)	set -- "$w" ;;
	esac
	for f; do
		# no directory is below
		[ "$f" != "$w*/*.c" ] || continue
		is_left_out "$f" || printf '%s ' "$f"
	done
done
