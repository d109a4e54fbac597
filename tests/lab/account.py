#!/usr/bin/env python3
"""The account of saved runs against the kernels and the logs, as Markdown: `account.py FOLDER…`, each a run or a
folder of runs.

The binary is the environment's REKEYSCOPE.
"""

import json
import os
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import damage
import kernel
import reference
from check import analysis
from compare import seconds as time_of
from limits import PAIRS, PLANTED

HEAD = """# The account against the kernel

Made by `tests/lab/campaign --account FOLDER && tests/lab/run --account FOLDER > docs/evidence/account-validation.md` (the first as root):
fresh transfers between two strongSwan daemons, each run one of `tests/lab/limits.py`, captured at the sender's end (`_s`) or at the
receiver's (`_r`). The reference is the sending kernel's own `tcp_info`, ten times a second, and the daemons' logs; none of it is
seen by the analysis. All figures are percent of the transfer's time; differences are points.

- **window**: the account's `receive_window` and `zero_window`, and what has them as a second reason, against the kernel's
  `rwnd_limited` outside the account's `rekey` and `tunnel_down` (the kernel counts a window that is full through an outage).
- **idle**: the account's `application`, against the time that the kernel was not busy, up to the polls at which nothing waited to
  be sent besides. The difference is what lies outside the two.
- **outage**: the account's `rekey` and `tunnel_down`, against the outages that the logs tell, from when the sender stopped (what it
  sent in vain before is time in which it sent). *Missed* is what of those has another label; *false* is what of these lies neither
  in an outage nor in a pause at a renewal, nor where the kernel sent something again at one, nor in the time after those until as much
  is in flight as before.
"""
PAIRED = """
## With a factor and without it

Seconds saved, and those that its labels are said to lose at the other run's rate.
"""
DAMAGED = """
## Damaged captures

How many points the label moves that moves most, against the same time of the whole; which, where it is more than is allowed. Labels
that the part calls not testable are one with what it does not explain. †: the capture is cut inside an outage that the logs tell, or
between the request and its silence. What ends it, or when it was asked for, and so which label it has, lies in the other half.
*too little data*: so few bytes that the report says that nothing can be measured.
"""
TOO_LITTLE = "too little data"
HALVES = ("first half", "second half")
# What is demanded, points: against the kernel, of planted outages, unexplained (nearly all; the worst), stability.
WITHIN, OUTAGE_WITHIN, UNEXPLAINED, WORST_UNEXPLAINED, STABLE = 5.0, 2.0, 3.0, 6.0, 8.0
# Here a renewal is asked for at most so long before its outage: the SA's second volume limit is a megabyte behind its first, seconds.
ASKED_BEFORE = 1.0
# A rest between transfers, nanoseconds (the method).
SHORTEST_REST = 3 * 10**9
# A pair agrees within this share of the label's lost seconds.
PAIR_WITHIN = 0.15
# Labels of less than this are left out of a row, percent.
LEAST_SHOWN = 2.0
WINDOWS, HARMED = ("receive_window", "zero_window"), ("rekey", "tunnel_down")


class Row:
    """One direction of a run."""

    def __init__(self, run, sender, account, truth):
        self.run, self.side, self.account, self.truth = run, sender, account, truth
        self.seconds, self.bytes = account["seconds"], account["bytes"]
        self.labels = {label["label"]: label for label in account["labels"]}
        self.unexplained = self.share("unexplained")
        self.is_timed = bool(truth and truth.connections)
        self.all_runs = runs(account)
        self.harmed = kernel.union((a, b) for label, a, b in self.all_runs if label in HARMED)
        self.span = [(time_of(account["start"]), time_of(account["end"]))]

    def points(self, seconds):
        return 100 * seconds / self.seconds

    def share(self, *labels):
        return self.points(sum(self.labels[name]["seconds"] for name in labels if name in self.labels))

    def windows(self):
        """With the time whose second reason is the window."""
        beside = sum(
            second["seconds"] for name, label in self.labels.items() if name not in WINDOWS
            for second in label["also"] if second["label"] in WINDOWS
        )
        return self.share(*WINDOWS) + self.points(beside)

    def kernel_window(self):
        return self.points(self.truth.window(self.harmed))

    def window_difference(self):
        return self.windows() - self.kernel_window()

    def bounds_idle(self):
        return [self.points(bound) for bound in self.truth.idle()]

    def outages(self):
        """What the logs tell of the account's time."""
        return kernel.inside(self.truth.outages, self.span)

    def missed(self):
        outages = self.outages()
        return self.points(reference.seconds(outages) - reference.seconds(kernel.inside(outages, self.harmed)))

    def false(self):
        return self.points(reference.seconds(self.harmed) - reference.seconds(kernel.inside(self.harmed, self.truth.recovered)))

    def adds_up(self):
        """Labels and duration, to the nanosecond of the document's times; less than the whole only where a rest was left out."""
        labels = sum(round(1e9 * label["seconds"]) for label in self.labels.values())
        whole = nanoseconds(self.account["end"]) - nanoseconds(self.account["start"])
        return labels == round(1e9 * self.seconds) and labels <= whole and (labels == whole or whole - labels >= SHORTEST_REST)

    def idle_difference(self):
        return outside(self.share("application"), *self.bounds_idle())

    def cells(self):
        shown = sorted(self.labels.items(), key=lambda item: -item[1]["seconds"])
        words = ", ".join(f"{name} {self.share(name):.0f}" for name, _ in shown if self.share(name) >= LEAST_SHOWN)
        yield from (self.run, f"{self.seconds:.1f} s", f"{8e-6 * self.bytes / self.seconds:.1f}", words)
        if self.is_timed:
            low, high = self.bounds_idle()
            yield f"{self.windows():.0f} / {self.kernel_window():.0f}"
            yield f"{self.window_difference():+.1f}"
            yield f"{self.share('application'):.0f} / {span(low, high)}"
            yield f"{self.idle_difference():+.1f}"
        else:
            yield from ("", "", "", "")
        yield f"{self.share(*HARMED):.0f} / {self.points(reference.seconds(self.outages())):.0f}"
        yield from (f"{self.missed():.1f}", f"{self.false():.1f}", f"{self.unexplained:.1f}")


