"""What an account has to say of one direction of a run, from logs: outages and pauses at renewals, and the sender's kernel."""

import bisect
import json
from dataclasses import dataclass, field
from pathlib import Path

import kernel
import truth as truths

# The account's window around a new SPI (W_k): from its request, to so long after its first packet.
BEFORE_REQUEST, AFTER_SWITCH = 0.02, 0.25
# Shorter pauses at a renewal are anyone's.
LEAST_PAUSE = 0.05
# ESP packets from here on carry data, shorter ones acknowledgements: bytes.
LEAST_DATA = 400
# After a longer outage the sender begins anew; the account counts its ramp too. Linux does not send again before this.
LONG = 0.2


@dataclass
class Reference:
    """One direction of a run. Spans are (from, until), seconds since 1970."""

    connections: list
    # In which nothing could pass, by the logs.
    outages: list = field(default_factory=list)
    # Other pauses around new SPIs; of those in which something was outstanding the rekey is the reason.
    pauses: list = field(default_factory=list)
    # The times around new SPIs: what the kernel sends again then was lost at a renewal, as far as anybody can tell.
    renewals: list = field(default_factory=list)

    def __post_init__(self):
        self.starts = min((c.polls[0][0] for c in self.connections), default=0.0)
        self.ends = max((c.polls[-1][0] for c in self.connections), default=float("inf"))

        def clip(spans):
            return kernel.inside(kernel.union(spans), [(self.starts, self.ends)])

        self.outages = clip(self.outages)
        held_up = [(a, b) for a, b in self.pauses if not self.connections or any(c.outstanding(a, b) for c in self.connections)]
        self.pauses = clip(held_up + self.outages)
        lost = [(a, c.back(a, b)) for c in self.connections for a, b in near(c.losses(), self.renewals)]
        self.recovered = clip([(a, self.back(a, b)) for a, b in self.pauses] + lost)

    def back(self, start, until):
        return until if until - start < LONG else max((c.back(start, until) for c in self.connections), default=until)

    def shared(self, of_connection):
        """The sum over all connections of (from, until, seconds), each by how many there were at its time."""
        lives = [(c.polls[0][0] - 0.1, c.polls[-1][0]) for c in self.connections]
        return sum(
            length / max(1, sum(a <= (start + until) / 2 <= b for a, b in lives))
            for connection in self.connections for start, until, length in of_connection(connection)
        )

    def window(self, without):
        """Seconds for which the receiver's window stopped the sender, outside some spans."""
        return self.shared(lambda c: c.counted("rwnd", without))

    def idle(self):
        """The least and the most that the application left unused, seconds: nothing was outstanding; nothing waited to be sent,
        with nothing missing and no send buffer in the way. No connection is idle too."""
        everything = self.ends - self.starts
        least = everything - self.shared(lambda c: c.counted("busy"))
        most = everything - seconds(kernel.union((c.polls[0][0], c.polls[-1][0]) for c in self.connections))
        most += self.shared(lambda c: c.sampled(nothing_waits, self.recovered))
        most -= self.shared(lambda c: c.counted("sndbuf", self.recovered))
        return max(0.0, least), max(0.0, least, most)

    def saw_reordering(self):
        """Whether the kernels noticed any; older logs do not tell."""
        seen = [c.polls[-1][1].get("reord_seen") for c in self.connections]
        return None if None in seen or not seen else any(seen)


def nothing_waits(values):
    """The kernel has sent what it was given, but for less than a segment (Nagle), and nothing is missing."""
    return values["notsent"] < values["mss"] and values["ca"] == kernel.OPEN


def seconds(spans):
    return sum(b - a for a, b in spans)


def near(spans, windows):
    """The spans that touch one of the windows."""
    return [(a, b) for a, b in spans if any(a <= until and b >= start for start, until in windows)]


def of_lab(folder):
    """{sender: Reference} of a run of capture.py."""
    truth, found = truths.read(folder), {}
    windows = []
    for pair in truth.used_pairs()[1:]:
        asked = [a.time for a in truth.attempts if a.time <= pair.installed + LONG]
        first = [truth.first[spi] for spi in (pair.inbound, pair.outbound) if spi in truth.first]
        windows.append((max(asked, default=pair.installed) - BEFORE_REQUEST, max(first) + AFTER_SWITCH))
    for side, silences in truth.silent.items():
        outages = [(s.start, s.start + s.seconds(truth.ends)) for s, _ in truth.outages(side)]
        pauses = [(s.start, s.start + s.seconds(truth.ends)) for s in silences if s.seconds(truth.ends) >= LEAST_PAUSE]
        connections = []
        if "-u" not in truth.variant["iperf"]:
            connections = kernel.connections(folder / f"tcpinfo.{side}.log")
            sent = data(folder / "trace.pcap", side)
            outages = [(stopped(sent, a, b), b) for a, b in outages]
        found[side] = Reference(connections, outages, near(pauses, windows), windows)
    return found


def data(trace, side):
    """When ESP packets with data of this side passed the capture."""
    return [
        time for time, source, datagram, ports in truths.outer_packets(trace)
        if source == side and 4500 in ports and len(datagram) >= LEAST_DATA
    ]


def stopped(sent, start, until):
    """When the sender stopped in an outage: an account's time is that of what is sent, also in vain."""
    last = start
    for time in sent[bisect.bisect(sent, start) :]:
        if time > until or time - last >= LEAST_PAUSE:
            break
        last = time
    return last


def of_older_lab(folder):
    """{sender: Reference} of a capture with truth.json, whose outages only the kernel's acknowledged bytes tell."""
    truth = json.loads((folder / "truth.json").read_text())
    windows = [
        (r["t_first"] - BEFORE_REQUEST, max(r["new_spi_in_first_pkt"] or 0, r["new_spi_out_first_pkt"] or 0) + AFTER_SWITCH)
        for r in truth["rekeys"]
    ]
    found = kernel.connections(folder / "tcpinfo.srv.log")
    pauses = [(at, at + length) for at, length in truth["pauses"]["10.9.0.1>10.9.0.2"] if length >= LEAST_PAUSE]
    outages = near([span for c in found for span in c.silences()], windows)
    return {"server": Reference(found, outages, near(pauses, windows), windows)}


def of(folder: Path):
    return of_older_lab(folder) if (folder / "truth.json").exists() else of_lab(folder)
