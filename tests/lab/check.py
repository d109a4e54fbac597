#!/usr/bin/env python3
"""Runs rekeyscope on a run of `capture.py` and compares it with the truth: `check.py FOLDER`.

One line per check; ends with the line "N passed, N failed". The binary is the environment's REKEYSCOPE.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import truth as truths
from compare import WITHIN, Comparison, seconds

# Linux does not send again before this (net.ipv4.tcp_rto_min_us): a longer outage holds back new data for certain.
CERTAIN_OUTAGE_S = 0.2


def key_files(folder):
    """The options that name a run's keys: its daemon's log, or the tables of a capture that has some."""
    log = folder / "charon.client.log"
    return [word for file in ([log] if log.exists() else sorted(folder.glob("keys.*"))) for word in ("--keys", file)]


def analysis(folder, keys=True, trace=None):
    """The document of the analyzer, of the run's capture or of another with the same keys."""
    command = [os.environ["REKEYSCOPE"], trace or folder / "trace.pcap", "-q", "--json", "-"]
    command += key_files(folder) if keys else ["--no-keys"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{folder}: rekeyscope failed: {done.stderr}")
    return json.loads(done.stdout)


def bare(spi):
    """Eight hex digits of an SPI of the document."""
    return spi.removeprefix("0x") if spi else None


class Checks:
    """The comparisons; each gives pairs (what, found, expected)."""

    def __init__(self, document, truth):
        self.document, self.truth = document, truth
        # The last SAs of a run may never carry a packet.
        self.rekeys_used = [r for r in document["rekeys"] if {bare(spi) for spi in r["new"].values()} & set(truth.packets)]
        self.pairs = truth.used_pairs()
        self.successions = list(zip(self.pairs, self.pairs[1:]))
        self.headline = document["impact"][0] if document["impact"] else None

    def named(self, *causes):
        """Indexes of the rekeys that one of these causes explains."""
        return {r["index"] for r in self.document["rekeys"] if any(i["cause"] in causes for i in r["impact"])}

    def packets(self):
        sas = [sa for sa in self.document["security_associations"] if sa["packets"]]
        yield "packets per SPI", {bare(sa["spi"]): sa["packets"] for sa in sas}, self.truth.packets
        yield "ICVs that fit", {bare(sa["spi"]): sa["icv"]["verified"] for sa in sas}, self.truth.packets
        ciphers = {sa["encryption"] for sa in sas}
        gcm = self.truth.variant["esp_proposal"].startswith("aes128gcm16")
        yield "encryption", ciphers, {"AES-GCM-16-128" if gcm else "AES-CBC-128"}

    def rekeys(self):
        if self.truth.variant["ike"] == 2 and any(kinds == truths.DELETES for _, kinds in self.truth.unasked):
            return  # a new SA after a Delete says of none that it replaces it (RFC 7296 §2.8)
        found = [(bare(r["new"]["b_to_a"]), bare(r["new"]["a_to_b"])) for r in self.rekeys_used]
        yield "new SPIs of the rekeys", found, [(new.inbound, new.outbound) for _, new in self.successions]
        found = [(bare(r["old"]["b_to_a"]), bare(r["old"]["a_to_b"])) for r in self.rekeys_used]
        yield "old SPIs of the rekeys", found, [(old.inbound, old.outbound) for old, _ in self.successions]

    def triggers(self):
        for rekey, (old, _) in zip(self.document["rekeys"], self.successions):
            if old.inbound in self.truth.soft or old.outbound in self.truth.soft:
                # IKEv2 puts no limit on the wire: volume and time may be indistinguishable, but time would be false.
                allowed = {"volume"} if self.truth.variant["ike"] == 1 else {"volume", "unknown"}
                kind = rekey["trigger"]["kind"]
                yield f"trigger of rekey {rekey['index']}", kind if kind in allowed else {kind}, kind

    def past_their_limit(self):
        """Indexes of the rekeys whose old SA expired while it was in use: those that have to be named, and all of them.

        Without a limit on the wire (IKEv2) data that is sent again to a silent receiver is the evidence: when iperf3 ends there is
        no such data, and its farewell breaks the silence; and a silence no longer than the smallest retransmission timeout is none.
        """
        allowed = {i for i, (old, new) in enumerate(self.successions) if self.truth.expired_in_use(old, new)}
        if self.truth.variant["ike"] == 1:
            return allowed, allowed
        return {i for i in allowed if self.successions[i][1].installed < self.truth.transfer_end
                and self.truth.outage(*self.successions[i]) >= CERTAIN_OUTAGE_S}, allowed

    def hard_limits(self):
        _, allowed = self.past_their_limit()
        yield "rekeys whose SA reached no limit, and is said to", self.named("limit_reached") - allowed, set()

    def with_a_lost_message(self):
        """Indexes of the rekeys of whose exchange the cable lost a message."""
        lost = {message_id for _, message_id in self.truth.planted}
        exchanges = self.document["exchanges"]
        return [
            r["index"] for r in self.document["rekeys"]
            if r["exchange"] is not None and bare(exchanges[r["exchange"]]["message_id"]) in lost
        ]

    def compared(self, keys=True):
        """Attempts, outages, causes and hurt rekeys against the logs, counted."""
        comparison = Comparison(self.document, self.truth, keys)
        comparison.attempts()
        comparison.unasked()
        comparison.outages()
        used = {r["index"] for r in self.rekeys_used for i in r["impact"] if i["hurt"]}
        unready = set(self.with_a_lost_message()) & used if self.truth.variant["drop_message"] == 3 else set()
        required, allowed = self.past_their_limit()
        comparison.causes(self.named, (required & used, allowed), unready)
        comparison.hurt_rekeys(self.successions)
        return comparison.tally

    def hides_losses(self):
        """The first copy of a lost message is not in the capture, so nothing shows that the second is one; or messages are lost at
        random, and no log tells which."""
        planted_unseen = self.truth.planted and self.truth.variant["captured_at"] == "server"
        return planted_unseen or self.truth.variant["loss"] > 0 or self.truth.loses_ike()

    def losses_of_messages(self):
        """A message that the cable lost was sent again: exactly those exchanges have a retransmission."""
        if self.hides_losses():
            return
        exchanges = self.document["exchanges"]
        again = [r["index"] for r in self.document["rekeys"] if r["exchange"] is not None and exchanges[r["exchange"]]["retransmissions"]]
        yield "rekeys with a repeated message", again, self.with_a_lost_message()

    def unplanted(self, used):
        """Those of the used rekeys to which nothing was done: no SA expired in use, no message of the exchange was lost, and data
        arrived all the time."""
        if self.truth.variant["loss"] > 0:
            return set()  # the wire loses messages of exchanges too, and no log tells which
        outages = {i for i, (old, new) in enumerate(self.successions)
                   if self.truth.outage(old, new) > 0 or self.truth.expired_in_use(old, new) or self.truth.harmed(new) > 0}
        return set(used) - outages - set(self.with_a_lost_message())

    def of_headline(self):
        """The indexes of the rekeys that were used in the headline's direction, and what each did to it."""
        tunnel, direction = self.headline["tunnel"], self.headline["direction"]
        own = {r["index"]: i for r in self.rekeys_used if r["tunnel"] == tunnel for i in r["impact"] if i["direction"] == direction}
        return {index: impact for index, impact in own.items() if impact["used"]}

    def nothing_planted(self):
        """Where nothing was done to a rekey it owns no silence. The test of slowness may be wrong once in a hundred runs."""
        if self.headline is None:
            return
        used = self.of_headline()
        silent = {index for index, impact in used.items() if impact["hurt"] and impact["why"] != "slow"}
        yield "rekeys that own a silence without an outage", silent & self.unplanted(used), set()

    def silences(self):
        """Silences of the headline's direction that a rekey or a failure owns, seconds since 1970."""
        own = [of for of in self.document["ledger"] if all(of[key] == self.headline[key] for key in ("tunnel", "direction"))]
        intervals = [i for of in own for rekey in of["rekeys"] for i in rekey["intervals"]] + [d["interval"] for of in own for d in of["down"]]
        return [(seconds(i["from"]), seconds(i["arrived"] or i["to"])) for i in intervals]

    def missed(self, outage):
        """Seconds of an outage, up to the end of the transfer, in which by the ledger nothing stood still."""
        begin, end = outage[0], min(outage[1], seconds(self.headline["transfers"][-1]["end"]))
        return end - begin - sum(max(0.0, min(end, to) - max(begin, since)) for since, to in self.silences())

    def verdict(self):
        if self.headline is None:
            yield "a headline", None, "one"
            return
        verdict = self.headline["verdict"]
        if self.truth.fails():
            yield "verdict", verdict, "failed"
            return
        if not self.successions:
            yield "verdict", verdict, "no_rekeys"
            return
        if self.truth.variant["direction"] != "down":
            return
        used = self.of_headline()
        certain = {index: (self.truth.hard[old.inbound], new.installed) for index, (old, new) in enumerate(self.successions)
                   if index in used and self.truth.outage(old, new) >= CERTAIN_OUTAGE_S}
        # A packet that passes the capture before the client has its SA may come after that.
        late = WITHIN + self.truth.variant["delay_ms"] / 1_000
        missed = {index for index, outage in certain.items() if self.missed(outage) > late}
        yield "rekeys with an outage that the ledger lacks in part", missed, set()
        if used and 2 * len(certain) >= len(used):
            yield "verdict", verdict, "shown"

    def all(self):
        groups = [self.packets, self.rekeys, self.triggers, self.hard_limits, self.losses_of_messages, self.verdict,
                  self.nothing_planted]
        for group in groups[:1] if self.truth.variant["by_hand"] else groups:
            yield from group()


def main():
    folder = Path(sys.argv[1])
    truth = truths.read(folder)
    checks = Checks(analysis(folder), truth)
    passed = failed = 0
    for what, found, expected in checks.all():
        if found == expected:
            passed += 1
        else:
            failed += 1
            print(f"FAILED: {truth.variant['name']}: {what}: {found} instead of {expected}")
    if not truth.variant["by_hand"]:
        tally = checks.compared()
        passed += sum(n for (_, _, kind), n in tally.counts.items() if kind == "TP")
        failed += len(tally.wrong)
        for wrong in tally.wrong:
            print(f"FAILED: {truth.variant['name']}: {wrong}")
    print(f"{truth.variant['name']}: {len(truth.used_pairs())} pairs of SAs; {passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
