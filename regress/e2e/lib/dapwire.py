# SPDX-License-Identifier: ISC
"""The debug adapter protocol on pipes, as clients speak it."""
import json
import subprocess


class Wire:
    """A process that is spoken to; events are kept as they come."""

    def __init__(self, argv, **kw):
        self.p = subprocess.Popen(argv, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, **kw)
        self.seq, self.events = 0, []

    def send(self, command, **args):
        """The number of the request."""
        self.seq += 1
        body = json.dumps({"seq": self.seq, "type": "request",
                           "command": command, "arguments": args}).encode()
        self.p.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (
            len(body), body))
        self.p.stdin.flush()
        return self.seq

    def read(self):
        size = 0
        while (line := self.p.stdout.readline().strip()):
            size = int(line.split(b":")[1])
        if size == 0:
            raise EOFError("it says nothing more")
        return json.loads(self.p.stdout.read(size))

    def take(self, fits):
        """The next message that fits."""
        while True:
            m = self.read()
            if m["type"] == "event":
                self.events.append(m)
            if fits(m):
                return m

    def ask(self, command, **args):
        """The response."""
        seq = self.send(command, **args)
        return self.take(lambda m: m["type"] == "response" and
                         m["request_seq"] == seq)

    def event(self, name):
        """The first event of that name, also one that came before."""
        for m in self.events:
            if m["event"] == name:
                return m
        return self.take(lambda m: m.get("event") == name)

    def close(self, seconds=30):
        """Its exit status once it is not spoken to any more."""
        self.p.stdin.close()
        code = self.p.wait(seconds)
        self.p.stdout.close()
        return code
