# SPDX-License-Identifier: ISC
"""Functions to stop at: each is called six times, with the same number."""
total = [0]


def a1(i):
    total[0] += i  # in a1


def b2(i):
    total[0] += 2 * i  # in b2


def c3(i):
    total[0] += 3 * i  # in c3


def d4(i):
    total[0] += 4 * i  # in d4


def e5(i):
    total[0] += 5 * i  # in e5


for n in range(6):
    a1(n)
    b2(n)
    c3(n)
    d4(n)
    e5(n)
print(total[0])
