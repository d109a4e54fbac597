"""Saved runs of `tests/lab/pairs` as Markdown: `pairs.py FOLDER`. The binary is the environment's REKEYSCOPE."""

import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from check import analysis
from compare import seconds
from paired import PAIRS, REPETITIONS

HEAD = """## What rekeys cost, against runs without them

Made by `tests/lab/pairs FOLDER` (as root), or of saved runs by `tests/lab/pairs --evaluate FOLDER`. Each pair of `tests/lab/paired.py` ran
{repetitions} times with rekeys and {repetitions} times without, and differs in nothing else. The truth needs no analysis: T · (1 − rate with /
rate without), with the rates of iperf3's receiver, and of the runs without rekeys the median. The ledger is `ledger[].cost_seconds` of
the run with rekeys, and what stands in `down`: half a second in which an SA is over and nobody has asked yet, as where an initiator
computes before it asks, is time without a tunnel. iperf3's receiver stops counting at T, while what the sender has in its buffer still
arrives: of a cost that begins before T and ends after it, the part before T counts, and what begins later is left out. Seconds: median (least – most). A pair agrees where the median difference is at most
10 % of the median truth, or at most 1 % of T, and where the ledger of no run without rekeys says more than 1 % of T.

| pair | path | rekeys | T | rate without, Mbit/s | truth | ledger | ledger − truth | of it tunnel down | without rekeys | |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|"""
WITHIN_TRUTH, WITHIN_TIME = 0.10, 0.01


@dataclass
class Run:
    """One run: the receiver's seconds and rate, and what the ledger says of its direction."""

    seconds: float
    rate: float
    rekeys: int
    cost: float
    down: float


def read(folder):
    """The run in a folder, else None."""
    if not (folder / "variant.json").exists():
        return None
    received = json.loads((folder / "iperf3.0.json").read_text())["end"]["sum_received"]
    document = analysis(folder)
    ledger = max(document["ledger"], key=lambda of: of["bytes"])
    own = [one for one in document["impact"] if all(one[key] == ledger[key] for key in ("tunnel", "direction"))]
    end = seconds(own[0]["transfers"][0]["start"]) + received["seconds"]
    cost = sum(until(end, one["cost_seconds"], one["intervals"]) for one in ledger["rekeys"])
    down = sum(until(end, one["cost_seconds"], [one["interval"]]) for one in ledger["down"])
    rate = received["bytes"] * 8e-6 / received["seconds"]
    return Run(received["seconds"], rate, len(document["rekeys"]), cost, down)


def until(end, cost, intervals):
    """The part of a cost that lies before a moment, by the lengths of its intervals."""
    spans = [(seconds(one["from"]), seconds(one["to"])) for one in intervals]
    whole = sum(to - since for since, to in spans)
    before = sum(max(0.0, min(to, end) - since) for since, to in spans)
    return cost * before / whole if whole else cost


def spread(values, digits=2):
    """Median and range."""
    return f"{median(values):.{digits}f} ({min(values):.{digits}f} – {max(values):.{digits}f})"


def row(name, runs, without):
    """The line of a pair, and whether it agrees."""
    variant = PAIRS[name]
    way = f"{variant.rate.removesuffix('mbit')} Mbit/s, {2 * variant.delay_ms:.0f} ms{', up' if variant.direction == 'up' else ''}"
    head = f"| `{name}`: {variant.about} | {way} |"
    if not runs or not without:
        return f"{head} {'|' * 8} no runs |", False
    usual = median(run.rate for run in without)
    truths = [run.seconds * (1 - run.rate / usual) for run in runs]
    costs = [run.cost + run.down for run in runs]
    differences = [cost - truth for cost, truth in zip(costs, truths)]
    seconds = median(run.seconds for run in runs)
    agrees = abs(median(differences)) <= max(WITHIN_TRUTH * median(truths), WITHIN_TIME * seconds)
    agrees = agrees and all(run.cost + run.down <= WITHIN_TIME * run.seconds for run in without)
    cells = (
        f"{median(run.rekeys for run in runs):.0f}", f"{seconds:.1f}", spread([run.rate for run in without]), spread(truths), spread(costs),
        spread(differences), f"{max(run.down for run in runs):.2f}", f"{max(run.cost + run.down for run in without):.2f}",
        "agrees" if agrees else "**differs**",
    )
    return f"{head} {' | '.join(cells)} |", agrees


def section(folder):
    """The table, and whether all pairs agree."""
    names = [(name, which, number) for name in PAIRS for which in ("with", "without") for number in range(1, REPETITIONS + 1)]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        read_runs = pool.map(read, (folder / f"pair_{name}_{which}.{number}" for name, which, number in names))
        runs = dict(zip(names, read_runs))
    lines, agreeing = [HEAD.format(repetitions=REPETITIONS)], []
    for name in PAIRS:
        of = {which: [run for (n, w, _), run in runs.items() if (n, w) == (name, which) and run] for which in ("with", "without")}
        line, agrees = row(name, of["with"], of["without"])
        lines.append(line)
        agreeing.append(agrees)
    lines.append(f"\n{sum(agreeing)} of {len(agreeing)} pairs agree.")
    return "\n".join(lines), all(agreeing)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: pairs.py FOLDER")
    text, agree = section(Path(sys.argv[1]))
    print(text)
    sys.exit(not agree)


if __name__ == "__main__":
    main()
