#!/bin/sh
# Runs a command in the environment that tests have: programs and helpers in a
# directory that every user can reach, service users, a clean environment.
# usage: regress/env.sh BUILD_DIRECTORY COMMAND [ARGUMENT ...]
#
# regress/run.sh runs in it, and a test that is started by hand.
set -u

top=$(cd "$(dirname "$0")/.." && pwd)
case $1 in
/*)	build=$1 ;;
*)	build=$PWD/$1 ;;
esac
shift
for dir in bin libexec regress/helpers; do
	[ -d "$build/$dir" ] || {
		echo "tests need $build/$dir; build it: make -C $top" \
		    "O=$build -j$(nproc) all test-bins" >&2
		exit 1
	}
done
[ "$(id -u)" -ne 0 ] || "$top/etc/service-users.sh" || exit 1
umask 022
# sockets, memory and processes of many sessions are each a descriptor
# shellcheck disable=SC3045 # every sh of Debian has it
files=$(ulimit -n)
# shellcheck disable=SC3045
if [ "$files" != unlimited ] && [ "$files" -lt 1024 ] &&
    ! { ulimit -S -n 1024 || ulimit -n 1024; } 2>/dev/null; then
	echo "at most $files files may be open, and tests need 1024: raise" \
	    "the hard limit (ulimit -Hn 1024, as root)" >&2
	exit 1
fi

# the same for everybody: what else a shell has may change what programs do
for name in $(env | sed -n 's/^\([A-Za-z_][A-Za-z_0-9]*\)=.*/\1/p'); do
	case $name in
	PATH | HOME | TERM | TMPDIR | CI | MUST_WORK | DL_*) ;;
	*) unset "$name" ;;
	esac
done
LC_ALL=C.UTF-8
TERM=${TERM:-dumb}
export LC_ALL TERM

# Whether any user can run a program below $1.
runs_programs() {
	probe=$(mktemp -d "$1/dl-probe-XXXXXX" 2>/dev/null) || return 1
	as=
	[ "$(id -u)" -ne 0 ] ||
		as='setpriv --reuid 65534 --regid 65534 --clear-groups'
	chmod 755 "$probe" && cp /bin/true "$probe" &&
	    (cd / && $as "$probe/true") 2>/dev/null
	code=$?
	rm -rf "$probe"
	return $code
}

# Prints the first directory for files of tests; sockets have short names.
find_tmpdir() {
	for dir in ${TMPDIR:+"$TMPDIR"} /tmp /var/tmp "$build" /dev/shm; do
		[ ${#dir} -gt 50 ] || ! runs_programs "$dir" || {
			echo "$dir"
			return
		}
		tried="${tried:-}${tried:+, }$dir"
	done
	echo "no directory is left in which every user can run programs (tried:" \
	    "$tried); set TMPDIR to one with a name of at most 50 bytes" >&2
	return 1
}

wanted=${TMPDIR:-/tmp}
TMPDIR=$(find_tmpdir) || exit 1
export TMPDIR
[ "$TMPDIR" = "$wanted" ] ||
	echo "# not every user can run programs in $wanted: TMPDIR is $TMPDIR"

# a copy that every user can reach, wherever the tree stands
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
trap "exit 1" INT TERM
chmod 755 "$stage"
# a name without spaces, for lists of files
ln -s "$build" "$stage/build" || exit 1
build=$stage/build
# the package's, which every user can run, whatever other one is in PATH
mkdir "$stage/python" && ln -s /usr/bin/python3 "$stage/python" || exit 1
PATH=$stage/python:$PATH
export PATH
cp -r "$build/bin" "$build/libexec" "$build/regress/helpers" "$stage" ||
    exit 1
# it was built under any umask
chmod -R a+rX "$stage"

DL_BUILD=$build
DL_BIN=$stage/bin
DL_LIBEXEC=$stage/libexec/debuglantern
DL_HELPERS=$stage/helpers
CMOCKA_MESSAGE_OUTPUT=TAP
PYTHONDONTWRITEBYTECODE=1
DL_SANITIZED=0
! grep -q __asan_init "$build/bin/debuglanternd" || DL_SANITIZED=1
export DL_SANITIZED DL_BUILD DL_BIN DL_LIBEXEC DL_HELPERS \
    CMOCKA_MESSAGE_OUTPUT PYTHONDONTWRITEBYTECODE

# Programs inherit signals that are ignored, and a shell cannot change that.
[ -e /dev/fd/0 ] || exec </dev/null
exec 3<&0
env --default-signal "$@" <&3 3<&- &
child=$!
trap 'kill "$child" 2>/dev/null' INT TERM
wait "$child"
code=$?
# a signal ends the first wait; the command may have to clean up
wait "$child" 2>/dev/null
exit $code
