#!/bin/sh
# Every fuzz target for some seconds, two at a time, beside the other tests
# and with what they leave of the processors: what the corpora hold must do no
# harm, nor what is found beyond.  `make fuzz` looks longer.
FUZZ_IDLE=1 FUZZ_LIMIT=300 exec "$(dirname "$0")/run.sh" \
    "${DL_BUILD:-build}/fuzz" "${DL_FUZZ_SECONDS:-30}" 2
