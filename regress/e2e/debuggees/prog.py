# SPDX-License-Identifier: ISC
import os
import sys
import time


class Point:
    def __init__(self, x, y):
        self.x = x
        self.y = y


def calculate(i):
    doubled = i * 2
    return doubled


def sum_up(n):
    total = 0
    for i in range(n):
        total += calculate(i)
    return total


def main():
    p = Point(3, 4)
    total = sum_up(10)
    print("total", total, p.x, flush=True)
    print("to stderr", file=sys.stderr)
    if "--where" in sys.argv:
        print("at", os.getcwd(), os.environ.get("DL_ROW"), flush=True)
    line = sys.stdin.readline()
    print("read", line.strip(), flush=True)
    while line.startswith("spin"):
        time.sleep(0.01)
    sys.exit(3)


main()
