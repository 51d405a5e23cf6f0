#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Logging in to the page and out of it."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "lib"))
from web import browse, run_tests  # noqa: E402

run_tests(browse("login.mjs", others=True))
