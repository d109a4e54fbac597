"""What became of each attempt to make or renew child SAs: from the daemons' logs, for those whose messages passed the capture."""

import re
from dataclasses import dataclass, field

QUICK_MODE, CREATE_CHILD_SA = 32, 36
# charon's short names of the notifications that refuse, and the RFCs'.
REFUSALS = {
    "NO_PROP": "NO_PROPOSAL_CHOSEN", "INVAL_KE": "INVALID_KE_PAYLOAD", "TS_UNACCEPT": "TS_UNACCEPTABLE",
    "TEMP_FAIL": "TEMPORARY_FAILURE", "INVAL_ID": "INVALID_ID_INFORMATION", "CHILD_NOTFOUND": "CHILD_SA_NOT_FOUND",
    "NO_CHILD_SAS": "NO_ADDITIONAL_SAS",
}
LINE = re.compile(r"^(\d+\.\d+) (\d+)\[[A-Z]+\] (.*)$", re.MULTILINE)
# A request of a child SA: its first message has SA and traffic selectors (IKEv1: SA and nonce).
REQUEST = re.compile(r"generating (QUICK_MODE|CREATE_CHILD_SA) request (\d+) \[ (.*) \]")
AGAIN = re.compile(r"(?:sending )?retransmit \d+ of request (?:with )?message ID (\d+)")
RESPONSE = re.compile(r"parsed (?:QUICK_MODE|CREATE_CHILD_SA) response (\d+) \[ (.*) \]")
INFORMATIONAL = re.compile(r"parsed INFORMATIONAL_V1 request \d+ \[ (.*) \]")
ESTABLISHED = re.compile(r"CHILD_SA \w+\{\d+\} established with SPIs ([0-9a-f]{8})_i ([0-9a-f]{8})_o")
NOTIFY = re.compile(r"N\((\w+)\)")


@dataclass
class AttemptTruth:
    """One request, as its sender's log tells it. `message_id` is eight hex digits."""

    message_id: str
    side: str
    # When its first message passed the capture.
    time: float
    transmissions: int = 0
    outcome: str = ""
    reason: str | None = None
    spis: tuple = ()
    answered: float | None = None
    copies: list = field(default_factory=list)

    @property
    def causes(self):
        """Causes that belong to it for certain."""
        if self.outcome == "refused":
            return {"rekey_refused"}
        late = self.outcome in ("completed", "completed_unused") and len(self.copies) >= 3
        if self.outcome == "unanswered" or late:
            return {"rekey_unanswered"}
        return set()


def refusal(payloads):
    names = [REFUSALS[n] for n in NOTIFY.findall(payloads) if n in REFUSALS]
    return names[0] if names else None


def of_side(side, log, tap):
    """The attempts of one daemon. `tap`: (time, exchange type, message ID, source) of the IKE messages that were captured."""
    asked, by_thread = {}, {}
    for time, thread, said in LINE.findall(log):
        if said.startswith("parsed "):
            by_thread[thread] = None  # a thread works on one message at a time
        if match := REQUEST.search(said):
            kind, number, payloads = match.groups()
            own = f"{int(number):08x}"
            first = "SA" in payloads.split() and (kind == "QUICK_MODE" or "TSi" in payloads.split())
            if first:
                asked[(own, float(time))] = AttemptTruth(own, side, float(time), 1)
        elif match := AGAIN.search(said):
            newest(asked, f"{int(match[1]):08x}", lambda a: setattr(a, "transmissions", a.transmissions + 1))
        elif match := RESPONSE.search(said):
            attempt = newest(asked, f"{int(match[1]):08x}", lambda a: setattr(a, "answered", float(time)))
            by_thread[thread] = attempt
            if attempt and (reason := refusal(match[2])):
                attempt.outcome, attempt.reason = "refused", reason
        elif match := INFORMATIONAL.search(said):
            waiting = [a for a in asked.values() if a.answered is None]
            if waiting and (reason := refusal(match[1])):
                waiting[-1].outcome, waiting[-1].reason, waiting[-1].answered = "refused", reason, float(time)
        elif (match := ESTABLISHED.search(said)) and by_thread.get(thread):
            by_thread[thread].spis = match.groups()
    captured = []
    for (own, logged), attempt in asked.items():
        copies = [t for t, kind, number, source in tap
                  if number == own and kind in (QUICK_MODE, CREATE_CHILD_SA) and source == side
                  and logged - 0.5 <= t and (attempt.answered is None or t <= attempt.answered)]
        if copies:
            attempt.time, attempt.copies = copies[0], copies
            captured.append(attempt)
    return captured


def newest(asked, number, change):
    """Changes the newest attempt with a message ID."""
    own = [a for (message_id, _), a in asked.items() if message_id == number]
    if not own:
        return None
    change(own[-1])
    return own[-1]


def attempts(logs, tap, used, ends, retransmit_s):
    """All of both sides that were captured. `used`: SPIs that carried packets; `ends`: the last captured packet."""
    found = [a for side, log in logs.items() for a in of_side(side, log, tap)]
    found.sort(key=lambda a: a.time)
    for attempt in found:
        if attempt.outcome:
            continue
        if attempt.spis:
            attempt.outcome = "completed" if used & set(attempt.spis) else "completed_unused"
        elif attempt.answered is None:
            due = len(attempt.copies) >= 3 or ends - attempt.copies[-1] > retransmit_s
            attempt.outcome = "unanswered" if due else "cut"
        else:
            attempt.outcome = "completed_unused"
    for attempt in found:
        rivals = [r for r in found if r.side != attempt.side and r.outcome == "completed"
                  and r.time <= (attempt.answered or ends) and attempt.time <= (r.answered or ends)]
        if attempt.outcome == "completed_unused" and rivals:
            attempt.outcome = "superseded"
    return found
