"""What really happened in a run: from the daemons' logs, the cable's log and the capture's outer headers.

No key and no analysis is used, so that a mistake in the analyzer cannot hide in its own truth.
"""

import json
import re
import struct
from dataclasses import dataclass, field

ESTABLISHED = re.compile(
    r"^(\d+\.\d+) .*?CHILD_SA lab\{(\d+)\} established with SPIs ([0-9a-f]{8})_i ([0-9a-f]{8})_o", re.MULTILINE
)
SOFT = re.compile(r"^(\d+\.\d+) .*creating rekey job for CHILD_SA ESP/0x([0-9a-f]{8})/", re.MULTILINE)
HARD = re.compile(r"^(\d+\.\d+) .*creating delete job for CHILD_SA ESP/0x([0-9a-f]{8})/", re.MULTILINE)
PLANTED = re.compile(r"^(\d+\.\d+) planted \d+ ([0-9a-f]{8})$", re.MULTILINE)
LINK_ETHERNET, NANOSECOND_MAGIC = 1, 0xA1B23C4D


@dataclass
class Pair:
    """A child SA as the client sees it."""

    installed: float
    inbound: str
    outbound: str


@dataclass
class Truth:
    """One run. Times are seconds since 1970; SPIs eight hex digits."""

    variant: dict
    pairs: list
    soft: dict = field(default_factory=dict)
    hard: dict = field(default_factory=dict)
    transfer_end: float = 0.0
    planted: list = field(default_factory=list)
    packets: dict = field(default_factory=dict)
    first: dict = field(default_factory=dict)

    def used_pairs(self):
        """Pairs that carried packets, in the order in which the client installed them."""
        return [p for p in self.pairs if p.inbound in self.packets or p.outbound in self.packets]

    def expired_in_use(self, old, new):
        """Whether a hard limit took the old pair away while the new one had not yet carried a packet of that direction."""
        for before, after in ((old.inbound, new.inbound), (old.outbound, new.outbound)):
            if before in self.hard and self.hard[before] < self.first.get(after, float("inf")):
                return True
        return False

    def outage(self, old, new):
        """Seconds for which the client had no inbound SA: from its hard expiry to the next one's installation."""
        return max(0.0, new.installed - self.hard[old.inbound]) if old.inbound in self.hard else 0.0


def esp_packets(trace):
    """(time, SPI) of every ESP-in-UDP packet of a little-endian nanosecond Ethernet pcap, as tcpdump writes it here."""
    data = trace.read_bytes()
    magic, link = struct.unpack_from("<I", data)[0], struct.unpack_from("<I", data, 20)[0]
    if (magic, link) != (NANOSECOND_MAGIC, LINK_ETHERNET):
        raise ValueError(f"{trace}: not a nanosecond Ethernet pcap")
    at = 24
    while at + 16 <= len(data):
        seconds, nanos, length = struct.unpack_from("<III", data, at)
        frame = data[at + 16 : at + 16 + length]
        at += 16 + length
        udp = 14 + (frame[14] & 15) * 4
        if frame[12:14] == b"\x08\x00" and frame[23] == 17 and len(frame) >= udp + 16:
            ports = struct.unpack_from("!HH", frame, udp)
            spi = frame[udp + 8 : udp + 12]
            if 4500 in ports and spi != bytes(4):
                yield seconds + nanos / 1e9, spi.hex()


def read(folder):
    """The truth of the run whose files are in the folder."""
    log = (folder / "charon.client.log").read_text(encoding="utf-8", errors="replace")
    other = (folder / "charon.server.log").read_text(encoding="utf-8", errors="replace")
    pairs = {}
    for time, number, inbound, outbound in ESTABLISHED.findall(log):
        pairs.setdefault(number, Pair(float(time), inbound, outbound))
    truth = Truth(json.loads((folder / "variant.json").read_text()), list(pairs.values()))
    for side in (log, other):
        truth.soft.update({spi: float(time) for time, spi in SOFT.findall(side)})
        truth.hard.update({spi: float(time) for time, spi in HARD.findall(side)})
    started = json.loads((folder / "iperf3.json").read_text())["start"]["timestamp"]["timesecs"]
    truth.transfer_end = started + truth.variant["seconds"]
    wire = (folder / "wire.log").read_text()
    truth.planted = [(float(time), message_id) for time, message_id in PLANTED.findall(wire)]
    for time, spi in esp_packets(folder / "trace.pcap"):
        truth.packets[spi] = truth.packets.get(spi, 0) + 1
        truth.first.setdefault(spi, time)
    return truth
