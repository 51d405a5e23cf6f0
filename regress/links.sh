#!/bin/sh
# Prints the sources that a test names in a line of its own:
#
#   /* links: spawner/ !spawner/main.c common/proto.c */
#
# A directory stands for all of its sources; what follows a ! is a pattern of
# those that are left out.  usage: regress/links.sh FILE
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
	*/)	set +f
		set -- "$w"*.c
		set -f ;;
	*)	set -- "$w" ;;
	esac
	for f; do
		is_left_out "$f" || printf '%s ' "$f"
	done
done
