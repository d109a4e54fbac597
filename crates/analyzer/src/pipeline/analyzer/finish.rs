//! The end of an analysis: what waits is taken in, what was left open is settled, and what the bounds left out is said.

use super::Analyzer;
use crate::pipeline::record::{Record, place};
use rekeyscope_ipsec::esp::cipher::wipe_deep_stack;
use rekeyscope_keylog::reading::mine::MOST_TRIALS_PER_SPI;
use rekeyscope_model::analysis::ExchangeKind;
use rekeyscope_model::text::Message;

/// Most IKE messages without all their fragments that are kept: as many as a document has events. All are counted as datagrams.
const MOST_INCOMPLETE: usize = 4_096;

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
        self.record.diagnosis.report_bounds(&mut self.record.diagnostics);
        if let Some(framing) = &mut self.framing {
            framing.finish(&mut self.record.diagnostics);
        }
        self.take_incomplete();
        self.record.sas.settle_unused();
        self.report_mining();
        self.report_thin_proofs();
        self.report_half_proofs();
        self.report_wrong_keys();
        self.report_closed_carriers();
        self.report_bounds();
        wipe_deep_stack();
        self.record
    }

    /// IKE messages that were given up since the last look.
    pub(super) fn take_incomplete(&mut self) {
        let given_up = self.framing.as_mut().map(|framing| framing.take_incomplete_ike());
        let room = MOST_INCOMPLETE.saturating_sub(self.record.incomplete_ike.len());
        let given_up = given_up.unwrap_or_default().into_iter().take(room);
        self.record.incomplete_ike.extend(given_up);
    }

    fn report_bounds(&mut self) {
        if self.seen.forgotten() > 0 || self.duplicates.forgot() {
            self.record
                .diagnostics
                .note("forgot_packets", "analysis", None, "oddity-forgot-packets");
        }
        let (stretches, silences) = self.record.traffic.left_out();
        if stretches > 0 {
            self.record
                .diagnostics
                .count("stretches_left_out", "analysis", None, || {
                    Message::new("oddity-stretches-left-out").with("stretches", stretches)
                });
        }
        if silences > 0 {
            self.record
                .diagnostics
                .count("silences_left_out", "analysis", None, || {
                    Message::new("oddity-silences-left-out").with("silences", silences)
                });
        }
        if self.record.meters.dropped() > 0 {
            self.record
                .diagnostics
                .note("no_series", "analysis", None, "oddity-no-series");
        }
    }

    fn report_mining(&mut self) {
        let (kind, message) = match self.record.sas.mining_effort() {
            (0, _) => return,
            (_, false) => ("mining", Message::new("oddity-mining")),
            (_, true) => ("mining_gave_up", Message::new("oddity-mining-gave-up")),
        };
        let (trials, _) = self.record.sas.mining_effort();
        self.record.diagnostics.count(kind, "keys", None, || {
            message.with("trials", trials).with("most", MOST_TRIALS_PER_SPI)
        });
    }

    fn report_thin_proofs(&mut self) {
        let wanted = self
            .record
            .sas
            .associations()
            .iter()
            .filter(|a| self.record.wants(a.tunnel));
        let thin = wanted.filter(|a| a.rests_on_one_packet());
        let frames: Vec<Option<u64>> = thin.map(|a| a.first.map(|(_, frame)| frame)).collect();
        for frame in frames {
            self.record
                .diagnostics
                .note("one_packet_proof", "keys", frame, "oddity-one-packet-proof");
        }
    }

    /// SAs whose integrity key fits and whose encryption key is not known: too few packets, or none of the keys.
    fn report_half_proofs(&mut self) {
        let sas = self.record.sas.associations().iter();
        let half = sas.filter(|a| self.record.wants(a.tunnel) && !a.proven && a.icv.verified > 0);
        let half: Vec<_> = half
            .map(|a| (a.first.map(|(_, frame)| frame), a.lacking, a.icv.verified))
            .collect();
        for (frame, lacking, verified) in half {
            let short = lacking.map(|lacking| lacking.packets_needed());
            match short.filter(|needed| *needed > verified) {
                Some(needed) => self
                    .record
                    .diagnostics
                    .count("too_few_packets", "keys", frame, || {
                        Message::new("oddity-too-few-packets").with("packets", needed)
                    }),
                None => self
                    .record
                    .diagnostics
                    .note("half_a_key", "keys", frame, "oddity-half-a-key"),
            }
        }
    }

    /// Claims that fit no packet of the SA that they name, where another key does.
    fn report_wrong_keys(&mut self) {
        let wrong = self.record.sas.wrong_claims();
        let places: Vec<String> = wrong
            .iter()
            .map(|claim| place(&self.record, &claim.origin))
            .collect();
        let first = places.first().cloned().unwrap_or_default();
        for _ in &places {
            self.record.diagnostics.count("wrong_key", "keys", None, || {
                Message::new("oddity-wrong-key").with("place", first.clone())
            });
        }
    }

    /// The side that began IKE, by the first exchange of each tunnel that tells: the capture may begin in the middle of one.
    pub(super) fn settle_initiators(&mut self) {
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

    /// A chosen tunnel inside ESP lacks what the SAs around it kept, and those are not in the document.
    fn report_closed_carriers(&mut self) {
        if !self.nested.chosen_inside {
            return;
        }
        let around = self.nested.carriers.iter().filter(|&&t| !self.record.wants(t));
        let sas = around.flat_map(|&tunnel| self.record.sas.of_tunnel(tunnel));
        let closed = sas
            .map(|&sa| &self.record.sas.associations()[sa])
            .filter(|a| a.counters.opened < a.counters.packets);
        let frames: Vec<Option<u64>> = closed.map(|a| a.first.map(|(_, frame)| frame)).collect();
        for frame in frames {
            self.record
                .diagnostics
                .note("closed_around", "ESP", frame, "oddity-closed-around");
        }
    }
}
