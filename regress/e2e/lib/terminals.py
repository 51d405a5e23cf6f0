# SPDX-License-Identifier: ISC
"""A session on a terminal, as a person would use it."""


def quoted(s):
    """As one argument of a command."""
    return "'" + s.replace("'", "'\\''") + "'"


class Tty:
    """A session on a terminal, as a person would use it."""

    def __init__(self, c, command="bash --norc --noprofile", options="",
                 flags=""):
        self.c = c
        s = c.cmd(f"NEW tty env=PS1=P> {options} -- {command}")
        if "error_code" in s:
            raise RuntimeError(f"NEW: {s}")
        self.sid = s["id"]
        self.started = c.cmd(f"START {self.sid} {flags}".strip())
        if "error_code" in self.started:
            raise RuntimeError(f"START: {self.started}")

    def type(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        self.c.send(f"INPUT {self.sid} {len(data)}\n".encode() + data)
        return self.c.json()

    def text(self):
        return self.c.output(self.sid)

    def until(self, what):
        """What was printed, once that is in it."""
        self.c.until(self.sid, what)
        return self.text()

    def wait(self, seconds=30):
        return self.c.cmd(f"WAIT {self.sid} {seconds}")

    def resize(self, cols, rows):
        return self.c.cmd(f"RESIZE {self.sid} {cols} {rows}")

    def end(self):
        self.c.cmd("KILL " + self.sid)
