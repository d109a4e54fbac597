"""Attempts, outages, causes and hurt rekeys of a document against the truth of its run, counted by class."""

from collections import Counter
from datetime import datetime

# Start and length of an outage agree within this, seconds.
WITHIN = 0.05
# The first message of an attempt is the same frame in the log's truth and in the document.
SAME_MESSAGE = 0.001
# An event is said within this of the log's, seconds.
SAME_EVENT = 0.5
# Outages at a switch that the ledger has to find, and the shortest that it may blame a rekey for, seconds.
LEAST_FOUND, LEAST_HARM = 0.08, 0.05
# Checks of the peer without an answer, or packets that did not arrive, that no chance explains.
LEAST_CHECKS = 3
# Outages between transfers and at their ends that a document has to have: a sender notices what is longer than the smallest
# retransmission timeout.
LEAST_OUTAGE = 0.25


def seconds(time):
    """Seconds since 1970 of a time of the document, which has nanoseconds."""
    whole, _, fraction = time.removesuffix("Z").partition(".")
    return datetime.fromisoformat(whole + "+00:00").timestamp() + float(f"0.{fraction or 0}")


def within(time, delivered):
    """It lies between the times of a packet at both ends of the tunnel, give or take `WITHIN`."""
    return delivered.sent - WITHIN <= time <= delivered.came + WITHIN


class Tally:
    """True and false positives and false negatives by class, and a line for each that is wrong."""

    def __init__(self):
        self.counts, self.wrong = Counter(), []

    def add(self, group, name, kind, said=""):
        self.counts[(group, name, kind)] += 1
        if kind != "TP":
            self.wrong.append(f"{group} {name} {kind}{': ' if said else ''}{said}")

    def sets(self, group, name, found, expected, said=""):
        """Compares two sets of the same kind of thing."""
        for _ in found & expected:
            self.add(group, name, "TP")
        for one in sorted(found - expected):
            self.add(group, name, "FP", f"{said} {one}".strip())
        for one in sorted(expected - found):
            self.add(group, name, "FN", f"{said} {one}".strip())