def outside(value, low, high):
    """How far a value lies outside two others: 0 between them."""
    return value - min(max(value, low), high)


def span(low, high):
    return f"{low:.0f}" if f"{low:.0f}" == f"{high:.0f}" else f"{low:.0f}–{high:.0f}"


def nanoseconds(time):
    """Of a time of the document, behind its date."""
    hours, minutes, rest = time.removesuffix("Z").partition("T")[2].split(":")
    whole, _, fraction = rest.partition(".")
    return ((int(hours) * 60 + int(minutes)) * 60 + int(whole)) * 10**9 + int(fraction.ljust(9, "0"))


def side(document, account):
    """The side that sends in the direction of an account."""
    ends = document["tunnels"][account["tunnel"]]
    sender = ends["a" if account["direction"] == "a_to_b" else "b"]
    return "server" if sender.split(":")[0] == "10.9.0.1" else "client"


def of_run(folder):
    """(rows, stability, senders without an account) of a run."""
    document, truth = analysis(folder), reference.of(folder)
    sides = {side(document, account): account for account in document["account"]}
    rows = [Row(folder.name, sender, account, truth[sender]) for sender, account in sides.items() if sender in truth]
    timed = [row for row in rows if row.is_timed]
    moved = stability(folder, max(timed, key=lambda row: row.bytes)) if timed else {}
    return rows, moved, [f"{folder.name} ({sender})" for sender in truth if sender not in sides]


def stability(folder, row):
    """{kind of damage: (points, what it moves, whether an outage is cut)}: against the same time of the whole."""
    middle, moved = (row.truth.starts + row.truth.ends) / 2, {}
    is_cut = any(a - ASKED_BEFORE < middle < b for a, b in row.truth.outages)
    with tempfile.TemporaryDirectory() as space:
        for kind, file in damage.of(folder, middle, Path(space)):
            document = analysis(folder, trace=file)
            part = next((one for one in document["account"] if side(document, one) == row.side), None)
            if part:
                found = moves(row.account, part)
            elif all(impact["verdict"] == "no_traffic" for impact in document["impact"]):
                found = (0.0, TOO_LITTLE)  # the report says so, and that nothing can be measured
            else:
                found = (100.0, "no account")
            moved[kind] = (*found, is_cut and kind in HALVES)
    return moved


def runs(account):
    """(label, from, until) of the whole time, seconds since 1970."""
    began = time_of(account["start"])
    return [(run["label"], began + run["from_s"], began + run["to_s"]) for run in account["runs"]]


def times(account, start=float("-inf"), until=float("inf")):
    """Seconds of each label between two times."""
    found = Counter()
    for label, a, b in runs(account):
        found[label] += max(0.0, min(b, until) - max(a, start))
    return found


def moves(whole, part):
    """(points, label → label) of the two that moved most, over the time of the part. What the part calls not testable is one with
    what it does not explain."""
    unsaid = {*part["not_testable"], "unexplained"}
    shares = [Counter(), Counter()]
    for share, account in zip(shares, (whole, part)):
        found = times(account, time_of(part["start"]), time_of(part["end"]))
        for label, seconds in found.items():
            share["not testable" if label in unsaid else label] += 100 * seconds / max(found.total(), 1e-9)
    moved = sorted((shares[1][label] - shares[0][label], label) for label in shares[0] | shares[1])
    (less, lost), (more, gained) = moved[0], moved[-1]
    return max(-less, more), f"{lost} → {gained}"


def moved_words(points, labels, is_cut):
    if labels == TOO_LITTLE:
        return labels
    return ("† " if is_cut else "") + (f"{abs(points):.1f}" if points <= STABLE else f"{points:.0f} {labels}")


