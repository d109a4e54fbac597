"""What really happened in a run: from the daemons' logs, the cable's log, what passed inside the tunnel, and the capture's outer
headers.

No key and no analysis is used, so that a mistake in the analyzer cannot hide in its own truth.
"""

import json
import re
import struct
from dataclasses import dataclass, field

import inner
import negotiation

ESTABLISHED = re.compile(
    r"^(\d+\.\d+) .*?CHILD_SA lab\{(\d+)\} established with SPIs ([0-9a-f]{8})_i ([0-9a-f]{8})_o", re.MULTILINE
)
SOFT = re.compile(r"^(\d+\.\d+) .*creating rekey job for CHILD_SA ESP/0x([0-9a-f]{8})/", re.MULTILINE)
HARD = re.compile(r"^(\d+\.\d+) .*creating delete job for CHILD_SA ESP/0x([0-9a-f]{8})/", re.MULTILINE)
PLANTED = re.compile(r"^(\d+\.\d+) planted \d+ ([0-9a-f]{8})$", re.MULTILINE)
# iperf3's account of a transfer that was interrupted need not be whole.
STARTED = re.compile(r'"timesecs":\s*(\d+)')
SWALLOWED = re.compile(r"^(\d+\.\d+) swallowed ([0-9a-f]{8})$", re.MULTILINE)
EVENT = re.compile(r"^(\d+\.\d+) (\w+)", re.MULTILINE)
STATE = re.compile(r"^(\d+\.\d+) .*CHILD_SA lab\{(\d+)\} state change: \w+ => (\w+)$", re.MULTILINE)
INFORMATIONAL = (5, 37)
SIDE = {bytes([10, 9, 0, 1]): "server", bytes([10, 9, 0, 2]): "client"}
INNER = {"server": "10.66.0.1", "client": "10.66.0.2"}
# Silences shorter than this are anyone's: a busy host's scheduling.
LEAST_SILENCE = 0.05
# Of what is acknowledged: a round trip, a queue and a delayed acknowledgement are none.
LEAST_UNDELIVERED = 0.15
# A limit or a Delete this close before the beginning of an outage began it: queues, and a busy host.
NEAR = 0.5
# A silence beginning or ending so close to a switch is its.
NEAR_SWITCH = 0.02
# An SA that nobody renews within this after its limit was not renewed.
NOBODY_ASKS = 3.0
# Events of the document that tell a Delete.
DELETES = {"child_deleted", "ike_sa_deleted", "deleted"}


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
    ends: float = 0.0
    attempts: list = field(default_factory=list)
    # SAs that ended although nobody had asked for new ones: (time, kinds of event one of which says it).
    unasked: list = field(default_factory=list)
    # By source ("server", "client"), of directions that carried a transfer: silences in which nothing new arrives, or is acknowledged.
    silent: dict = field(default_factory=dict)
    undelivered: dict = field(default_factory=dict)
    # By source: the three true readings of a silence. Nothing of all connections was acknowledged; nothing of the one that carried most;
    # nothing new arrived. They differ by the data under way when acknowledgements stop, and by small connections that are back first.
    readings: dict = field(default_factory=dict)
    # By source: when packets were sent that never arrived; and when a side closed the connection that carried most.
    lost: dict = field(default_factory=dict)
    closed: dict = field(default_factory=dict)
    # (from, until, why) of times in which nothing can pass.
    broken: list = field(default_factory=list)
    events: list = field(default_factory=list)
    # Messages in which the client asked whether the server lives, after its last word.
    unanswered_checks: int = 0

    def used_pairs(self):
        """Pairs that carried packets, in the order in which the client installed them."""
        return [p for p in self.pairs if p.inbound in self.packets or p.outbound in self.packets]

    def expired_in_use(self, old, new):
        """Whether a hard limit took the old pair away while the new one had not yet carried a packet of that direction."""
        for before, after in ((old.inbound, new.inbound), (old.outbound, new.outbound)):
            if before in self.hard and self.hard[before] < self.first.get(after, float("inf")):
                return True
        return False

    def fails(self):
        """A renewal failed, and the tunnel with it; or it only succeeded after several requests."""
        failed = self.unasked or any(a.causes for a in self.attempts)
        return bool(failed) and any(
            s.seconds(self.ends) >= 1.0 and s.start < self.transfer_end for side in self.undelivered for s, _ in self.outages(side)
        )

    def loses_ike(self):
        """The cable lost IKE for a time."""
        return any(action == "lose_ike" for _, action in self.events)

    def why(self, silence):
        """What broke the tunnel in a silence: a word, or None where nothing did."""
        until = silence.end if silence.end is not None else self.ends
        words = [why for start, end, why in self.broken if start <= until and end >= silence.start - NEAR
                 and start - NEAR <= silence.start]
        if words:
            return words[-1]
        switches = [self.first[spi] for p in self.used_pairs()[1:] for spi in (p.inbound, p.outbound) if spi in self.first]
        if any(silence.start - NEAR <= time <= until for time in switches) and silence.lost >= 3:
            return "switch"
        return "loss" if silence.lost else None

    def outages(self, side):
        """Silences of what is acknowledged in which something broke the tunnel."""
        found = [(s, self.why(s)) for s in self.undelivered.get(side, [])]
        return [(s, why) for s, why in found if why not in (None, "loss")]

    def harmed(self, new):
        """Seconds for which nothing arrived at the switch to a pair of SAs, of the direction in which it was longest."""
        spis = (("server", new.inbound), ("client", new.outbound))
        return max((self.harm(side, self.first[spi]) for side, spi in spis if spi in self.first), default=0.0)

    def harm(self, side, switch):
        """Seconds for which nothing arrived from this side around the time at which it began to use a new SA, and something was
        lost; or no SA was there."""
        for silence in self.silent.get(side, []):
            until = silence.last.came if silence.last else self.ends
            near = silence.first.sent - NEAR_SWITCH <= switch <= until + NEAR_SWITCH
            if near and self.why(silence) not in (None, "killed"):  # a daemon's death is no rekey's doing
                return silence.seconds(self.ends)
        return 0.0

    def outage(self, old, new):
        """Seconds for which the client had no inbound SA: from its hard expiry to the next one's installation."""
        return max(0.0, new.installed - self.hard[old.inbound]) if old.inbound in self.hard else 0.0


