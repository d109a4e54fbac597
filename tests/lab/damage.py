"""The same capture with less in it: halves, without the SYNs inside the tunnel, without the timestamps of the TCP inside.

Timestamps lie under the encryption: packets are decrypted with the run's own keys, changed, and encrypted and authenticated again
(AES-CBC with HMAC-SHA1-96, as these runs have it; others are only halved). ESP numbers, times and lengths stay.
"""

import csv
import hashlib
import hmac
import os
import struct
import subprocess

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

from check import key_files

ESP, UDP, TCP = 50, 17, 6
IV, ICV = 16, 12
SYN, TIMESTAMP, NOTHING, END = 2, 8, 1, 0
IP_IN_PPP = (b"\xff\x03\x00\x21", b"\xff\x03\x21", b"\x00\x21", b"\x21")


def of(folder, middle, space):
    """(kind of damage, the capture with it) of a run, which is cut at a time; the captures lie in `space`."""
    head, packets = read(folder / "trace.pcap")
    yield "first half", write(space / "first.pcap", head, (p for p in packets if p[0] < middle))
    yield "second half", write(space / "second.pcap", head, (p for p in packets if p[0] >= middle))
    keys = esp_keys(folder, space)
    if not keys:
        return
    opened = [(packet, *changed(packet, keys)) for packet in packets]
    yield "no SYN", write(space / "no_syn.pcap", head, (whole for whole, is_syn, _ in opened if not is_syn))
    yield "no timestamps", write(space / "no_times.pcap", head, (bare for _, _, bare in opened))
    yield "neither", write(space / "neither.pcap", head, (bare for _, is_syn, bare in opened if not is_syn))


def read(trace):
    """The head of a little-endian nanosecond pcap and its packets: (time, head of the record, frame)."""
    data, at, packets = trace.read_bytes(), 24, []
    while at + 16 <= len(data):
        whole, nanos, kept = struct.unpack_from("<III", data, at)
        packets.append((whole + nanos / 1e9, data[at : at + 16], data[at + 16 : at + 16 + kept]))
        at += 16 + kept
    return data[:24], packets


def write(trace, head, packets):
    with open(trace, "wb") as file:
        file.write(head)
        for _, record, frame in packets:
            file.write(record + frame)
    return trace


def esp_keys(folder, space):
    """{SPI: (encryption key, integrity key)}; nothing where a suite is another one."""
    export = ["--export", "wireshark", space / "tables"]
    subprocess.run([os.environ["REKEYSCOPE"], "keys", folder / "trace.pcap", *key_files(folder), "-q", *export], check=True,
                   capture_output=True)
    with open(space / "tables" / "esp_sa", encoding="utf-8") as file:
        rows = [row for row in csv.reader(file) if len(row) >= 8 and not row[0].startswith("#")]
    if any("AES-CBC" not in row[4] or "SHA-1-96" not in row[6] for row in rows):
        return {}
    return {bytes.fromhex(row[3][2:]): (bytes.fromhex(row[5][2:]), bytes.fromhex(row[7][2:])) for row in rows}


def changed(packet, keys):
    """(whether it is a SYN inside, the packet without TCP timestamps inside)."""
    time, record, frame = packet
    at = esp_at(frame)
    if at is None or frame[at : at + 4] not in keys:
        return False, packet
    cipher, integrity = keys[frame[at : at + 4]]
    body = at + 8 + IV
    mode = Cipher(algorithms.AES(cipher), modes.CBC(frame[body - IV : body]))
    decryptor = mode.decryptor()
    plain = bytearray(decryptor.update(frame[body:-ICV]) + decryptor.finalize())
    tcp = tcp_at(plain)
    if tcp is None:
        return False, packet
    is_syn = bool(plain[tcp + 13] & SYN)
    strip(plain, tcp)
    encryptor = mode.encryptor()
    sealed = frame[at:body] + encryptor.update(bytes(plain)) + encryptor.finalize()
    return is_syn, (time, record, frame[:at] + sealed + hmac.digest(integrity, sealed, hashlib.sha1)[:ICV])


def esp_at(frame):
    """Where ESP begins in an Ethernet frame with IPv4, else None."""
    if frame[12:14] != b"\x08\x00" or len(frame) < 70:
        return None
    inside = 14 + (frame[14] & 15) * 4
    if frame[23] == ESP:
        return inside
    is_natt = frame[23] == UDP and 4500 in struct.unpack_from("!HH", frame, inside) and frame[inside + 8 : inside + 12] != bytes(4)
    return inside + 8 if is_natt else None


def tcp_at(plain):
    """Where TCP begins in what was encrypted: IPv4, or IPv4 in PPP in L2TP in UDP; else None."""
    at = 0
    if plain[-1] == UDP:
        flags = struct.unpack_from("!H", plain, 8)[0]
        at = 8 + 6 + (2 if flags & 0x4000 else 0) + (4 if flags & 0x0800 else 0) + (2 if flags & 0x0200 else 0)
        protocol = next((name for name in IP_IN_PPP if plain[at : at + len(name)] == name), None)
        if flags & 0x8000 or protocol is None:
            return None
        at += len(protocol)
    is_tcp = len(plain) >= at + 40 and plain[at] >> 4 == 4 and plain[at + 9] == TCP
    return at + (plain[at] & 15) * 4 if is_tcp else None


def strip(plain, tcp):
    """Overwrites the timestamps option; the checksum follows, so that those around it stay right."""
    at, end = tcp + 20, tcp + (plain[tcp + 12] >> 4) * 4
    before = words(plain[tcp + 20 : end])
    while at < end and plain[at] != END:
        length = 1 if plain[at] == NOTHING else max(2, plain[at + 1])
        if plain[at] == TIMESTAMP:
            plain[at : at + length] = bytes([NOTHING]) * length
        at += length
    total = (struct.unpack_from("!H", plain, tcp + 16)[0] ^ 0xFFFF) + words(plain[tcp + 20 : end]) - before
    struct.pack_into("!H", plain, tcp + 16, total % 0xFFFF ^ 0xFFFF)


def words(data):
    return sum(struct.unpack(f"!{len(data) // 2}H", data))
