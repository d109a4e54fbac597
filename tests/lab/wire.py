#!/usr/bin/env python3
"""A cable between two network namespaces: delay, jitter, loss, frames overtaken, one planted loss per IKE exchange, a NAT, and
times without IKE.

Kernels without the netem queueing discipline and without packet filters can plant these things too: each end is a TAP
device, and this process carries the frames. From SIGUSR1 on it loses all IKE messages, until SIGUSR2; with SIGHUP the SA that
carries ESP towards the end given as --swallow goes: every further packet of it is lost, as if its receiver had no such SA. It
ends with SIGTERM. Every frame that it loses on purpose is one line of its standard output: seconds since 1970, "planted", "random",
"ike" or "swallowed", and of IKE exchange type and message ID, of ESP the SPI.
"""

import argparse
import collections
import ctypes
import fcntl
import heapq
import os
import random
import select
import signal
import struct
import time

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000
# RFC 2409 §5.5 and RFC 7296 §1.3: the exchanges that make child SAs.
CHILD_EXCHANGES = {32, 36}
# With --nat the first end appears at the other one under this address, and under ports that are larger by this.
INSIDE, OUTSIDE, PORTS_UP = bytes([10, 9, 0, 2]), bytes([10, 9, 0, 9]), 10_000
# Frames on the way in one direction; more are lost, as in any cable with a full queue.
MOST_ON_THE_WAY = 20_000


