#!/usr/bin/env python3
"""Saved runs of `capture.py` against their logs, as Markdown: `table.py FOLDER [PAIRS]`, with a run in each folder below it, and those of
`tests/lab/pairs` below the second one.

Each run is analysed with keys and without. The binary is the environment's REKEYSCOPE.
"""

import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import truth as truths
from check import Checks, analysis
from compare import LEAST_HARM
from pairs import section

HEAD = """# Fresh captures against their logs

Made by `tests/lab/campaign FOLDER && tests/lab/pairs PAIRS && tests/lab/run --again FOLDER PAIRS > docs/evidence/lab.md` (as root): real strongSwan daemons in two network
namespaces; each run is one of `tests/lab/variants.py`. The truth comes from the daemons' logs, from the cable's log and from what
tcpdump saw on the TUN devices of both ends (`tests/lab/README.md`), never from the analysis. Each run was analysed with its keys
and again without.
"""


def of_run(folder):
    """(name, row of the table, counts with keys, counts without, lines that say what is wrong)."""
    truth = truths.read(folder)
    checks = Checks(analysis(folder), truth)
    tally = checks.compared()
    unread = Checks(analysis(folder, keys=False), truth)
    without = unread.compared(keys=False)
    failed = [
        f"{what}: {found} instead of {expected}" for what, found, expected in checks.all() if found != expected
    ]
    impact = checks.document["impact"]
    row = {
        "rekeys": len(checks.document["rekeys"]),
        "harmed": sum(truth.harmed(new) >= LEAST_HARM for new in truth.used_pairs()[1:]),
        "outcomes": words(truth.attempts, lambda attempt: attempt.outcome),
        "outages": ", ".join(
            f"{s.seconds(truth.ends):.2f} s{'' if s.end is not None else ' or more'}" for side in truth.undelivered
            for s, _ in truth.outages(side)
        ),
        "verdict": impact[0]["verdict"] if impact else "",
        "unread": unread.document["impact"][0]["verdict"] if unread.document["impact"] else "",
    }
    wrong = failed + tally.wrong + [f"without keys: {line}" for line in without.wrong]
    return folder.name, row, tally.counts, without.counts, wrong


def words(things, key):
    """How many of what: "3 completed, 1 refused"."""
    return ", ".join(f"{n} {word}" for word, n in sorted(Counter(map(key, things)).items()))


def share(part, whole):
    return f"{100 * part / whole:.0f} %" if whole else "–"


def classes(title, counts):
    """A table of counts: precision and recall of each class."""
    lines = [f"\n## {title}\n", "| what | class | right | wrong | missed | precision | recall |", "|---|---|--:|--:|--:|--:|--:|"]
    for group, name in sorted({(group, name) for group, name, _ in counts}):
        tp, fp, fn = (counts[(group, name, kind)] for kind in ("TP", "FP", "FN"))
        lines.append(f"| {group} | {name} | {tp} | {fp} | {fn} | {share(tp, tp + fp)} | {share(tp, tp + fn)} |")
    return "\n".join(lines)


def main():
    folders = sorted(path.parent for path in Path(sys.argv[1]).glob("*/variant.json"))
    if not folders:
        sys.exit(f"{sys.argv[1]}: no runs in it")
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        runs = list(pool.map(of_run, folders))
    print(HEAD)
    print(f"{len(runs)} runs, {sum(row['rekeys'] for _, row, *_ in runs)} rekeys.\n")
    print("| run | rekeys | harmed | attempts | outages | verdict | without keys | wrong |\n|---|--:|--:|---|---|---|---|---|")
    total, unread, remarks = Counter(), Counter(), []
    for name, row, counts, without, wrong in runs:
        total.update(counts)
        unread.update(without)
        cells = [name, *(str(row[key]) for key in ("rekeys", "harmed", "outcomes", "outages", "verdict", "unread"))]
        print(f"| {' | '.join(cells)} | {len(wrong) or ''} |")
        remarks += [f"- `{name}`: {line}" for line in wrong]
    print(classes("With keys, against the logs", total))
    print(classes("Without keys, against the logs", unread))
    if remarks:
        print("\n## What differs\n")
        print("\n".join(remarks))
    if len(sys.argv) > 2:
        print(f"\n{section(Path(sys.argv[2]))[0]}")


if __name__ == "__main__":
    main()
