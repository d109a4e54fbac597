#!/usr/bin/env python3
"""Makes one fresh real capture: `capture.py VARIANT FOLDER`. Needs root; touches nothing outside its own namespaces."""

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
from network import LabError, Network, wait_for
from variants import VARIANTS

# Small enough that ESP in UDP in IP stays below 1500 bytes.
INNER_MTU = 1280
DIRECTIONS = {"down": ["-R"], "up": [], "both": ["--bidir"]}


def transfer(network, variant):
    """One iperf3 run through the tunnel; its own account is kept, seen by the client."""
    network.start("iperf3.server.log", network.inside("server", "iperf3", "-s", "-1", "-B", INNER["server"]))
    time.sleep(0.5)
    command = ["iperf3", "-c", INNER["server"], "-B", INNER["client"], "-l", "8K", "-t", variant.seconds, "-i", "0.1", "-J"]
    command += DIRECTIONS[variant.direction] + list(variant.iperf)
    done = subprocess.run(
        network.inside("client", *command), capture_output=True, text=True, timeout=variant.seconds + 60, check=False
    )
    (network.folder / "iperf3.json").write_text(done.stdout)
    if done.returncode != 0:
        raise LabError(f"iperf3 failed: see {network.folder}/iperf3.json")


def record(network, side):
    """tcpdump at one end of the cable."""
    trace = network.folder / "trace.pcap"
    command = ["tcpdump", "-Z", "root", "-i", "wan", "-s", "0", "-B", "16384", "--time-stamp-precision=nano", "-U"]
    network.start("tcpdump.log", network.inside(side, *command, "-w", trace, "udp"), signal.SIGINT)
    wait_for(lambda: trace.exists() and trace.stat().st_size >= 24, "the start of tcpdump")


def make(variant, folder):
    """A run: the capture and the logs stay in the folder."""
    with Network(folder) as network:
        network.connect(variant)
        record(network, variant.captured_at)
        server, client = (Charon(network, side, variant) for side in ("server", "client"))
        server.start()
        client.start()
        client.control("--initiate", "--child", "lab", "-t", "20")
        for side in ("server", "client"):
            network.run(side, "ip", "link", "set", "ipsec0", "mtu", INNER_MTU)
        transfer(network, variant)
        time.sleep(1.0)
        client.control("--terminate", "--ike", "lab", "-t", "10")
        time.sleep(0.5)


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in VARIANTS:
        sys.exit(f"usage: capture.py VARIANT FOLDER, VARIANT one of {', '.join(VARIANTS)}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    name, folder = sys.argv[1], Path(sys.argv[2]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    # A socket's path has room for 107 characters.
    with tempfile.TemporaryDirectory(prefix="rekeyscope-lab-") as short:
        try:
            make(VARIANTS[name], Path(short))
        except (LabError, subprocess.TimeoutExpired) as reason:
            sys.exit(f"{name}: {reason}")
        finally:
            for file in Path(short).iterdir():
                if file.is_file():
                    shutil.copy(file, folder)
    (folder / "variant.json").write_text(json.dumps({"name": name, **dataclasses.asdict(VARIANTS[name])}, indent=1))


if __name__ == "__main__":
    main()