def tap(namespace, name):
    """Opens a TAP device in a namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    for step, fd in (("enter", there), ("leave", home)):
        if libc.setns(fd, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"cannot {step} the namespace {namespace}")
        if step == "enter":
            device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
        os.close(fd)
    return device


def ike_header(frame):
    """(initiator SPI, exchange type, message ID, payload) of an IKE message over IPv4, else None."""
    if len(frame) < 70 or frame[12:14] != b"\x08\x00" or frame[23] != 17:
        return None
    udp = 14 + (frame[14] & 15) * 4
    ports = struct.unpack_from("!HH", frame, udp)
    message = frame[udp + 8 :]
    if 4500 in ports:
        if message[:4] != bytes(4):
            return None  # ESP (RFC 3948 §2.2)
        message = message[4:]
    elif 500 not in ports:
        return None
    if len(message) < 28:
        return None
    return message[:8], message[18], struct.unpack_from("!I", message, 20)[0], bytes(message)


def esp_spi(frame):
    """SPI of ESP in UDP over IPv4, else None."""
    if len(frame) < 50 or frame[12:14] != b"\x08\x00" or frame[23] != 17:
        return None
    udp = 14 + (frame[14] & 15) * 4
    spi = frame[udp + 8 : udp + 12]
    return spi.hex() if 4500 in struct.unpack_from("!HH", frame, udp) and spi != bytes(4) else None


def checksum(header):
    """The checksum of an IPv4 header in which its own field is zero (RFC 1071)."""
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    total = (total & 0xFFFF) + (total >> 16)
    return ~(total + (total >> 16)) & 0xFFFF


def translated(frame, outwards):
    """A frame of UDP over IPv4 behind a NAT: source address and port when it goes outwards, those of the destination inwards."""
    if len(frame) < 42 or frame[12:14] != b"\x08\x00" or frame[23] != 17:
        return frame
    old, new, address, ports_up = (INSIDE, OUTSIDE, 26, PORTS_UP) if outwards else (OUTSIDE, INSIDE, 30, -PORTS_UP)
    if frame[address : address + 4] != old:
        return frame
    changed, udp = bytearray(frame), 14 + (frame[14] & 15) * 4
    changed[address : address + 4] = new
    port = udp if outwards else udp + 2
    struct.pack_into("!H", changed, port, struct.unpack_from("!H", changed, port)[0] + ports_up)
    struct.pack_into("!H", changed, udp + 6, 0)  # UDP over IPv4 needs no checksum (RFC 768)
    struct.pack_into("!H", changed, 24, 0)
    struct.pack_into("!H", changed, 24, checksum(bytes(changed[14:udp])))
    return bytes(changed)


class PlantedFailure:
    """What signals switch on and off."""

    def __init__(self):
        self.loses_ike, self.asked_to_swallow, self.swallowed = False, False, None
        signal.signal(signal.SIGUSR1, lambda *_: self.ike(True))
        signal.signal(signal.SIGUSR2, lambda *_: self.ike(False))
        signal.signal(signal.SIGHUP, lambda *_: self.swallow())

    def ike(self, lost):
        self.loses_ike = lost

    def swallow(self):
        self.asked_to_swallow = True

    def takes(self, frame, to_swallow):
        """Why this frame is lost: a few words for the log, else None."""
        if self.loses_ike and (header := ike_header(frame)):
            return f"ike {header[1]} {header[2]:08x}"
        if to_swallow and (spi := esp_spi(frame)):
            if self.asked_to_swallow:
                self.asked_to_swallow, self.swallowed = False, spi
            if spi == self.swallowed:
                return f"swallowed {spi}"
        return None


class PlantedLoss:
    """Loses the k-th different message of every child exchange but the first, once."""

    def __init__(self, position, spare_first):
        self.position, self.spare_first, self.exchanges = position, spare_first, collections.OrderedDict()

    def takes(self, frame):
        """The exchange type and message ID when this frame is to be lost."""
        header = ike_header(frame) if self.position else None
        if header is None or header[1] not in CHILD_EXCHANGES:
            return None
        spi, kind, message_id, content = header
        seen = self.exchanges.setdefault((spi, kind, message_id), [])
        if content in seen:
            return None
        seen.append(content)
        if self.spare_first and len(self.exchanges) == 1:
            return None
        return (kind, message_id) if len(seen) == self.position else None


class Lane:
    """One direction."""

    def __init__(self, source, sink, options, seed, swallows, outwards):
        self.source, self.sink, self.options, self.swallows, self.outwards = source, sink, options, swallows, outwards
        self.random, self.queue, self.last, self.taken = random.Random(seed), [], 0.0, 0

    def take(self, planted, failure):
        while True:
            try:
                frame = os.read(self.source, 65_536)
            except BlockingIOError:
                return
            except OSError:
                return  # the device is not up yet
            if self.options.nat:
                frame = translated(frame, self.outwards)
            lost = planted.takes(frame)
            if reason := failure.takes(frame, self.swallows):
                print(f"{time.time():.6f} {reason}", flush=True)
            elif lost:
                print(f"{time.time():.6f} planted {lost[0]} {lost[1]:08x}", flush=True)
            elif self.random.random() < self.options.loss:
                print(f"{time.time():.6f} random", flush=True)
            elif len(self.queue) < MOST_ON_THE_WAY:
                # Asked for each frame: this process may rest between two, and no frame may come early.
                now = time.monotonic()
                delay = (self.options.delay_ms + self.random.random() * self.options.jitter_ms) / 1e3
                due = self.last = max(self.last, now + delay)  # a cable keeps the order
                if self.options.overtaken and self.random.random() < self.options.overtaken:
                    due += self.options.overtaken_ms / 1e3
                self.taken += 1
                heapq.heappush(self.queue, (due, self.taken, frame))

    def deliver(self, now):
        while self.queue and self.queue[0][0] <= now:
            try:
                os.write(self.sink, heapq.heappop(self.queue)[2])
            except OSError:
                pass  # the device is down: at the end of a run

    def due(self):
        return self.queue[0][0] if self.queue else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("ends", nargs=2, metavar="NAMESPACE:DEVICE")
    parser.add_argument("--delay-ms", type=float, default=0.0, help="one way")
    parser.add_argument("--jitter-ms", type=float, default=0.0, help="up to this much more")
    parser.add_argument("--loss", type=float, default=0.0, help="share of the frames")
    parser.add_argument("--overtaken", type=float, default=0.0, help="share of the frames that come late, out of their order")
    parser.add_argument("--overtaken-ms", type=float, default=0.0, help="by this much")
    parser.add_argument("--drop-message", type=int, default=0, help="position in each exchange, from 1")
    parser.add_argument("--spare-first", action="store_true", help="the first child exchange stays whole")
    parser.add_argument("--swallow", choices=("first", "second"), default="first", help="the end whose SA SIGHUP takes away")
    parser.add_argument("--nat", action="store_true", help="the first end is behind a NAT")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    devices = [tap(*end.split(":")) for end in options.ends]
    planted = PlantedLoss(options.drop_message, options.spare_first)
    failure = PlantedFailure()
    lanes = [
        Lane(devices[0], devices[1], options, options.seed, options.swallow == "second", True),
        Lane(devices[1], devices[0], options, options.seed + 1, options.swallow == "first", False),
    ]
    print("ready", flush=True)
    while True:
        dues = [lane.due() for lane in lanes if lane.queue]
        wait = max(0.0, min(dues) - time.monotonic()) if dues else None
        select.select(devices, [], [], wait)
        now = time.monotonic()
        for lane in lanes:
            lane.take(planted, failure)
            lane.deliver(now)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
