#!/usr/bin/env python3
"""The account of saved runs against the kernels and the logs, as Markdown: `account.py FOLDER…`, with a run in each folder below.

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
import reference
from check import analysis
from limits import PAIRS, PLANTED

HEAD = """# The account against the kernel

Made by `tests/lab/campaign --account FOLDER && tests/lab/run --account FOLDER > docs/account-validation.md` (the first as root):
fresh transfers between two strongSwan daemons, each run one of `tests/lab/limits.py`, captured at the sender's end (`_s`) or at the
receiver's (`_r`). The reference is the sending kernel's own `tcp_info`, ten times a second, and the daemons' logs; none of it is
seen by the analysis. All figures are percent of the transfer's time; differences are points.

- **window**: the account's `receive_window` and `zero_window`, and what has them as a second reason, against the kernel's
  `rwnd_limited` outside outages and pauses at renewals, and until as much is in flight as before (the kernel counts a window that
  is full through an outage).
- **idle**: the account's `application`, against the time that the kernel was not busy, up to the polls at which nothing waited to be
  sent besides. The difference is what lies outside the two.
- **outage**: the account's `rekey` and `tunnel_down`, against the outages and the pauses at renewals that the logs tell, up to those
  with the time until as much is in flight as before. The difference is what lies outside the two.
