# SPDX-License-Identifier: ISC
# Shared by the parts of `make field`: options, exceptions, the table.
import argparse
import os
import random
import signal
import sys

# all that there is instead of a random choice
ALL = os.environ.get("FIELD_ALL") == "1"
HERE = os.path.dirname(os.path.abspath(__file__))
# nohup and shells in the background ignore these; no session does
for sig in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(sig) == signal.SIG_IGN:
        signal.signal(sig, signal.SIG_DFL)


def arguments(**more):
    parser = argparse.ArgumentParser()
    parser.add_argument("build", help="the build directory")
    parser.add_argument("--sample", action="store_true",
                        help="a few cases, always the same ones")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="cases with this word")
    for name, default in more.items():
        parser.add_argument("--" + name, type=type(default), default=default)
    return parser.parse_args()


def chosen(args, jobs):
    """args.count of the jobs by the seed; those of corpus/ are always among
    them.  A job is (name, path, ...)."""
    if ALL or len(jobs) <= args.count:
        return jobs
    ours = [j for j in jobs if "/corpus/" in j[1]]
    others = [j for j in jobs if "/corpus/" not in j[1]]
    return ours + random.Random(args.seed).sample(
        others, max(0, min(len(others), args.count - len(ours))))


class Part:
    """The cases of one part.  NAME.except has a line for each case that may
    differ: its name, a colon, the reason."""

    def __init__(self, name):
        self.name = name
        self.same = self.excepted = self.differ = 0
        self.reasons = {}
        path = os.path.join(HERE, name + ".except")
        if os.path.exists(path):
            with open(path) as f:
                for line in f:
                    if line.strip() and not line.startswith("#"):
                        case, reason = line.strip().split(": ", 1)
                        self.reasons[case] = reason

    def case(self, name, differences):
        """Counts a case; differences are lines, none if all is the same."""
        if not differences:
            self.same += 1
        elif name in self.reasons:
            self.excepted += 1
            print("%-28s excepted: %s" % (name, self.reasons[name]))
        else:
            self.differ += 1
            print("%-28s DIFFERS" % name)
            for line in differences[:8]:
                print("    " + line)
        sys.stdout.flush()

    def end(self):
        """Prints the ratio that run.sh reads, and exits."""
        print("%s: %d same of %d, %d excepted" % (
            self.name, self.same, self.same + self.differ, self.excepted))
        sys.exit(1 if self.differ or not self.same else 0)
