#!/usr/bin/env python3
"""Writes a *constructed* NVR510 key log from the real keys of a lab capture.

    make_nvr_log.py ../shared/lab/captures/l2tp_kb_modp1024_down samples/l2tp_kb_modp1024_down.keylog

The framing (timestamp, tag, GW/SA context) is that of `show log` on the router; every key, SPI, cookie and moment is
the capture's own. What the router itself prints before its keys is not documented, so the labels are made up, and the
first lines of the log say so.
"""

import datetime
import json
import re
import sys
from pathlib import Path

HEADER = [
    "# Constructed: this log was not written by a router. Its keys, SPIs, cookies and times are those of the lab",
    "# capture {name}; its framing is that of an NVR510's `show log` after",
    "# `ipsec ike log 1 key-info message-info` and `syslog debug on`; the labels before the keys are invented.",
]
SECRETS = ["SKEYID", "SKEYID_d", "SKEYID_a", "SKEYID_e"]


def stamp(seconds):
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return moment.strftime("%Y/%m/%d %H:%M:%S")


def spaced(digits):
    digits = digits.removeprefix("0x")
    return " ".join(digits[i : i + 2] for i in range(0, len(digits), 2))


def charon_secrets(log):
    """(time, label, hex digits) of every dump in a strongSwan log of level 4."""
    dumps, current = [], None
    for line in log.splitlines():
        opened = re.match(r"(\d+\.\d+) \d+\[\w+\] (.*?) => \d+ bytes @", line)
        row = re.match(r"\d+\.\d+ \d+\[\w+\] +\d+: ((?:[0-9A-F]{2} ){1,16})", line)
        if opened:
            current = [float(opened[1]), opened[2], ""]
            dumps.append(current)
        elif row and current:
            current[2] += row[1].replace(" ", "").lower()
        else:
            current = None
    return dumps


def wrapped(seconds, context, label, digits, per_line=16):
    """A value; what is longer than a line goes on on the next one, as in the router's own dumps."""
    parts = [digits[i : i + 2 * per_line] for i in range(0, len(digits), 2 * per_line)]
    first = f"{stamp(seconds)}: [IKE] {context} {label}: {spaced(parts[0])}"
    return [first] + [f"{stamp(seconds)}: [IKE]   {spaced(part)}" for part in parts[1:]]


def key_log(folder):
    truth = json.loads((folder / "truth.json").read_text())
    dumps = charon_secrets((folder / "charon.cli.log").read_text(errors="replace"))
    ike = truth["ike"][0]
    lines = [line.format(name=folder.name) for line in HEADER]
    begun = next(t for t, label, _ in dumps if label == "SKEYID_d")
    peer = truth["sas"][0]["src"]
    own = truth["sas"][0]["dst"]
    lines.append(f"{stamp(begun)}: [IKE] initiate ISAKMP phase to {peer} (local address {own})")
    lines.append(f"{stamp(begun)}: [IKE] GW:1/SA:1/INIT receive message:")
    lines.append(f"{stamp(begun)}: [IKE]   {ike['spi_i']} {ike['spi_r']}")
    for label in SECRETS:
        digits = next(digits for _, name, digits in dumps if name == label)
        lines += wrapped(begun, "GW:1/SA:1/INIT", label, digits)
    number = 2
    for first, second in zip(truth["sas"][0::2], truth["sas"][1::2]):
        lines.append(f"{stamp(first['created'])}: [IKE] initiate IPsec phase to {peer}")
        for sa in (first, second):
            context = f"GW:1/SA:{number}/IPSEC"
            way = "receive" if sa["dst"] == own else "send"
            when = sa["created"]
            lines.append(f"{stamp(when)}: [IKE] {context} {way} SPI: {spaced(sa['spi'])}")
            lines += wrapped(when, context, "encryption key", sa["enc_key"].removeprefix("0x"))
            lines += wrapped(when, context, "authentication key", sa["auth_key"].removeprefix("0x"))
            number += 1
        lines.append(f"{stamp(second['created'])}: [L2TP] TUNNEL[1] connected from {peer}")
    return lines


def main():
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    target.write_bytes("".join(line + "\r\n" for line in key_log(source)).encode("ascii"))


if __name__ == "__main__":
    main()
