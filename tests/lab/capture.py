#!/usr/bin/env python3
"""Makes one fresh real capture: `capture.py VARIANT FOLDER [SEED]`. Needs root; touches nothing outside its own namespaces."""

import contextlib
import dataclasses
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from charon import INNER, Charon
from events import Events
from limits import LIMITS
from network import HERE, LabError, Network, end, wait_for
from paired import PAIRED
from variants import VARIANTS

# Small enough that ESP in UDP in IP stays below 1500 bytes.
INNER_MTU = 1280
# Headers of inner packets, and the first bytes of iperf3's datagrams, which number them.
INNER_SNAP = 128
DIRECTIONS = {"down": ["-R"], "up": [], "both": ["--bidir"]}


def transfer(network, variant, events, number):
    """One iperf3 run through the tunnel; its own account is kept, seen by the client."""
    listening = network.inside("server", "iperf3", "-s", "-1", "-B", INNER["server"])
    server = network.start("iperf3.server.log", listening)
    time.sleep(0.5)
    command = ["iperf3", "-c", INNER["server"], "-B", INNER["client"], "-l", variant.write, "-t", variant.seconds, "-i", "0.1", "-J"]
    command += DIRECTIONS[variant.direction] + list(variant.iperf)
    account = network.folder / f"iperf3.{number}.json"
    client = network.start(account.name, network.inside("client", *command), signal.SIGINT)
    events.sender, events.reader = (client, server) if variant.direction == "up" else (server, client)
    if number == 0:
        events.start()
    try:
        client.wait(timeout=variant.seconds + (4 if variant.ends_dead else 60))
    except subprocess.TimeoutExpired:
        end(client, signal.SIGINT)
    if client.returncode != 0 and not variant.ends_dead:
        raise LabError(f"iperf3 failed: see {account}")


def record(network, side, device, name, what, snap=0):
    """tcpdump on a device."""
    trace = network.folder / name
    command = ["tcpdump", "-Z", "root", "-i", device, "-s", snap, "-B", "16384", "--time-stamp-precision=nano", "-U"]
    network.start(f"{name}.log", network.inside(side, *command, "-w", trace, *what), signal.SIGINT)
    wait_for(lambda: trace.exists() and trace.stat().st_size >= 24, "the start of tcpdump")


def make(variant, folder, seed, both_ends=False):
    """A run: the captures and the logs stay in the folder. `both_ends` makes far.pcap at the other end of the cable."""
    with Network(folder) as network:
        network.connect(variant, seed)
        record(network, variant.captured_at, "wan", "trace.pcap", ["udp"])
        if both_ends:
            other = "client" if variant.captured_at == "server" else "server"
            record(network, other, "wan", "far.pcap", ["udp"])
        server, client = (Charon(network, side, variant) for side in ("server", "client"))
        server.start()
        client.start()
        for side in ("server", "client"):
            record(network, side, "ipsec0", f"inner.{side}.pcap", ["ip"], INNER_SNAP)
        client.control("--initiate", "--child", "lab", "-t", "20")
        for side in ("server", "client"):
            # With larger segments a kernel defers sending, and counts only a part of its waits for the window as such.
            network.run(side, "ip", "link", "set", "ipsec0", "mtu", INNER_MTU)
        # strongSwan's own routes go with the SA. Without any, senders would get errors, and iperf3 gives up.
        for side, peer in (("server", "client"), ("client", "server")):
            network.run(side, "ip", "route", "add", INNER[peer], "dev", "ipsec0", "src", INNER[side], "metric", "1000")
            poll = network.inside(side, sys.executable, HERE / "tcpinfo.py", side)
            network.start(f"tcpinfo.{side}.log", poll)
        events = Events(network, variant, server, client)
        for number, rest in enumerate((0, *variant.rests)):
            time.sleep(rest)
            transfer(network, variant, events, number)
        events.over.set()
        time.sleep(1.0)
        # Where nobody answers, the Delete still shows how long the capture is.
        with contextlib.suppress(LabError if variant.ends_dead else ()):
            client.control("--terminate", "--ike", "lab", "-t", "3" if variant.ends_dead else "10")
        # tcpdump gets the last packets a second late.
        time.sleep(1.5)


def main():
    variants = {**VARIANTS, **LIMITS, **PAIRED}
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in variants:
        sys.exit(f"usage: capture.py VARIANT FOLDER [SEED], VARIANT one of {', '.join(variants)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    name, folder = sys.argv[1], Path(sys.argv[2]).resolve()
    seed = int(sys.argv[3]) if len(sys.argv) == 4 else 1
    folder.mkdir(parents=True, exist_ok=True)
    # A socket's path has room for 107 characters.
    with tempfile.TemporaryDirectory(prefix="rekeyscope-lab-") as short:
        try:
            make(variants[name], Path(short), seed)
        except (LabError, subprocess.TimeoutExpired) as reason:
            sys.exit(f"{name}: {reason}")
        finally:
            for file in Path(short).iterdir():
                if file.is_file():
                    shutil.copy(file, folder)
    (folder / "variant.json").write_text(json.dumps({"name": name, **dataclasses.asdict(variants[name])}, indent=1))


if __name__ == "__main__":
    main()
