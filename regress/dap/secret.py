# SPDX-License-Identifier: ISC
"""Values that are nowhere in its source, and an exception that tells one."""
total = 0


def work(code, word):
    twice = code * 2
    print("its own output", flush=True)
    late = twice  # the stop
    if code > 5 * 19753 + 1:
        raise ValueError(word)
    return late


for i in range(9):
    total += work(5 * 19753 + i, "s3" + "cret")
