#!/bin/sh
# Every fuzz target for some seconds: finds what a change broke at once, and
# that the targets still work.  `make fuzz` looks longer.
exec "$(dirname "$0")/run.sh" "${DL_BUILD:-build}/fuzz" "${DL_FUZZ_SECONDS:-10}"
