#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The page about the host."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "lib"))
from web import browse, run_tests  # noqa: E402

run_tests(browse("host.mjs"), browse("admin.mjs", admin=True))