"""
# What the issue of the account demands, points: of the kernel's, of planted outages, unexplained (nearly all; the worst), stability.
WITHIN, OUTAGE_WITHIN, UNEXPLAINED, WORST_UNEXPLAINED, STABLE = 5.0, 2.0, 3.0, 6.0, 8.0
# A pair agrees within this share of the label's lost seconds.
PAIR_WITHIN = 0.15
# Labels of less than this are left out of a row, percent.
LEAST_SHOWN = 2.0
WINDOWS, HARMED = ("receive_window", "zero_window"), ("rekey", "tunnel_down")


class Row:
    """One direction of a run."""

    def __init__(self, run, account, truth):
        self.run, self.account, self.truth = run, account, truth
        self.seconds, self.bytes = account["seconds"], account["bytes"]
        self.labels = {label["label"]: label for label in account["labels"]}
        self.unexplained = self.share("unexplained")
        self.is_timed = bool(truth and truth.connections)

    def points(self, seconds):
        return 100 * seconds / self.seconds

    def share(self, *labels):
        return self.points(sum(self.labels[name]["seconds"] for name in labels if name in self.labels))

    def windows(self):
        """With the time whose second reason is the window."""
        beside = [name for name, label in self.labels.items() if name not in WINDOWS and set(WINDOWS) & set(label["also"] or ())]
        return self.share(*WINDOWS, *beside)

    def window_difference(self):
        return self.windows() - self.points(self.truth.window())

    def bounds_idle(self):
        return [self.points(bound) for bound in self.truth.idle()]

    def bounds_outage(self):
        return [self.points(reference.seconds(spans)) for spans in (self.truth.pauses, self.truth.recovered)]

    def idle_difference(self):
        return outside(self.share("application"), *self.bounds_idle())

    def outage_difference(self):
        return outside(self.share(*HARMED), *self.bounds_outage())

    def cells(self):
        shown = sorted(self.labels.items(), key=lambda item: -item[1]["seconds"])
        words = ", ".join(f"{name} {self.share(name):.0f}" for name, _ in shown if self.share(name) >= LEAST_SHOWN)
        yield from (self.run, f"{self.seconds:.1f} s", f"{8e-6 * self.bytes / self.seconds:.1f}", words)
        if self.is_timed:
            low, high = self.bounds_idle()
            yield f"{self.windows():.0f} / {self.points(self.truth.window()):.0f}"
            yield f"{self.window_difference():+.1f}"
            yield f"{self.share('application'):.0f} / {span(low, high)}"
            yield f"{self.idle_difference():+.1f}"
        else:
            yield from ("", "", "", "")
        yield f"{self.share(*HARMED):.0f} / {span(*self.bounds_outage())}" if self.truth else ""
        yield f"{self.outage_difference():+.1f}" if self.truth else ""
        yield f"{self.unexplained:.1f}"


def outside(value, low, high):
    """How far a value lies outside two others: 0 between them."""
    return value - min(max(value, low), high)


def span(low, high):
    return f"{low:.0f}" if f"{low:.0f}" == f"{high:.0f}" else f"{low:.0f}–{high:.0f}"


def side(document, account):
    """The side that sends in the direction of an account."""
    ends = document["tunnels"][account["tunnel"]]
    sender = ends["a" if account["direction"] == "a_to_b" else "b"]
    return "server" if sender.split(":")[0] == "10.9.0.1" else "client"


def of_run(folder):
    """(rows, stability) of a run."""
    document, truth = analysis(folder), reference.of(folder)
    rows = [Row(folder.name, account, truth.get(side(document, account))) for account in document["account"]]
    rows = [row for row in rows if row.truth]
    timed = [row for row in rows if row.is_timed]
    return rows, stability(folder, max(timed, key=lambda row: row.bytes)) if timed else {}


def stability(folder, row):
    """{kind of damage: (points, the label that it moves most)}."""
    account, moved = row.account, {}
    whole, middle = times(account), (row.truth.starts + row.truth.ends) / 2
    with tempfile.TemporaryDirectory() as space:
        for kind, files in damage.of(folder, middle, Path(space)):
            parts = [same(analysis(folder, trace=file), account) for file in files]
            if all(parts):
                moved[kind] = moves(whole, sum(map(times, parts), Counter()))
    return moved


def same(document, account):
    """The account of the same direction in another document."""
    return next((a for a in document["account"] if (a["tunnel"], a["direction"]) == (account["tunnel"], account["direction"])), None)


def times(account):
    return Counter({label["label"]: label["seconds"] for label in account["labels"]})


def moves(whole, other):
    """(points, label) that moved most; a label that is no longer told apart moves as one."""
    if "flight_limited" in other:
        whole, other = merged(whole), merged(other)
    share = {name: 100 * (other[name] / sum(other.values()) - whole[name] / sum(whole.values())) for name in whole | other}
    name = max(share, key=lambda name: abs(share[name]))
    return share[name], name


def merged(labels):
    one = ("receive_window", "send_buffer", "flight_limited")
    rest = Counter({name: seconds for name, seconds in labels.items() if name not in one})
    return rest + Counter({"flight_limited": sum(labels[name] for name in one)})


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
    """(label, share) of what was planted in the run."""
    name = row.run.partition(".")[0].removeprefix("account_")[:-2]
    return (PLANTED[name], row.share(PLANTED[name])) if name in PLANTED else None


def demands(rows, moved, paired):
    """The sentences on what is within its bounds."""
    timed = [row for row in rows if row.is_timed]
    fresh = [row for row in timed if row.run.startswith("account_")]
    for what, bound, values in (
        ("window", WITHIN, [row.window_difference() for row in timed]),
        ("idle", WITHIN, [row.idle_difference() for row in timed]),
        ("outage", OUTAGE_WITHIN, [row.outage_difference() for row in rows]),
        ("unexplained", UNEXPLAINED, [row.unexplained for row in timed]),
        ("unexplained, the worst", WORST_UNEXPLAINED, [row.unexplained for row in timed]),
        ("stability", STABLE, [points for of_run in moved.values() for points, _ in of_run.values()]),
        ("pairs, percent", 100 * PAIR_WITHIN, [float(row[-1].split()[0]) for row in paired]),
    ):
        yield f"- {what}: {sum(abs(v) <= bound for v in values)} of {len(values)} within {bound:.0f}"
    yield f"- fresh transfers: {len(fresh)}, {sum('_s.' in row.run for row in fresh)} of them captured at the sender's end"


def main():
    folders = sorted(p.parent for root in sys.argv[1:] for p in Path(root).glob("*/trace.pcap") if list(p.parent.glob("tcpinfo.*")))
    if not folders:
        sys.exit(f"{' '.join(sys.argv[1:])}: no runs with tcpinfo logs in it")
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(of_run, folders))
    rows = [row for of_one, _ in results for row in of_one]
    moved = {folder.name: of_one for folder, (_, of_one) in zip(folders, results) if of_one}
    paired = list(pairs(rows))
    print(HEAD)
    print("\n".join(demands(rows, moved, paired)))
    print("\n## Each transfer\n")
    heads = ["run", "time", "Mbit/s", "labels", "window / kernel", "Δ", "idle / kernel", "Δ", "outage / logs", "Δ", "unexplained"]
    print("\n".join(table(heads, (list(row.cells()) for row in rows))))
    print("\n## What was planted\n")
    print("\n".join(table(["run", "label", "share"], ([r.run, p[0], f"{p[1]:.0f}"] for r in rows if (p := planted(r))))))
    print("\n## With a factor and without it\n\nSeconds saved, and those that its labels are said to lose at the other run's rate.\n")
    print("\n".join(table(["with", "without", "labels", "saved", "lost", "difference"], paired)))
    print("\n## Damaged captures\n\nHow many points the label moves that moves most. Halves: both together against the whole.\n")
    kinds = list(dict.fromkeys(kind for of_one in moved.values() for kind in of_one))
    print("\n".join(table(["run", *kinds], (
        [name, *(f"{of_one[kind][0]:+.1f} {of_one[kind][1]}" if kind in of_one else "" for kind in kinds)]
        for name, of_one in moved.items()
    ))))


if __name__ == "__main__":
    main()