def outer_packets(trace):
    """(time, source, datagram, port) of the UDP datagrams between the ends."""
    for time, frame, _ in inner.records(trace, inner.LINK_ETHERNET):
        udp = 14 + (frame[14] & 15) * 4
        if frame[12:14] == b"\x08\x00" and frame[23] == 17 and len(frame) >= udp + 12:
            yield time, SIDE.get(frame[26:30]), frame[udp + 8 :], struct.unpack_from("!HH", frame, udp)


def split(trace):
    """ESP packets (time, SPI) and IKE messages (time, exchange type, message ID, source) of the capture, and its last time."""
    esp, ike, ends = [], [], 0.0
    for time, source, datagram, ports in outer_packets(trace):
        ends = time
        if 4500 in ports and datagram[:4] != bytes(4):
            if len(datagram) >= 8:
                esp.append((time, datagram[:4].hex()))
            continue
        message = datagram[4:] if 4500 in ports else datagram
        if len(message) >= 28:
            ike.append((time, message[18], message[20:24].hex(), source))
    return esp, ike, ends


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
    for account in folder.glob("iperf3.*.json"):
        if match := STARTED.search(account.read_text(encoding="utf-8", errors="replace")):
            truth.transfer_end = max(truth.transfer_end, int(match[1]) + truth.variant["seconds"])
    wire = (folder / "wire.log").read_text()
    truth.planted = [(float(time), message_id) for time, message_id in PLANTED.findall(wire)]
    esp, ike, truth.ends = split(folder / "trace.pcap")
    for time, spi in esp:
        truth.packets[spi] = truth.packets.get(spi, 0) + 1
        truth.first.setdefault(spi, time)
    if (events := folder / "events.log").exists():
        truth.events = [(float(time), action) for time, action in EVENT.findall(events.read_text())]
    logs = {"client": log, "server": other}
    truth.attempts = negotiation.attempts(logs, ike, set(truth.packets), truth.ends, truth.variant["retransmit_s"])
    truth.unasked = list(unasked(truth))
    truth.broken = broken(truth, log, SWALLOWED.findall(wire))
    last_word = max((time for time, *_, source in ike if source == "server"), default=0.0)
    truth.unanswered_checks = sum(
        1 for time, kind, _, source in ike if time > last_word and source == "client" and kind in INFORMATIONAL
        and truth.variant["dpd_s"] and time < truth.transfer_end
    )
    silences(truth, folder)
    return truth


