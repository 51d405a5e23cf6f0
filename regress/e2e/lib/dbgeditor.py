# SPDX-License-Identifier: ISC
"""An editor in a debugged session."""


class Editor:
    """Speaks DAP to the engine as `debugger dap` does for an editor."""

    def __init__(self, rig, conn=20):
        self.rig = rig
        self.conn = conn
        self.client = rig.ask("dap", conn=conn)["client"]
        self.seq = 0
        self.got = []
        self.end = False

    def send(self, command, **arguments):
        self.seq += 1
        self.rig.ask("dap_send", conn=self.conn, client=self.client,
                     message={"seq": self.seq, "type": "request",
                              "command": command, "arguments": arguments})
        return self.seq

    def more(self):
        a = self.rig.ask("dap_receive", conn=self.conn + 1,
                         client=self.client, timeout_s=30)
        if not a["messages"] and not a["end"]:
            raise TimeoutError(f"nothing more than {self.got[-5:]}")
        self.got += a["messages"]
        self.end = a["end"]

    def take(self, fits):
        """The first message that fits, which is then no more."""
        while True:
            for i, m in enumerate(self.got):
                if fits(m):
                    return self.got.pop(i)
            if self.end:
                raise EOFError("the session has ended")
            self.more()

    def response(self, seq):
        return self.take(lambda m: m["type"] == "response" and
                         m["request_seq"] == seq)

    def ask(self, command, **arguments):
        r = self.response(self.send(command, **arguments))
        if not r["success"]:
            raise RuntimeError(r["message"])
        return r.get("body")

    def event(self, name):
        return self.take(lambda m: m["type"] == "event" and
                         m["event"] == name).get("body")

    def join(self, **kw):
        can = self.ask("initialize", adapterID="debuglantern")
        self.ask("attach", **kw)
        self.event("initialized")
        return can
