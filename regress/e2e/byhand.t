#!/bin/sh
# SPDX-License-Identifier: ISC
# A test that is started by hand has the environment of regress/run.sh; what is
# not built is named, with the command that builds it.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
build=${DL_BUILD:-$top/build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
count=0

# $1: what; $2: a pattern that must be in $work/said
says() {
	count=$((count + 1))
	if grep -q "$2" "$work/said"; then
		echo "ok $count - $1"
	else
		echo "not ok $count - $1"
		sed 's/^/# /' "$work/said"
	fi
}

# $1: a build directory.  From a directory that has none, with PATH alone.
by_hand() {
	(cd "$work" && env -i PATH="$PATH" DL_BUILD="$1" ./tiny.t) \
	    >"$work/said" 2>&1
}

cat >"$work/tiny.t" <<END
#!/usr/bin/env python3
import os
import sys
sys.path.insert(0, "$top/regress/e2e/lib")
END
cat >>"$work/tiny.t" <<'END'
from dl import BIN, HELPERS, helper, ok, run_tests


def environment():
    ok(os.access(os.path.join(BIN, "debuglanternd"), os.X_OK), "a daemon")
    ok(os.path.isabs(HELPERS), "helpers, wherever it was started")
    ok(os.environ["LC_ALL"] == "C.UTF-8", "the locale of all tests")
    helper("no_such_helper")


run_tests(environment)
END
chmod 755 "$work/tiny.t"

by_hand "$build"
says 'the daemon is found' '^ok 1 - a daemon'
says 'helpers are found' '^ok 2 - helpers'
says 'the environment is that of all tests' '^ok 3 - the locale'
says 'a missing helper is named' 'no helper no_such_helper .*: make test-bins'

mkdir -p "$work/empty/bin" "$work/empty/libexec"
by_hand "$work/empty"
says 'what is not built is named' "tests need $work/empty/regress/helpers"
says 'with the command that builds it' "make -C $top O=$work/empty .*test-bins"
echo "1..$count"