def unasked(truth):
    """Limits after which nobody asked, and Deletes before which nobody had."""
    for spi, time in sorted(truth.hard.items(), key=lambda item: item[1]):
        pair = next((p for p in truth.pairs if spi in (p.inbound, p.outbound)), None)
        if pair is None or pair not in truth.used_pairs() or time + NOBODY_ASKS > truth.ends:
            continue
        asked = any(pair.installed + 0.5 < a.time <= time + NOBODY_ASKS for a in truth.attempts)
        if not asked and not any(pair.installed < p.installed <= time + NOBODY_ASKS for p in truth.pairs):
            yield time, {"limit_reached"}
    for time, action in truth.events:
        if action in ("terminate", "reauthenticate"):
            yield time, DELETES


def broken(truth, log, swallowed):
    """(from, until, why): times without an SA, and those in which the cable swallowed its packets. Those overlap."""
    spans, alive = [], {}
    gone_since = None
    for time, number, state in STATE.findall(log):
        before = any(alive.values())
        alive[number] = state in ("INSTALLED", "REKEYING", "REKEYED")
        if before and not any(alive.values()):
            gone_since = float(time)
        elif not before and alive[number] and gone_since is not None:
            spans.append((gone_since, float(time), "no SA"))
            gone_since = None
    if gone_since is not None:
        spans.append((gone_since, truth.ends, "no SA"))
    for spi, time in truth.hard.items():
        pair = next((p for p in truth.pairs if spi in (p.inbound, p.outbound)), None)
        later = [p.installed for p in truth.pairs if pair and p.installed > pair.installed]
        until = min(later, default=truth.ends)
        if until > time:
            spans.append((time, until, "limit"))
    if swallowed:
        spans.append((float(swallowed[0][0]), float(swallowed[-1][0]), "swallowed"))
    spans += [(time, truth.ends, "killed") for time, action in truth.events if action == "kill_server"]
    return sorted(spans)


def unseen(truth, sides, receiver, delay):
    """From when until when the receiver's tcpdump kept nothing: its TUN device goes with the daemon, and what tcpdump had not
    written yet, up to a second, goes too ("The interface disappeared"). Until the daemon's death packets arrived."""
    killed = next((time for time, action in truth.events if action == "kill_server"), None)
    if killed is None or receiver != "server":
        return None
    kept_until = max((p.time for p in inner.packets(sides[receiver])), default=killed)
    return kept_until, killed, delay


def silences(truth, folder):
    """Fills in the silences of the directions that carried a transfer."""
    delay = truth.variant["delay_ms"] / 1e3
    sides = {side: folder / f"inner.{side}.pcap" for side in INNER}
    lanes = {}
    for side, other in (("server", "client"), ("client", "server")):
        # From the capture to the receiver the cable's delay lies where the capture is at the sender.
        after = delay if truth.variant["captured_at"] == side else 0.0
        lanes[side] = inner.lanes(sides[side], sides[other], INNER[side], after, unseen(truth, sides, other, delay))
    most = max(lane.payload() for lane in lanes.values())
    for side, other in (("server", "client"), ("client", "server")):
        lane, answers = lanes[side], lanes[other]
        truth.lost[side] = lane.lost
        if lane.payload() * 10 < most:
            continue  # words between transfers
        lost = sorted(lane.lost + answers.lost)
        delivered = inner.deliveries(lane, answers)
        truth.undelivered[side] = inner.silences(delivered, truth.ends, LEAST_UNDELIVERED, lost)
        truth.silent[side] = inner.silences(inner.fresh(lane), truth.ends, LEAST_SILENCE, lost)
        most_of = inner.largest(lane)
        alone = inner.silences(inner.deliveries(lane, answers, most_of), truth.ends, LEAST_UNDELIVERED, lost)
        truth.readings[side] = [*truth.undelivered[side], *alone, *truth.silent[side]]
        ends = [p.time for p in lane.sent if p.closes and p.ports == most_of]
        ends += [p.time for p in answers.sent if p.closes and p.ports[::-1] == most_of]
        truth.closed[side] = min(ends, default=None)
