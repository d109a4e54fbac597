#!/usr/bin/env python3
"""What the kernel knows of its TCP connections, ten times a second: `tcpinfo.py SIDE` inside a namespace, until a signal.

One line a connection: seconds since 1970, side, local and remote end, then name=value of `struct tcp_info` (linux/tcp.h), times in
microseconds. `busy` runs while something is sent or unacknowledged, `rwnd` while the receiver's window stops the sender, `sndbuf`
while its own buffer does.
"""

import ipaddress
import socket
import struct
import sys
import time

EVERY = 0.1
NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, INET_DIAG_INFO = 4, 20, 2
NLM_F_REQUEST_AND_DUMP, NLMSG_ERROR, NLMSG_DONE = 0x301, 2, 3
# TCP_ESTABLISHED, and those in which data may still be on the way.
STATES = sum(1 << state for state in (1, 4, 5, 8, 9, 11))
# struct tcp_info as far as tcpi_snd_wnd (Linux 5.4), and the place of each value that is kept.
INFO = struct.Struct("=8B24I4Q6I4Q2I2Q4I")
KEPT = {
    "state": 0, "ca": 1, "rto": 8, "mss": 10, "unacked": 12, "lost": 14, "rtt": 23, "cwnd": 26, "total_retrans": 31, "acked": 34,
    "notsent": 38, "delrate": 42, "busy": 43, "rwnd": 44, "sndbuf": 45, "bytes_sent": 48, "bytes_retr": 49, "reord_seen": 51,
    "sndwnd": 53,
}


def connections(link):
    """(local, remote, values) of each TCP connection over IPv4."""
    request = struct.pack("=BBBxI48x", socket.AF_INET, socket.IPPROTO_TCP, 1 << (INET_DIAG_INFO - 1), STATES)
    link.send(struct.pack("=IHHII", 16 + len(request), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST_AND_DUMP, 0, 0) + request)
    while True:
        data, at = link.recv(1 << 18), 0
        while at < len(data):
            length, kind = struct.unpack_from("=IH", data, at)
            if kind in (NLMSG_DONE, NLMSG_ERROR):
                return
            yield connection(data[at + 16 : at + length])
            at += (length + 3) & ~3


def connection(message):
    """One struct inet_diag_msg with its attributes."""
    ports = struct.unpack_from("!HH", message, 4)
    ends = [f"{ipaddress.IPv4Address(message[at : at + 4])}:{port}" for at, port in zip((8, 24), ports)]
    at, values = 72, {}
    while at + 4 <= len(message):
        length, kind = struct.unpack_from("=HH", message, at)
        if kind == INET_DIAG_INFO and length >= 4 + INFO.size:
            fields = INFO.unpack_from(message, at + 4)
            values = {name: fields[place] for name, place in KEPT.items()}
        at += max(4, (length + 3) & ~3)
    return *ends, values


def main():
    link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG)
    due = time.monotonic()
    while True:
        now = time.time()
        for local, remote, values in connections(link):
            print(f"{now:.4f}", sys.argv[1], local, remote, *(f"{name}={value}" for name, value in values.items()))
        sys.stdout.flush()
        due = max(due + EVERY, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))


if __name__ == "__main__":
    main()
