# SPDX-License-Identifier: ISC
"""A program to be looked at."""
import sys

counter = 0


class Inner:
    def __init__(self, a, s):
        self.a = a
        self.s = s


def add(a, b, *more, **named):
    global counter
    total = a + b
    counter += total  # in add
    return total


def caught(kind):
    try:
        raise kind("caught")  # a throw
    except Exception:
        return kind


def main():
    o = Inner(1, "hello")
    numbers = list(range(300))
    names = {"one": 1, "two": 2}
    total = 0
    for i in range(10):
        total = add(total, i)  # the loop
        numbers[i] = total
    print("total", total, o.a, names["one"])
    caught(KeyError)
    caught(ValueError)
    if len(sys.argv) > 1:
        raise RuntimeError("boom")  # the panic


main()
