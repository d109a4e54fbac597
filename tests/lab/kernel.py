"""What the sender's kernel says of a transfer, from tcpinfo.SIDE.log: how long it waited for the receiver's window, had nothing to
send, and made no progress. No packet, no key and no analysis is used."""

from dataclasses import dataclass, field

# Connections with less than this of their direction's bytes carry words, not data: the account leaves them out too.
LEAST_BYTES = 0.01
# No progress for this long is a silence: longer than the round trips of these runs, and two polls.
LEAST_SILENCE = 0.25
# A transfer is back when its data in flight is: the account's own share (rule 6).
BACK = 0.95
# tcpi_ca_state while nothing is missing or being sent again.
OPEN = 0
# Polls before a silence by which is told what was in flight.
BEFORE = 5


@dataclass
class Connection:
    """One data connection: (time, values) of each poll."""

    polls: list = field(default_factory=list)

    @property
    def bytes(self):
        return self.polls[-1][1]["bytes_sent"]

    def steps(self):
        """(from, until, values before, values after) between polls; a connection begins with nothing."""
        nothing = dict.fromkeys(self.polls[0][1], 0)
        before = (self.polls[0][0] - min(0.1, self.polls[0][1]["busy"] / 1e6), nothing)
        for after in self.polls:
            yield before[0], after[0], before[1], after[1]
            before = after

    def counted(self, name, without=()):
        """(from, until, seconds) that a counter ran between polls, outside some spans: evenly spread over that time."""
        for start, until, before, after in self.steps():
            if until > start:
                outside = 1 - overlap(start, until, without) / (until - start)
                yield start, until, (after[name] - before[name]) / 1e6 * outside

    def sampled(self, condition, without=()):
        """(from, until, seconds) before polls at which something held, outside some spans."""
        for start, until, _, values in self.steps():
            if condition(values):
                yield start, until, until - start - overlap(start, until, without)

    def silences(self):
        """(from, until) in which data was outstanding and nothing of it was acknowledged."""
        start = None
        for begins, until, before, after in self.steps():
            if after["acked"] == before["acked"] and before["unacked"]:
                start = begins if start is None else start
            elif start is not None:
                if until - start >= LEAST_SILENCE:
                    yield start, until
                start = None
        if start is not None and self.polls[-1][0] - start >= LEAST_SILENCE:
            yield start, self.polls[-1][0]

    def losses(self):
        """(from, until) between polls in which something was sent again."""
        for start, until, before, after in self.steps():
            if after["total_retrans"] > before["total_retrans"]:
                yield start, until

    def outstanding(self, start, until):
        """Whether something was unacknowledged in this time, as far as polls tell."""
        inside = [values["unacked"] for time, values in self.polls if start <= time <= until]
        return any(inside or [values["unacked"] for time, values in self.polls if time <= start][-1:])

    def back(self, start, until):
        """When, after a silence, as much is in flight as before, and nothing is being sent again."""
        earlier = sorted([values["unacked"] for time, values in self.polls if time <= start][-BEFORE:]) or [0]
        wanted = BACK * earlier[len(earlier) // 2]
        later = (time for time, values in self.polls if time >= until and values["ca"] == OPEN and values["unacked"] >= wanted)
        return next(later, self.polls[-1][0])


def overlap(start, until, spans):
    """How much of a time lies in spans that do not overlap."""
    return sum(max(0.0, min(until, b) - max(start, a)) for a, b in spans)


def inside(spans, others):
    """The parts of spans that lie in others; neither overlap among themselves."""
    parts = ((max(a, c), min(b, d)) for a, b in spans for c, d in others)
    return [(a, b) for a, b in parts if a < b]


def union(spans):
    """The same times in spans that do not overlap, in order."""
    joined = []
    for start, until in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(until, joined[-1][1]))
        else:
            joined.append((start, until))
    return joined


def connections(log):
    """The data connections of a log, as far as their data goes."""
    found = {}
    for line in log.read_text(encoding="utf-8").splitlines():
        time, _, local, *rest = line.split()
        if local == "xfrm" or len(rest) < 2:
            continue
        values = {name: int(value) for name, value in (word.split("=") for word in rest[1:])}
        polls = found.setdefault((local, rest[0]), Connection()).polls
        if values["bytes_sent"] and not (polls and values["bytes_sent"] == polls[-1][1]["bytes_sent"] and not values["unacked"]
                                         and values["acked"] == polls[-1][1]["acked"] and values["state"] != 1):
            polls.append((float(time), values))
    kept = [c for c in found.values() if c.polls]
    total = sum(c.bytes for c in kept)
    return [c for c in kept if c.bytes >= LEAST_BYTES * total]