class Comparison:
    """One document against one truth. With `keys` False only what needs none is compared."""

    def __init__(self, document, truth, keys=True):
        self.document, self.truth, self.keys, self.tally = document, truth, keys, Tally()
        self.began = seconds(document["capture"]["first_time"])
        # Pairs of (attempt of the document, attempt of the truth).
        self.matched = []

    def at(self, time):
        return f"{time - self.began:.2f} s"

    def attempts(self):
        """Outcome, reason and transmissions of every attempt."""
        exchanges = self.document["exchanges"]
        left = list(self.truth.attempts)
        for attempt in self.document["attempts"]:
            time = seconds(attempt["first_time"])
            number = exchanges[attempt["exchange"]]["message_id"].removeprefix("0x")
            own = [t for t in left if t.message_id == number and abs(t.time - time) <= SAME_MESSAGE]
            if not own:
                self.tally.add("attempt", attempt["outcome"], "FP", f"at {self.at(time)}, no such request in the logs")
                continue
            left.remove(own[0])
            self.matched.append((attempt, own[0]))
            self.outcome(attempt, own[0])
        for attempt in left:
            self.tally.add("attempt", attempt.outcome, "FN", f"at {self.at(attempt.time)}, not in the document")

    def unasked(self):
        """SAs that ended although nobody had asked for new ones. IKEv2 says no limits (RFC 7296 §2.8), and without keys neither a limit nor a
        Delete is read."""
        events = [(seconds(event["time"]), event["kind"]) for event in self.document["events"]]
        for time, kinds in self.truth.unasked if self.keys else ():
            if "limit_reached" in kinds and self.truth.variant["ike"] == 2:
                continue
            said = any(kind in kinds and abs(at - time) <= SAME_EVENT for at, kind in events)
            self.tally.add("event", min(kinds), "TP" if said else "FN", f"at {self.at(time)}")

    def outcome(self, attempt, true):
        at = f"at {self.at(true.time)}"
        # Which of two colliding exchanges made the SAs in use, only the SPIs in them tell.
        either = not self.keys and {attempt["outcome"], true.outcome} == {"completed", "superseded"}
        if attempt["outcome"] == true.outcome or either:
            self.tally.add("attempt", true.outcome, "TP")
        else:
            self.tally.add("attempt", true.outcome, "FN", f"{at}: {attempt['outcome']}")
            self.tally.add("attempt", attempt["outcome"], "FP", f"{at}: {true.outcome}")
        if true.outcome == "refused" and self.keys:
            # IKEv1 writes it with hyphens.
            kind = "TP" if (attempt["reason"] or "").replace("-", "_") == true.reason else "FN"
            self.tally.add("reason", true.reason, kind, f"{at}: {attempt['reason']}")
        if true.copies:
            kind = "TP" if attempt["transmissions"] == len(true.copies) else "FN"
            self.tally.add("transmissions", "all", kind, f"{at}: {attempt['transmissions']} instead of {len(true.copies)}")

    def sides(self):
        """The side that sends in each direction of the document."""
        ends = self.document["tunnels"][0]
        server_is_a = ends["a"].startswith("10.9.0.1") and not ends["a"].startswith("10.9.0.10")
        return {"a_to_b": "server" if server_is_a else "client", "b_to_a": "client" if server_is_a else "server"}

    def outages(self):
        """Start and length."""
        sides, left = self.sides(), {side: self.truth.outages(side) for side in self.truth.silent}
        for outage in self.document["outages"]:
            side, start = sides[outage["direction"]], seconds(outage["start"])
            end = start + outage["seconds"]
            if side not in self.truth.silent:
                # A few words between transfers: nothing is expected of them, and what is said has to be true.
                lost = [time for time in self.truth.lost[side] if start - WITHIN <= time <= end + WITHIN]
                is_broken = len(lost) >= LEAST_CHECKS or any(a - SAME_EVENT <= start <= b for a, b, _ in self.truth.broken)
                self.tally.add("outage", "of a resting side", "TP" if is_broken else "FP", f"{side} {self.at(start)}")
                continue
            near = [(s, why) for s, why in left[side] if s.start < end and start < s.start + s.seconds(self.truth.ends)]
            said = f"{side} {self.at(start)} + {outage['seconds']:.2f} s"
            if not near:
                self.tally.add("outage", "any", "FP", said)
                continue
            silence, why = max(near, key=lambda pair: pair[0].seconds(self.truth.ends))
            left[side].remove((silence, why))
            length = silence.seconds(self.truth.ends)
            self.tally.add("outage", why, "TP")
            readings = self.truth.readings[side]
            begins = any(within(start, reading.first) for reading in readings)
            ends = silence.last is None or any(reading.last and within(end, reading.last) for reading in readings)
            exact = begins and ends
            wanted = f"{said} instead of {self.at(silence.start)} + {length:.2f} s"
            self.tally.add("outage within 50 ms", why, "TP" if exact else "FN", wanted)
            is_open, closed = silence.end is None, self.truth.closed[side]
            # A connection that a side closed is over for that side, and open for a sender that goes on trying.
            if is_open and closed is not None and closed >= silence.start:
                continue
            self.tally.add("outage left open", "all", "TP" if is_open == outage["at_least"] else "FN", said)
        for side, silences in left.items():
            for silence, why in silences:
                length = silence.seconds(self.truth.ends)
                in_transfer = silence.start < self.truth.transfer_end
                if length < LEAST_OUTAGE or not in_transfer or not (self.keys or self.failed_in(silence)):
                    continue
                self.tally.add("outage", why, "FN", f"{side} {self.at(silence.start)} + {length:.2f} s")

    def failed_in(self, silence):
        """An attempt failed around a silence, so that it shows without keys that it is no rest."""
        until = silence.start + silence.seconds(self.truth.ends)
        return any(a.causes and a.time <= until and a.copies[-1] >= silence.start - 10 for a in self.truth.attempts)

    def causes(self, named, hard_limits, unready):
        """Causes that a log tells for certain. `named`: indexes of the rekeys that one of some causes explains; hard limits that have to be
        named and those that may be; responders that lacked the third message."""
        checks = self.truth.unanswered_checks >= LEAST_CHECKS and (self.keys or self.truth.variant["ike"] == 2)
        found = {"run"} if any(event["kind"] == "checks_unanswered" for event in self.document["events"]) else set()
        # IKEv1 asks in exchanges that nobody without keys tells from others.
        self.tally.sets("event", "checks_unanswered", found, {"run"} if checks else set())
        if not self.keys:
            return
        silent = {"peer_silent", "path_silent", "peer_restarted", "invalid_spi"}
        explained = {outage["explanation"]["cause"] for outage in self.document["outages"] if outage["explanation"]}
        blackhole = any(action == "blackhole" for _, action in self.truth.events)
        if blackhole:
            self.tally.sets("cause", "silent peer", {"run"} & ({"run"} if explained & silent else set()), {"run"})
        required, allowed = hard_limits
        limit = named("limit_reached") - (allowed - required)
        # A request that nobody answered in time is why the limit was reached, and is named before it.
        late = named("unanswered", "answer_lost") & required
        self.tally.sets("cause", "limit_reached", limit | late, required, "rekey")
        self.tally.sets("cause", "third message lost", named("answer_lost", "new_sa_lost") & unready, unready, "rekey")

    def hurt_rekeys(self, successions):
        """Whether each rekey hurt each direction, against what arrived."""
        if not self.keys:
            return
        for rekey in self.document["rekeys"]:
            for impact in rekey["impact"]:
                side = self.sides()[impact["direction"]]
                if impact["used"] and side in self.truth.silent and rekey["index"] < len(successions):
                    self.hurt(rekey, impact, side, successions[rekey["index"]][1])

    def hurt(self, rekey, impact, side, new):
        switch = self.truth.first.get(new.inbound if side == "server" else new.outbound)
        if switch is None:
            return
        harm = self.truth.harm(side, switch)
        name, why, told = f"rekey {rekey['index'] + 1} {side}", impact["why"], f"{harm * 1e3:.0f} ms by the logs"
        if why == "slow":
            return  # no log tells of it
        if impact["hurt"]:
            said = f"{name}: {impact['silence_ms']:.0f} ms, {told}"
            self.tally.add("hurt", why, "TP" if harm >= LEAST_HARM else "FP", said)
        elif harm >= LEAST_FOUND and not self.is_down(rekey, impact["direction"], switch):
            self.tally.add("hurt", "none", "FN", f"{name}: {told}")

    def is_down(self, rekey, direction, switch):
        """The ledger has the switch to a rekey's SA in a time that it puts down to a failure."""
        down = [d for of in self.document["ledger"] if (of["tunnel"], of["direction"]) == (rekey["tunnel"], direction) for d in of["down"]]
        times = [(seconds(d["interval"]["from"]), seconds(d["interval"]["to"])) for d in down]
        return any(since - WITHIN <= switch <= to + WITHIN for since, to in times)
