#!/bin/sh
# Every fuzz target for some seconds, two at a time, beside the other tests
# and with what they leave of the processors: what the corpora hold must do no
# harm, nor what is found beyond, which is the same each time: a test answers
# for the change before it.  `make fuzz` looks longer, and elsewhere.
FUZZ_IDLE=1 FUZZ_SEED=1 FUZZ_LIMIT=300 exec "$(dirname "$0")/run.sh" \
    "${DL_BUILD:-build}/fuzz" "${DL_FUZZ_SECONDS:-30}" 2
