//! The end of an analysis: what waits is taken in, what was left open is settled, and what the bounds left out is said.

use super::Analyzer;
use crate::pipeline::record::{Record, place};
use rekeyscope_ipsec::esp::cipher::wipe_deep_stack;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_keylog::reading::mine::MOST_TRIALS_PER_SPI;
use rekeyscope_model::analysis::{ExchangeKind, MOST_EVENTS};
use rekeyscope_model::text::Message;

impl Analyzer {
    /// Ends the analysis: what it remembers of the capture.
    pub fn finish(mut self) -> Record {
        self.release_held();
        for sa in self.record.sas.last_try() {
            self.open_waiting(sa);
        }
        self.flush();
        self.nested.finish(&mut self.record.diagnostics);
        self.settle_initiators();
        self.close_windows(None);
        if let Some(framing) = &mut self.framing {
            framing.finish(&mut self.record.diagnostics);
        }
        self.take_incomplete();
        self.record.sas.settle_unused();
        for (kind, layer, frame, message) in self.oddities() {
            self.record.diagnostics.count(kind, layer, frame, || message);
        }
        self.record.clock_step = self.clock.coarse_step();
        self.record.copies_apart = self.duplicates.apart();
        wipe_deep_stack();
        self.record
    }

    /// IKE messages that were given up since the last look, which are all counted as datagrams, and first fragments of ESP alone.
    pub(super) fn take_incomplete(&mut self) {
        let Some(framing) = &mut self.framing else { return };
        self.record.first_fragments = framing.first_fragments_alone();
        self.record.cut_packets = framing.cut_packets();
        self.record.pppoe_ended.extend(framing.take_pppoe_ended());
        let given_up = framing.take_incomplete_ike();
        let room = MOST_EVENTS.saturating_sub(self.record.incomplete_ike.len());
        self.record.incomplete_ike.extend(given_up.into_iter().take(room));
    }

    /// Oddities that are known at the end only.
    fn oddities(&self) -> Vec<Oddity> {
        let record = &self.record;
        let mut found = Vec::new();
        let (stretches, silences) = record.traffic.left_out();
        let recorder = &record.diagnosis.recorder;
        for (kind, id, what, left_out) in [
            (
                "stretches_left_out",
                "oddity-stretches-left-out",
                "stretches",
                stretches,
            ),
            (
                "silences_left_out",
                "oddity-silences-left-out",
                "silences",
                silences,
            ),
            (
                "close_up_shortened",
                "oddity-close-up-shortened",
                "rekeys",
                recorder.shortened,
            ),
            (
                "close_up_left_out",
                "oddity-close-up-left-out",
                "rekeys",
                recorder.unopened,
            ),
        ] {
            if left_out > 0 {
                found.push((kind, "analysis", None, Message::new(id).with(what, left_out)));
            }
        }
        let forgot = self.seen.forgotten() > 0 || self.duplicates.forgot();
        for (kind, id, is_so) in [
            ("forgot_packets", "oddity-forgot-packets", forgot),
            ("no_series", "oddity-no-series", record.meters.dropped() > 0),
        ] {
            found.extend(is_so.then(|| (kind, "analysis", None, Message::new(id))));
        }
        let (trials, gave_up) = record.sas.mining_effort();
        let (kind, id) = match gave_up {
            false => ("mining", "oddity-mining"),
            true => ("mining_gave_up", "oddity-mining-gave-up"),
        };
        let mined = || {
            Message::new(id)
                .with("trials", trials)
                .with("most", MOST_TRIALS_PER_SPI)
        };
        found.extend((trials > 0).then(|| (kind, "keys", None, mined())));
        found.extend(record.wanted_sas().flat_map(of_proof));
        // Claims that fit no packet of the SA that they name, where another key does.
        let wrong = record.sas.wrong_claims();
        found.extend(wrong.iter().map(|claim| {
            let message = Message::new("oddity-wrong-key").with("place", place(record, &claim.origin));
            ("wrong_key", "keys", None, message)
        }));
        found.extend(self.closed_carriers());
        found
    }

    /// A chosen tunnel inside ESP lacks what the SAs around it kept, and those are not in the document.
    fn closed_carriers(&self) -> impl Iterator<Item = Oddity> {
        let record = &self.record;
        let around = self.nested.carriers.iter();
        let around = around.filter(|&&t| self.nested.chosen_inside && !record.wants(t));
        let sas = around.flat_map(|&tunnel| record.sas_of(tunnel));
        let closed = sas.filter(|a| a.counters.opened < a.counters.packets);
        closed.map(|a| {
            (
                "closed_around",
                "ESP",
                first_frame(a),
                Message::new("oddity-closed-around"),
            )
        })
    }

    /// The side that began IKE, by the first exchange of each tunnel that tells: the capture may begin in the middle of one. Exchanges of a tunnel
    /// that turned out to be the beginning of another one are that one's.
    pub(super) fn settle_initiators(&mut self) {
        for tunnel in self.record.exchange_tunnels.iter_mut().flatten() {
            *tunnel = self.record.tunnels.whole(*tunnel);
        }
        for (exchange, tunnel) in self
            .record
            .timeline
            .exchanges()
            .iter()
            .zip(&self.record.exchange_tunnels)
        {
            let ike_sa = exchange.ike_sa.map(|sa| &self.record.timeline.ike_sas()[sa]);
            let initiator = match ike_sa {
                // The header says it (RFC 7296 §3.1).
                Some(sa) if sa.version == 2 => Some(sa.initiator),
                // Anybody may send an Informational.
                _ if exchange.kind == ExchangeKind::Informational => None,
                _ => exchange.known_initiator(),
            };
            if let (Some(tunnel), Some(initiator)) = (*tunnel, initiator) {
                self.record.tunnels.settle(tunnel, initiator);
            }
        }
    }
}

/// Kind, layer, frame and sentence.
type Oddity = (&'static str, &'static str, Option<u64>, Message);

fn first_frame(a: &Association) -> Option<u64> {
    a.first.map(|(_, frame)| frame)
}

/// Keys that rest on one packet, and SAs whose integrity key fits and whose encryption key is not known: too few packets, or none of the keys.
fn of_proof(a: &Association) -> impl Iterator<Item = Oddity> {
    let thin = a
        .rests_on_one_packet()
        .then(|| ("one_packet_proof", Message::new("oddity-one-packet-proof")));
    let half = (!a.proven && a.icv.verified > 0).then(|| {
        let needed = a.lacking.map(|lacking| lacking.packets_needed());
        match needed.filter(|needed| *needed > a.icv.verified) {
            Some(needed) => {
                let message = Message::new("oddity-too-few-packets").with("packets", needed);
                ("too_few_packets", message)
            }
            None => ("half_a_key", Message::new("oddity-half-a-key")),
        }
    });
    let found = thin.into_iter().chain(half);
    found.map(|(kind, message)| (kind, "keys", first_frame(a), message))
}
