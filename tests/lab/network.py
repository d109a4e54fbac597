"""Two namespaces, a cable between them, and the processes inside: all of it ends with the `with` block."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
# How long a process may take to do what it was started for, seconds.
PATIENCE = 20.0
# The client's address as the server sees it, where the cable is a NAT (wire.py).
NAT_ADDRESS = "10.9.0.9"


class LabError(Exception):
    """A run that could not be made; says what to look at."""


def wait_for(condition, what):
    """Waits until a condition holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise LabError(f"{what} did not happen within {PATIENCE:.0f} s")
        time.sleep(0.02)


class Network:
    """The namespaces `client` and `server`, named after this process so that runs do not meet."""

    def __init__(self, folder):
        self.folder = folder
        self.names = {side: f"rekeyscope-{os.getpid()}-{side}" for side in ("client", "server")}
        self.stack = contextlib.ExitStack()
        self.wire = None

    def __enter__(self):
        try:
            for name in self.names.values():
                self.call("ip", "netns", "add", name)
                self.stack.callback(subprocess.run, ["ip", "netns", "del", name], check=False)
        except BaseException:
            self.stack.close()
            raise
        return self

    def __exit__(self, *details):
        self.stack.close()

    @staticmethod
    def call(*command):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise LabError(f"{' '.join(map(str, command))}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def inside(self, side, *command):
        """A command line that runs in one namespace."""
        return ["ip", "netns", "exec", self.names[side], *map(str, command)]

    def run(self, side, *command):
        return self.call(*self.inside(side, *command))

    def start(self, log, command, end_with=signal.SIGTERM):
        """Starts a process of the run; its output goes to a file of the run's folder."""
        with open(self.folder / log, "wb") as output:
            process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        self.stack.callback(end, process, end_with)
        return process

    def connect(self, variant, seed):
        """Lays the cable: 10.9.0.1 (server) to 10.9.0.2 (client), the rate limited at both ends."""
        wire = [sys.executable, HERE / "wire.py", f"{self.names['client']}:wan", f"{self.names['server']}:wan"]
        wire += ["--delay-ms", variant.delay_ms, "--jitter-ms", variant.jitter_ms, "--loss", variant.loss]
        wire += ["--overtaken", variant.overtaken, "--overtaken-ms", variant.overtaken_ms]
        wire += ["--drop-message", variant.drop_message, "--seed", 2 * seed, "--spare-first"]
        wire += ["--swallow", "second" if variant.direction == "up" else "first"]
        if variant.ike == 2:
            wire.remove("--spare-first")  # the first child SA comes from IKE_AUTH
        wire += ["--nat"] if variant.nat else []
        self.wire = self.start("wire.log", [str(part) for part in wire])
        wait_for(lambda: "ready" in (self.folder / "wire.log").read_text(), "the cable between the namespaces")
        for side, address in (("server", "10.9.0.1"), ("client", "10.9.0.2")):
            self.run(side, "ip", "link", "set", "lo", "up")
            self.run(side, "ip", "addr", "add", f"{address}/24", "dev", "wan")
            self.run(side, "ip", "link", "set", "wan", "up")
            self.run(side, "ethtool", "-K", "wan", "tx", "off", "gso", "off", "gro", "off")
            self.run(side, "tc", "qdisc", "add", "dev", "wan", "root", "tbf", "rate", variant.rate, "burst", "16kb",
                     "latency", f"{variant.queue_ms}ms")
        if variant.nat:
            [device] = json.loads(self.run("client", "ip", "-j", "link", "show", "wan"))
            self.run("server", "ip", "neigh", "add", NAT_ADDRESS, "lladdr", device["address"], "dev", "wan")
        for side, setting in variant.sysctls:
            self.run(side, "sysctl", "-qw", setting)


def end(process, how):
    """Ends a process that this run started, and waits for it."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, how)
        try:
            process.wait(timeout=3)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
