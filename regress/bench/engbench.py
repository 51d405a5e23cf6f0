# SPDX-License-Identifier: ISC
"""What a traced call costs: the engine's harness beside uftrace, on one
program, in turns."""
import json
import os
import statistics
import subprocess
import tempfile

FUNCTIONS = 4000
BURSTS, CALLS = 30, 10000
# the first fill the ring, whose memory comes with its first use
WARM = 8
PROBES = ("probe 1 integers enter=r5:4,r4:4 leave=r0:4{}",
          "probe 2 string enter=s5:1024 leave=r0:4{}")


def burst(lines):
    """The median of bursts, in nanoseconds per call."""
    values = [float(x) for x in lines if x[:1].isdigit()]
    return statistics.median(values[WARM:])


class Bench:
    def __init__(self, tools, harness, where):
        self.tools = tools
        self.harness = harness
        self.where = where
        self.program = os.path.join(tools, "traced")

    def plain(self, how):
        r = subprocess.run([self.program, how, str(BURSTS), str(CALLS)],
                           stdout=subprocess.PIPE, check=True, text=True)
        return burst(r.stdout.splitlines())

    def drive(self, program, args, *commands):
        """What the program says on stderr or stdout, and the harness's."""
        r = subprocess.run([self.harness, "--", program, *args],
                           input="\n".join(commands) + "\n", text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           timeout=300, check=True)
        return r.stderr.splitlines(), [json.loads(x) for x in
                                       r.stdout.splitlines()
                                       if x.startswith("{")]

    def ours(self, how, budget=""):
        out, events = self.drive(
            self.program, (how, str(BURSTS), str(CALLS)), "quiet 1",
            *(p.format(budget) for p in PROBES), "go", "wait 1500", "stats",
            "quit")
        s = next(e for e in events if e["ev"] == "stats")
        if not budget and (s["calls"], s["enter"]) != (0, BURSTS * CALLS):
            raise RuntimeError(f"records are missing: {s}")
        return burst(out)

    def uftrace(self, how):
        data = os.path.join(self.where, "uftrace")
        r = subprocess.run(
            ["uftrace", "record", "-d", data, "-P", "integers", "-P",
             "string", "-A", "integers@arg1/i32,arg2/i32", "-R",
             "integers@retval/i32", "-A", "string@arg1/s", "-R",
             "string@retval/i32", self.program, how, str(BURSTS),
             str(CALLS)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            check=True, text=True)
        return burst(r.stdout.splitlines())

    def why_no_uftrace(self):
        """None where it runs; it does not know every kernel and libc."""
        try:
            self.uftrace("int")
        except OSError as e:
            return f"uftrace: {e.strerror}"
        except subprocess.CalledProcessError as e:
            last = (e.stderr or e.stdout).strip().split("\n")[-1]
            return f"uftrace does not run here: {last or e.returncode}"
        except statistics.StatisticsError:
            return "uftrace does not run here: the program said nothing"
        return None

    def many(self):
        source = os.path.join(self.where, "many.c")
        program = os.path.join(self.where, "many")
        with open(source, "w") as f:
            for i in range(FUNCTIONS):
                f.write(f"int many{i}(int a, int b) {{ return a * {i + 3} + "
                        f"b * b + {i}; }}\n")
            f.write("#include <unistd.h>\nint main(void) { for (;;) "
                    "usleep(1000); }\n")
        subprocess.run(["gcc", "-O1", "-o", program, source], check=True)
        return program

    def stop_ms(self, program, rounds):
        on, off = [], []
        for _ in range(rounds):
            _, events = self.drive(
                program, (), "quiet 1", "go", "wait 50",
                "probeall 1 prefix=many", f"unprobeall 1 {FUNCTIONS}",
                "quit")
            e = {x["ev"]: x for x in events}
            if e["probeall"]["on"] != FUNCTIONS:
                raise RuntimeError(f"{e['probeall']}")
            on.append(e["probeall"]["stop"] / 1e6)
            off.append(e["unprobe"]["stop"] / 1e6)
        return statistics.median(on), statistics.median(off)

    def reader(self):
        r = subprocess.run([os.path.join(self.tools, "ringspeed")],
                           stdout=subprocess.PIPE, check=True, text=True)
        return statistics.median(float(x) for x in r.stdout.split())


def calls(table, b, rounds):
    why_not = b.why_no_uftrace()
    for how, most in (("int", 100), ("string", 800)):
        plain, ours, limited, other = [], [], [], []
        for _ in range(rounds):
            plain.append(b.plain(how))
            ours.append(b.ours(how))
            if why_not is None:
                other.append(b.uftrace(how))
            limited.append(b.ours(how, " budget=100000000"))
        what = {"int": "entry, two integers, return, an integer",
                "string": "entry, a string of 16 bytes, return"}[how]
        extra = statistics.median(ours) - statistics.median(plain)
        table.value(f"traced call: {what}", extra, "ns", most=most)
        if why_not is None:
            beside = statistics.median(other) - statistics.median(plain)
            table.ratio("  beside uftrace -P", extra, beside, "ns",
                        most=0.5 if how == "int" else None)
        else:
            table.skip("  beside uftrace -P", why_not)
        table.value("  with a budget that is not used up",
                    statistics.median(limited) - statistics.median(plain),
                    "ns")


def figure(table, tools, harness, quick):
    rounds = 1 if quick else 5
    with tempfile.TemporaryDirectory(prefix="dl-bench-") as where:
        b = Bench(tools, harness, where)
        calls(table, b, rounds)
        on, off = b.stop_ms(b.many(), rounds)
        table.value(f"{FUNCTIONS} functions on: the program stands for", on,
                    "ms", most=20, digits=2)
        table.value("  and off", off, "ms", most=20, digits=2)
        table.value("records read, each checked", statistics.median(
            b.reader() for _ in range(rounds)), "M/s", least=10)
