# SPDX-License-Identifier: ISC
"""Variables of Python; it prints them when it goes on."""
g = 10


class Thing:
    __slots__ = ("x",)


def f(a):
    s = "old"
    items = [1, 2, 3]
    d = {"k": 1}
    o = Thing()
    o.x = 1
    pair = (1, 2)
    none = None
    a += 0  # the stop
    print(a, s, items, d, o.x, pair, g, none)


f(1)
