//! ESP packets that are missing: lost on the path, or by the capture.

use crate::findings::lane::{ENOUGH, Lane, finding};
use rekeyscope_capture::framing::CutPackets;
use rekeyscope_ipsec::sa::association::Association;
use rekeyscope_model::analysis::{Finding, FindingKind};
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::text::grouped;
use rekeyscope_traffic::REPLAY_WINDOWS;

/// Loss at which TCP (Mathis et al. 1997: rate = 1.22·MSS/(RTT·√p)) stays under 14 Mbit/s at 20 ms.
const LOSSY: f64 = 1e-3;
/// SAs in a display filter.
const MOST_SPIS: usize = 8;

impl Lane<'_> {
    /// Packets that are missing, and those that came.
    fn loss(&self) -> (u64, u64) {
        self.associations().fold((0, 0), |(missing, packets), a| {
            (missing + a.missing(), packets + a.counters.packets)
        })
    }

    /// The receiver acknowledged most of so many packets that the capture lacks. A capture loses packets without regard to what is in them: they
    /// had as many bytes as others.
    fn arrived(&self, packets: u64) -> bool {
        let mean = self.record.flows.mean_payload(self.tunnel, self.direction);
        2.0 * self.never_captured() as f64 / mean.max(1.0) >= packets as f64
    }

    /// Bytes that the receiver acknowledged and no packet of the capture carries.
    fn never_captured(&self) -> u64 {
        let sent = self.record.traffic.sent(self.tunnel, self.direction);
        sent.map_or(0, |sent| sent.unseen)
    }

    /// TCP sends again what never came to the capture, and each packet that is lost behind the encryption leaves out an ESP number: what is more
    /// than these was lost before.
    pub(crate) fn lost_before_encryption(&self) -> Option<Finding> {
        let sent = self.record.traffic.sent(self.tunnel, self.direction)?;
        let (missing, _) = self.loss();
        let lost = sent.sent_again.saturating_sub(missing);
        let share = lost as f64 / sent.segments.max(1) as f64;
        let is_open = self
            .associations()
            .all(|a| a.counters.opened == a.counters.packets);
        if lost < ENOUGH.max(missing) || share < LOSSY || !is_open {
            return None;
        }
        // Chance may spare so few echo requests.
        let [echoes, skipped] = sent.echoes;
        let spared = skipped == 0 && echoes as f64 * share >= LEAST_NOT_BY_CHANCE as f64;
        let message = self
            .about("finding-lost-before-encryption")
            .with("lost", grouped(lost))
            .with("share", format!("{:.1} %", share * 100.0))
            .with("segments", grouped(sent.segments))
            .with("esp", if missing == 0 { "whole" } else { "lossy" })
            .with("missing", grouped(missing))
            .with("spared", if spared { "yes" } else { "no" })
            .with("echoes", grouped(echoes));
        Some(finding(FindingKind::LostBeforeEncryption, message, &sent.frames))
    }

    /// Numbers are missing, but the receiver acknowledged what was in them: the capture lost the packets, not the path.
    pub(crate) fn dropped_by_the_capture(&self) -> Option<Finding> {
        let (missing, packets) = self.loss();
        let bytes = self.never_captured();
        if missing < ENOUGH || !self.arrived(missing) {
            return None;
        }
        let message = self
            .about("finding-capture-dropped")
            .with("missing", grouped(missing))
            .with("packets", grouped(missing + packets))
            .with("bytes", grouped(bytes));
        Some(finding(FindingKind::CaptureDrops, message, &[]))
    }

    /// Packets come behind a replay window: the smallest behind which TCP shows a loss, else the largest that it does not show to be smaller.
    pub(crate) fn behind_window(&self) -> Option<Finding> {
        let mut late = self.record.traffic.late(self.tunnel, self.direction);
        // Numbers that went back were overtaken by nothing.
        let steps = self.associations().filter_map(|a| a.steps_back.longest());
        let back: u64 = steps.map(|step| step.packets).sum();
        late.packets = late.packets.map(|packets| packets.saturating_sub(back));
        let (_, packets) = self.loss();
        let is_seen = |k: &usize| late.lost[*k] >= ENOUGH;
        // Packets behind this window and within the next larger one tell which of the two the receiver has.
        let within = |counts: &[u64], k: usize| counts[k] - counts.get(k + 1).unwrap_or(&0);
        let is_dropped = |k: &usize| {
            let all = late.packets[*k];
            let as_many = late.arrived[*k] <= late.lost[*k];
            let as_many_within = within(&late.arrived, *k) <= within(&late.lost, *k);
            all >= ENOUGH && all as f64 >= LOSSY * packets as f64 && as_many && as_many_within
        };
        let mut windows = 0..REPLAY_WINDOWS.len();
        let k = windows
            .clone()
            .find(|k| is_seen(k) && is_dropped(k))
            .or_else(|| windows.rfind(|k| *k > 0 && is_dropped(k)))?;
        let message = self
            .about("finding-behind-window")
            .with("late", grouped(late.packets[k]))
            .with(
                "share",
                format!("{:.1} %", late.packets[k] as f64 / packets as f64 * 100.0),
            )
            .with("window", REPLAY_WINDOWS[k])
            .with("lost", if is_seen(&k) { "seen" } else { "unseen" });
        Some(Finding {
            display_filter: self.filter_of(|a| a.sequence.summary().reordered),
            ..finding(FindingKind::BehindWindow, message, &[])
        })
    }

    fn is_open(&self) -> bool {
        self.associations().any(|a| a.counters.opened > 0)
    }

    /// Shows the SAs of which packets are missing, late or damaged, those with most first.
    fn filter_of(&self, of: impl Fn(&Association) -> u64) -> String {
        let mut lossy: Vec<(u64, String)> = self
            .associations()
            .map(|a| (of(a), a.spi.to_string()))
            .filter(|(missing, _)| *missing > 0)
            .collect();
        lossy.sort_by_key(|(missing, _)| std::cmp::Reverse(*missing));
        let spis: Vec<String> = lossy.into_iter().take(MOST_SPIS).map(|(_, spi)| spi).collect();
        format!("esp.spi in {{{}}}", spis.join(", "))
    }

    /// Packets came with a wrong ICV under a key that others prove.
    pub(crate) fn damaged(&self) -> Option<Finding> {
        let damaged = self.record.meters.damaged(self.tunnel, self.direction);
        let (_, packets) = self.loss();
        let share = damaged as f64 / packets.max(1) as f64;
        if damaged < ENOUGH || share < LOSSY {
            return None;
        }
        let arrived = self.arrived(damaged);
        let message = self
            .about("finding-damaged")
            .with("damaged", grouped(damaged))
            .with("share", format!("{:.1} %", share * 100.0))
            .with("by", if arrived { "capture" } else { "line" });
        Some(Finding {
            display_filter: self.filter_of(|a| a.icv.failed),
            ..finding(FindingKind::Damaged, message, &[])
        })
    }

    /// More of what is missing came in part than not at all. A path that loses packets whatever they are loses as many first fragments as second ones,
    /// give or take three standard deviations (the root of all): what is above that was lost because it went in so many pieces, or because later
    /// fragments are dropped.
    pub(crate) fn lost_fragments(&self) -> Option<Finding> {
        let (missing, packets) = self.loss();
        let tunnels = &self.record.tunnels;
        let is_own = |cut: &&CutPackets| {
            tunnels.known(cut.src, cut.dst, cut.udp) == Some(self.tunnel)
                && tunnels.tunnels[self.tunnel].direction_to(cut.dst) == self.direction
        };
        let own = self.record.cut_packets.iter().filter(is_own);
        let cut: u64 = own.map(|cut| cut.count).sum();
        let share = missing as f64 / (missing + packets).max(1) as f64;
        let because_later = cut.saturating_sub(missing.saturating_sub(cut));
        if missing < ENOUGH || share < LOSSY || because_later as f64 <= 3.0 * (missing as f64).sqrt() {
            return None;
        }
        let message = self
            .about("finding-lost-fragments")
            .with("cut", grouped(cut.min(missing)))
            .with("missing", grouped(missing))
            .with("share", format!("{:.2} %", share * 100.0));
        Some(Finding {
            display_filter: self.filter_of(|a| a.sequence.summary().missing),
            ..finding(FindingKind::LostFragments, message, &[])
        })
    }

    /// Numbers are missing: more than in the other direction, as many, or against one too quiet to compare with.
    pub(crate) fn packet_loss(&self) -> Option<Finding> {
        let direction = self.direction.reverse();
        let reverse = Lane { direction, ..*self };
        let (missing, packets) = self.loss();
        let (other_missing, other_packets) = reverse.loss();
        let share = |missing: u64, packets: u64| missing as f64 / (missing + packets).max(1) as f64;
        let (own, other) = (share(missing, packets), share(other_missing, other_packets));
        if missing < ENOUGH || own < LOSSY {
            return None;
        }
        // At the same share the other direction would lack so many that chance does not leave out all of them.
        let compared = own * other_packets as f64 >= LEAST_NOT_BY_CHANCE as f64;
        let one_sided = compared && other < LOSSY;
        // A capture that lost data lost acknowledgements too.
        if !one_sided && reverse.dropped_by_the_capture().is_some() {
            return None;
        }
        let percent = |share: f64| format!("{:.2} %", share * 100.0);
        // Acknowledgements of TCP inside would tell a loss of the capture; without keys nobody sees it.
        let (kind, message) = match self.is_open() && reverse.is_open() {
            true if one_sided => (
                FindingKind::OneDirectionLoss,
                self.about("finding-one-direction-loss"),
            ),
            true if compared => (
                FindingKind::BothDirectionsLoss,
                self.about("finding-both-directions-loss"),
            ),
            true => (FindingKind::PacketLoss, self.about("finding-packet-loss")),
            false => (FindingKind::PacketsMissing, self.about("finding-packets-missing")),
        };
        let message = message
            .with("missing", grouped(missing))
            .with("share", percent(own))
            .with("other", percent(other));
        Some(Finding {
            display_filter: self.filter_of(|a| a.sequence.summary().missing),
            ..finding(kind, message, &[])
        })
    }
}
