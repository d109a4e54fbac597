"""What passed inside the tunnel, as tcpdump saw it on the TUN devices of both ends: what was sent, what of it arrived, and the
silences in which something was lost. No key and no analysis is used."""

import struct
from dataclasses import dataclass, field

LINK_ETHERNET, LINK_RAW, NANOSECOND_MAGIC = 1, 101, 0xA1B23C4D
TCP, UDP = 6, 17


def records(trace, link):
    """(time, bytes, length on the wire) of every packet of a little-endian nanosecond pcap, as tcpdump writes it here."""
    data = trace.read_bytes()
    if struct.unpack_from("<I", data)[0] != NANOSECOND_MAGIC or struct.unpack_from("<I", data, 20)[0] != link:
        raise ValueError(f"{trace}: not a nanosecond pcap of link type {link}")
    at = 24
    while at + 16 <= len(data):
        seconds, nanos, kept, length = struct.unpack_from("<IIII", data, at)
        yield seconds + nanos / 1e9, data[at + 16 : at + 16 + kept], length
        at += 16 + kept


@dataclass(frozen=True)
class InnerPacket:
    """TCP or UDP inside the tunnel."""

    time: float
    source: str
    # The same at both ends, and of no other packet.
    key: tuple
    # Addresses do not matter: there is one pair.
    ports: tuple
    payload: int
    # TCP: behind the last byte; what is acknowledged, 0 in a SYN.
    end: int = 0
    ack: int = 0
    is_tcp: bool = False
    # FIN or RST.
    closes: bool = False


def packets(trace):
    """The TCP and UDP packets of a TUN device, in order."""
    for time, data, _ in records(trace, LINK_RAW):
        if len(data) < 28 or data[0] >> 4 != 4:
            continue
        header, total = (data[0] & 15) * 4, struct.unpack_from("!H", data, 2)[0]
        source = ".".join(map(str, data[12:16]))
        ports = struct.unpack_from("!HH", data, header)
        ip_id = struct.unpack_from("!H", data, 4)[0]
        if data[9] == UDP:
            yield InnerPacket(time, source, (source, ports, data[header + 8 : header + 20]), ports, total - header - 8)
        elif data[9] == TCP and len(data) >= header + 20:
            sequence, ack, offset = struct.unpack_from("!IIB", data, header + 4)
            payload = total - header - (offset >> 4) * 4
            flags = data[header + 13]
            options = bytes(data[header + 20 : header + (offset >> 4) * 4])
            key = (source, ports, ip_id, sequence, ack, payload, flags, options)
            yield InnerPacket(time, source, key, ports, payload, (sequence + payload) % 2**32, ack, True, bool(flags & 5))


@dataclass(frozen=True)
class Delivered:
    """A packet that arrived: when it passed the capture of the wire, as far as its arrival tells; and between which times it did
    for certain, since a busy host takes its time on both sides."""

    wire: float
    sent: float
    came: float


@dataclass
class Silence:
    """Between two packets that were delivered, by their times on the wire."""

    first: Delivered
    # None: nothing more was delivered.
    last: Delivered | None
    # Packets of either direction that were sent meanwhile and never arrived.
    lost: int = 0

    @property
    def start(self):
        return self.first.wire

    @property
    def end(self):
        return self.last.wire if self.last else None

    def seconds(self, ends):
        return (self.last.wire if self.last else ends) - self.start


@dataclass
class Lane:
    """One direction of the tunnel, as both ends saw it."""

    source: str
    sent: list = field(default_factory=list)
    # (`Delivered`, packet) in order of arrival.
    arrived: list = field(default_factory=list)
    # When a packet was sent that never arrived.
    lost: list = field(default_factory=list)

    def payload(self):
        return sum(packet.payload for packet in self.sent)


def lanes(sender_side, receiver_side, source, delay, unseen=None):
    """The lane of one direction; `delay` lies between the capture of the wire and its end. `unseen` (from, until, path): between
    these times the receiver's tcpdump kept nothing, and what was sent arrived after `path`.
    """
    lane = Lane(source)
    lane.sent = [p for p in packets(sender_side) if p.source == source]
    sent, came = {p.key: p.time for p in lane.sent}, {}
    for packet in packets(receiver_side):
        if packet.source == source:
            came.setdefault(packet.key, packet.time)
            began = sent.get(packet.key, packet.time - delay)
            lane.arrived.append((Delivered(max(began, packet.time - delay), began, packet.time), packet))
    if unseen:
        kept_until, until, path = unseen
        for packet in lane.sent:
            if packet.key not in came and kept_until < packet.time + path < until:
                came[packet.key] = packet.time + path
                lane.arrived.append((Delivered(packet.time, packet.time, packet.time + path), packet))
    lane.lost = [p.time for p in lane.sent if p.key not in came]
    return lane


def later(a, b):
    """a comes after b among sequence numbers."""
    return 0 < (a - b) % 2**32 < 2**31


def fresh(lane):
    """What arrived with bytes that had not arrived before."""
    edge, found = {}, []
    for way, p in lane.arrived:
        if p.payload and (not p.is_tcp or p.ports not in edge or later(p.end, edge[p.ports])):
            edge[p.ports] = p.end
            found.append(way)
    return found


def largest(lane):
    """The ports of the connection that brought most."""
    sums = {}
    for _, p in lane.arrived:
        sums[p.ports] = sums.get(p.ports, 0) + p.payload
    return max(sums, key=sums.get, default=None)


def deliveries(lane, answers, ports=None):
    """What arrived and was acknowledged, of several copies the last: TCP; of UDP what arrived. `ports`: of this connection alone."""
    of_tcp = [(way, p) for way, p in lane.arrived if p.is_tcp and p.payload and ports in (None, p.ports)]
    acks = [(way.came, p) for way, p in answers.arrived if p.ack]
    if not of_tcp or sum(p.payload for _, p in of_tcp) * 2 < sum(p.payload for _, p in lane.arrived):
        return [way for way, p in lane.arrived if p.payload]
    waiting, edge, found, at = {}, {}, [], 0
    for came, ack in acks:
        while at < len(of_tcp) and of_tcp[at][0].came <= came:
            way, p = of_tcp[at]
            at += 1
            waiting.setdefault(p.ports, {})[p.end] = way
        own = waiting.get(ack.ports[::-1], {})
        before = edge.get(ack.ports)
        if before is not None and not later(ack.ack, before):
            continue
        edge[ack.ports] = ack.ack
        done = [end for end in own if not later(end, ack.ack)]
        if done:
            found.append(max((own.pop(end) for end in done), key=lambda way: way.wire))
    return found


def silences(delivered, ends, least, lost):
    """Where there is no progress for `least` seconds; `lost`: when packets were sent in vain, in order."""
    found, newest = [], None
    for way in [*delivered, None]:
        if newest is not None and (way.wire if way else ends) - newest.wire >= least:
            found.append(Silence(newest, way))
        if way and (newest is None or way.wire > newest.wire):
            newest = way
    for silence in found:
        until = silence.start + silence.seconds(ends)
        silence.lost = sum(1 for time in lost if silence.start - 0.1 <= time <= until)
    return found
