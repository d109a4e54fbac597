"""What is done to a run while its transfer goes on; each thing is a line of events.log: seconds since 1970, action, arguments."""

import os
import signal
import subprocess
import threading
import time

from network import LabError

# How often a log is looked into for an event that waits for it, seconds.
LOOK = 0.02


class Events(threading.Thread):
    """Does what the variant plans, in order."""

    def __init__(self, network, variant, server, client):
        super().__init__(daemon=True)
        self.network, self.variant, self.server, self.client = network, variant, server, client
        self.sender, self.reader, self.began, self.over = None, None, time.monotonic(), threading.Event()

    def run(self):
        since = self.began
        for when, action, *arguments in self.variant.events:
            if isinstance(when, str):
                if not self.until_rekey(int(when.split()[1])):
                    return
                since = time.monotonic()
            elif self.over.wait(max(0.0, since + when - time.monotonic())):
                return
            with open(self.network.folder / "events.log", "a", encoding="utf-8") as log:
                log.write(f"{time.time():.6f} {' '.join((action, *arguments))}\n")
            try:
                getattr(self, action)(*arguments)
            except (LabError, subprocess.TimeoutExpired):
                pass  # what fails is what is planted; swanctl's log says it

    def until_rekey(self, number):
        """Waits until the client's daemon has decided on so many renewals since its start."""
        log = self.network.folder / "charon.client.log"
        while log.read_text(encoding="utf-8", errors="replace").count("creating rekey job for CHILD_SA ESP/") < number:
            if self.over.wait(LOOK):
                return False
        return True

    def server_proposes(self, proposal):
        self.server.change(esp_proposal=proposal)

    def server_protects(self, network):
        self.server.change(protected=network)

    def kill_server(self):
        os.kill(self.server.process.pid, signal.SIGKILL)

    def lose_ike(self):
        os.kill(self.network.wire.pid, signal.SIGUSR1)

    def pass_ike(self):
        os.kill(self.network.wire.pid, signal.SIGUSR2)

    def blackhole(self):
        os.kill(self.network.wire.pid, signal.SIGHUP)

    def stop(self):
        os.kill(self.sender.pid, signal.SIGSTOP)

    def go_on(self):
        os.kill(self.sender.pid, signal.SIGCONT)

    def stop_reading(self):
        os.kill(self.reader.pid, signal.SIGSTOP)

    def read_on(self):
        os.kill(self.reader.pid, signal.SIGCONT)

    def sysctl(self, side, setting):
        self.network.run(side, "sysctl", "-qw", setting)

    def initiate(self, child="lab"):
        self.client.control("--initiate", "--child", child, "-t", "8")

    def terminate(self):
        self.client.control("--terminate", "--child", "lab", "-t", "8")

    def rekey(self):
        self.client.control("--rekey", "--child", "lab")

    def reauthenticate(self):
        self.client.control("--rekey", "--ike", "lab", "--reauth")
