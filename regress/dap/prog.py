# SPDX-License-Identifier: ISC
"""A program to be debugged; its first argument says how it goes on."""
import os
import sys
import time


def square(x):
    y = x * x
    return y


def run(what):
    if what == "read":
        print("got", input())
    elif what == "abort":
        raise ValueError("boom")
    elif what == "env":
        print("A=" + os.environ.get("A", ""))
    while what == "loop":
        time.sleep(0.001)


def main():
    total = 0
    for i in range(3):
        total += square(i)
        print(f"i={i} sum={total}", flush=True)
    print("to stderr", file=sys.stderr, flush=True)
    if len(sys.argv) > 1:
        run(sys.argv[1])
    sys.exit(3)


main()