def table(heads, rows):
    yield f"| {' | '.join(heads)} |"
    yield f"|{'|'.join('---' if place == 0 else '--:' for place, _ in enumerate(heads))}|"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def pairs(rows):
    """Runs with a factor and without it: the seconds saved against those that its labels are said to lose."""
    by_run = {row.run: row for row in rows}
    for name, row in by_run.items():
        for factor, without, labels in PAIRS:
            base, _, seed = name.partition(".")
            other = by_run.get(f"account_{without}_{base[-1]}.{seed}")
            if base[:-2] != f"account_{factor}" or other is None:
                continue
            rate = other.bytes / other.seconds
            saved = row.seconds - row.bytes / rate
            own = [row.labels[label] for label in labels if label in row.labels]
            lost = sum(label["seconds"] - label["bytes"] / rate for label in own)
            yield [name, other.run, ", ".join(labels), f"{saved:.1f}", f"{lost:.1f}", f"{100 * (lost - saved) / saved:+.0f} %"]


def planted(row):
    """The labels of what was planted in the run, where that is the greater part of its time."""
    return PLANTED.get(row.run.partition(".")[0].removeprefix("account_")[:-2])


def demands(rows, moved, paired):
    """The sentences on what is within its bounds."""
    timed = [row for row in rows if row.is_timed]
    fresh = [row for row in timed if row.run.startswith("account_")]
    damaged = [one for of_run in moved.values() for one in of_run.values()]
    # The kernel of those that have it planted was told not to look.
    unordered = [row for row in timed if row.truth.saw_reordering() is False and planted(row) != ("reordering",)]
    for what, bound, values in (
        ("window", WITHIN, [row.window_difference() for row in timed]),
        ("idle", WITHIN, [row.idle_difference() for row in timed]),
        ("outages missed", OUTAGE_WITHIN, [row.missed() for row in rows]),
        ("outages that are none", OUTAGE_WITHIN, [row.false() for row in rows]),
        ("reordering where the kernel saw none", WITHIN, [row.share("reordering") for row in unordered]),
        ("unexplained", UNEXPLAINED, [row.unexplained for row in timed]),
        ("unexplained, the worst", WORST_UNEXPLAINED, [row.unexplained for row in timed]),
        ("stability", STABLE, [points for points, _, is_cut in damaged if not is_cut]),
        ("stability, halves cut inside an outage", STABLE, [points for points, _, is_cut in damaged if is_cut]),
        ("pairs, percent", 100 * PAIR_WITHIN, [float(row[-1].split()[0]) for row in paired]),
    ):
        yield f"- {what}: {sum(abs(v) <= bound for v in values)} of {len(values)} within {bound:.0f}"
    limited = [row for row in rows if planted(row)]
    yield f"- what was planted has the greater part: {sum(row.share(*planted(row)) > 50 for row in limited)} of {len(limited)}"
    yield f"- the labels add up to the time: {sum(row.adds_up() for row in rows)} of {len(rows)}"
    yield f"- fresh transfers: {len(fresh)}, {sum('_s.' in row.run for row in fresh)} of them captured at the sender's end"


def main():
    captures = [path for root in map(Path, sys.argv[1:]) for path in (*root.glob("trace.pcap"), *root.glob("*/trace.pcap"))]
    folders = sorted(path.parent for path in captures if list(path.parent.glob("tcpinfo.*")))
    if not folders:
        sys.exit(f"{' '.join(sys.argv[1:])}: no runs with tcpinfo logs in it")
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(of_run, folders))
    rows = [row for of_one, *_ in results for row in of_one]
    moved = {folder.name: of_one for folder, (_, of_one, _) in zip(folders, results) if of_one}
    unaccounted = [run for *_, of_one in results for run in of_one]
    paired = list(pairs(rows))
    print(HEAD)
    print("\n".join(demands(rows, moved, paired)))
    print(f"- transfers without an account: {', '.join(unaccounted) or 'none'}")
    print("\n## Each transfer\n")
    heads = ["run", "time", "Mbit/s", "labels", "window / kernel", "Δ", "idle / kernel", "Δ", "outage / logs", "missed", "false",
             "unexplained"]
    print("\n".join(table(heads, (list(row.cells()) for row in rows))))
    print("\n## What was planted\n")
    shares = ([row.run, ", ".join(labels), f"{row.share(*labels):.0f}"] for row in rows if (labels := planted(row)))
    print("\n".join(table(["run", "labels", "share"], shares)))
    print(PAIRED)
    print("\n".join(table(["with", "without", "labels", "saved", "lost", "difference"], paired)))
    print(DAMAGED)
    kinds = list(dict.fromkeys(kind for of_one in moved.values() for kind in of_one))
    print("\n".join(table(["run", *kinds], (
        [name, *(moved_words(*of_one[kind]) if kind in of_one else "" for kind in kinds)] for name, of_one in moved.items()
    ))))


if __name__ == "__main__":
    main()
