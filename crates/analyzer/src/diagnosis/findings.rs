//! What was wrong that no rekey caused.

use super::display_filter;
use super::whole_run::LaneCounters;
use crate::analysis::{Direction, Encapsulation, Finding, Severity};
use crate::analyzer::{Analyzer, ClockEvent, Jump};
use crate::capture::CaptureInfo;
use crate::rekey::{Succession, slot};
use crate::sa::association::Association;
use crate::sa::tunnel::TunnelIndex;
use crate::time::{NANOS_PER_MILLI, Timestamp};

/// Share of a direction's packets that makes a pattern, and packets that make a share.
const PATTERN_SHARE: f64 = 0.1;
const ENOUGH_PACKETS: u64 = 100;
/// Loss at which TCP (Mathis et al. 1997: rate = 1.22·MSS/(RTT·√p)) stays under 14 Mbit/s at 20 ms …
const LOSSY: f64 = 1e-3;
/// … that the other direction does not have: a tenth of it at most.
const ONE_SIDED: f64 = 0.1;
const ENOUGH_LOST: u64 = 20;
/// The capture lost packets where acknowledged bytes account for most of the missing ones.
const MOSTLY_ACKNOWLEDGED: f64 = 0.5;
/// A healthy flow swings between 0.5 and 1 of its peak (Reno's sawtooth: coefficient of variation 0.19); twice that is
/// unstable.
const UNSTABLE: f64 = 0.4;
/// The last third carries less than this share of the first, the middle one lies between: the rate decays.
const DECAYED: f64 = 0.6;
/// Seconds free of rekeys that say something about a rate.
const ENOUGH_SECONDS: usize = 12;
/// Seconds after a switch that are the rekey's.
const RECOVERY_S: f64 = 2.0;
/// Seconds below this share of the best one are idle.
const BUSY: f64 = 0.1;
/// Returns to an older SA after a renewal was over.
const ENOUGH_RETURNS: u64 = 20;
/// Negotiated pairs that never carried a packet.
const ENOUGH_UNUSED: usize = 3;
/// The least stall that the gap test counts. Steps below it happen where packets are stamped on several CPUs (13 ms seen in
/// the lab) and move nothing that is measured.
const LEAST_STEP_BACK: i64 = 50 * NANOS_PER_MILLI;
/// Windows of 0 that are worth a word.
const ENOUGH_ZERO_WINDOWS: u64 = 10;

/// All findings, warnings first.
pub(crate) fn findings(analyzer: &Analyzer, info: &CaptureInfo, successions: &[Succession]) -> Vec<Finding> {
    let mut found = Vec::new();
    for (tunnel, lanes) in analyzer.diagnosis.whole_run.lanes().iter().enumerate() {
        for direction in [Direction::AToB, Direction::BToA] {
            let lane = Lane {
                analyzer,
                tunnel,
                direction,
                counters: &lanes[slot(direction)],
            };
            found.extend(lane.fragmentation_cliff());
            found.extend(lane.path_mtu());
            found.extend(lane.zero_windows());
            found.extend(lane.parallel_sas());
            found.extend(
                lane.dropped_by_the_capture()
                    .or_else(|| lane.one_direction_loss()),
            );
            found.extend(lane.rate_trouble(successions));
        }
        found.extend(unused_sas(analyzer, tunnel));
    }
    found.extend(capture_trouble(analyzer, info));
    found.extend(analyzer.clock.events.iter().map(clock_event));
    found.extend(leaks(analyzer));
    found.sort_by_key(|f| std::cmp::Reverse(f.severity));
    found
}

fn finding(id: &str, severity: Severity, sentence: String, frames: &[u64]) -> Finding {
    Finding {
        id: id.into(),
        severity,
        sentence,
        evidence_frames: frames.to_vec(),
        display_filter: display_filter(frames),
    }
}

/// One tunnel and direction.
struct Lane<'a> {
    analyzer: &'a Analyzer,
    tunnel: TunnelIndex,
    direction: Direction,
    counters: &'a LaneCounters,
}

impl<'a> Lane<'a> {
    fn name(&self) -> String {
        let tunnel = &self.analyzer.tunnels.tunnels[self.tunnel];
        let [from, to] = match self.direction {
            Direction::AToB => [tunnel.ends[0], tunnel.ends[1]],
            Direction::BToA => [tunnel.ends[1], tunnel.ends[0]],
        };
        format!("{from} → {to}")
    }

    fn associations(&self) -> impl Iterator<Item = &'a Association> {
        let (analyzer, direction) = (self.analyzer, self.direction);
        analyzer
            .sas
            .of_tunnel(self.tunnel)
            .iter()
            .map(|&sa| &analyzer.sas.associations()[sa])
            .filter(move |a| a.direction == direction)
    }

    /// One full and one tiny packet per write: the write is a few bytes larger than what fits, as with 1,461 bytes into
    /// segments of 1,460; or the ESP packet is a few bytes larger than the path takes.
    fn fragmentation_cliff(&self) -> Option<Finding> {
        let c = self.counters;
        let share = |part: u64, of: u64| of >= ENOUGH_PACKETS && part as f64 >= PATTERN_SHARE * of as f64;
        if share(c.tiny_remainders, c.packets) {
            let sentence = format!(
                "{}: {} of {} packets are split into one full and one tiny IP packet ({} bytes and a rest). Packets a \
                 few bytes smaller would halve the packet count: lower the inner MTU or clamp the MSS.",
                self.name(),
                c.tiny_remainders,
                c.packets,
                c.largest_fragment
            );
            let frames = c.fragment_frames.frames();
            return Some(finding(
                "fragmentation_cliff",
                Severity::Warning,
                sentence,
                frames,
            ));
        }
        if !share(c.full_and_tiny, c.data_segments) {
            return None;
        }
        let sentence = format!(
            "{}: {} of {} TCP segments are a tiny rest right behind a full one of {} bytes. The application writes a few \
             bytes more than fits into a segment; writes of at most {} bytes would halve the packet count.",
            self.name(),
            c.full_and_tiny,
            c.data_segments,
            c.largest_payload,
            c.largest_payload
        );
        let frames = c.full_and_tiny_frames.frames();
        Some(finding(
            "fragmentation_cliff",
            Severity::Warning,
            sentence,
            frames,
        ))
    }

    /// Outer fragments: how large may the payload be, and which MSS follows.
    fn path_mtu(&self) -> Option<Finding> {
        let c = self.counters;
        if c.packets < ENOUGH_PACKETS || (c.fragmented as f64) < PATTERN_SHARE * c.packets as f64 {
            return None;
        }
        let mtu = u64::from(c.largest_whole.max(c.largest_fragment));
        let opened = self.associations().filter(|a| a.counters.opened > 0);
        let largest = opened.max_by_key(|a| a.counters.largest_inner);
        let advice = largest.and_then(|a| {
            let fits = largest_payload(mtu, a)?;
            let excess = a.counters.largest_inner.checked_sub(fits).filter(|e| *e > 0)?;
            let mss = u64::from(c.largest_payload).checked_sub(excess)?;
            Some(format!(
                " The largest ESP payload that fits is {fits} bytes, {excess} less than the largest seen: a TCP MSS of {mss} \
                 avoids all fragments."
            ))
        });
        let sentence = format!(
            "{}: {} of {} packets were fragmented; the largest IP packet that passed whole has {mtu} bytes.{}",
            self.name(),
            c.fragmented,
            c.packets,
            advice.unwrap_or_default()
        );
        let frames = c.fragment_frames.frames();
        Some(finding("path_mtu", Severity::Warning, sentence, frames))
    }

    fn zero_windows(&self) -> Option<Finding> {
        let c = self.counters;
        (c.zero_windows >= ENOUGH_ZERO_WINDOWS).then(|| {
            let sentence = format!(
                "{}: the sender of these packets closed its receive window {} times: it, not the tunnel, limited the data \
                 towards it.",
                self.name(),
                c.zero_windows
            );
            finding("receiver_limited", Severity::Info, sentence, c.zero_window_frames.frames())
        })
    }

    fn parallel_sas(&self) -> Option<Finding> {
        let c = self.counters;
        (c.returns >= ENOUGH_RETURNS).then(|| {
            let sentence = format!(
                "{}: packets alternate between SAs that are alive side by side ({} returns to the older one). Two SA pairs \
                 for the same peers cost twice the rekeys.",
                self.name(),
                c.returns
            );
            finding("duplicate_sas", Severity::Info, sentence, c.return_frames.frames())
        })
    }

    fn loss(&self, direction: Direction) -> (u64, u64) {
        let lane = Lane { direction, ..*self };
        lane.associations().fold((0, 0), |(missing, packets), a| {
            (
                missing + a.sequence.summary().missing,
                packets + a.counters.packets,
            )
        })
    }

    /// Numbers are missing, but the receiver acknowledged what was in them: the capture lost the packets, not the path.
    fn dropped_by_the_capture(&self) -> Option<Finding> {
        let (missing, packets) = self.loss(self.direction);
        let (bytes, mean) = self.analyzer.flows.never_captured(self.tunnel, self.direction);
        // Packets are lost by a capture without regard to what is in them: as many bytes as the missing ones would carry.
        let explained = bytes as f64 / mean.max(1.0);
        if missing < ENOUGH_LOST || explained < MOSTLY_ACKNOWLEDGED * missing as f64 {
            return None;
        }
        let sentence = format!(
            "{}: {missing} of {} ESP packets are missing in the capture, but what was in them arrived: TCP inside \
             acknowledged {bytes} bytes that were never captured and never sent again. The capture lost them, not the tunnel; \
             rates are lower here by that share.",
            self.name(),
            missing + packets
        );
        Some(finding("capture_drops", Severity::Warning, sentence, &[]))
    }

    fn one_direction_loss(&self) -> Option<Finding> {
        let (missing, packets) = self.loss(self.direction);
        let (other_missing, other_packets) = self.loss(self.direction.reverse());
        let share = |missing: u64, packets: u64| missing as f64 / (missing + packets).max(1) as f64;
        let (own, other) = (share(missing, packets), share(other_missing, other_packets));
        if missing < ENOUGH_LOST || own < LOSSY || other > ONE_SIDED * own || other_packets < ENOUGH_PACKETS {
            return None;
        }
        let worst = self.associations().max_by_key(|a| a.sequence.summary().missing)?;
        let sentence = format!(
            "{}: {missing} ESP packets ({:.2} %) never reached the capture, against {:.2} % the other way: loss before the \
             capture point, in one direction.",
            self.name(),
            own * 100.0,
            other * 100.0
        );
        Some(Finding {
            display_filter: format!("esp.spi == {}", worst.spi),
            ..finding("one_direction_loss", Severity::Warning, sentence, &[])
        })
    }

    /// Rates of the seconds that no rekey touches, idle ends cut off.
    fn free_rates(&self, successions: &[Succession]) -> Vec<f64> {
        let Some(series) = self.analyzer.meters.counted(self.tunnel, self.direction) else {
            return Vec::new();
        };
        let traffic = series.traffic();
        let per_second = (1.0 / traffic.base_bin_s).round().max(1.0) as usize;
        let seconds: Vec<f64> = traffic
            .bytes
            .chunks_exact(per_second)
            .map(|c| c.iter().map(|&b| b as f64).sum())
            .collect();
        let best = seconds.iter().copied().fold(0.0, f64::max);
        let busy = |rate: &f64| *rate >= BUSY * best;
        let (Some(first), Some(last)) = (seconds.iter().position(busy), seconds.iter().rposition(busy))
        else {
            return Vec::new();
        };
        let span = per_second as f64 * traffic.base_bin_s;
        let touched = |k: usize| {
            let from = traffic.start.plus_seconds(k as f64 * span);
            self.is_touched(successions, from, from.plus_seconds(span))
        };
        (first + 1..last)
            .filter(|&k| !touched(k))
            .map(|k| seconds[k])
            .collect()
    }

    fn is_touched(&self, successions: &[Succession], from: Timestamp, to: Timestamp) -> bool {
        successions.iter().filter(|s| s.tunnel == self.tunnel).any(|s| {
            let times = s.started.into_iter().chain(s.switched.into_iter().flatten());
            let (Some(begin), Some(end)) = (times.clone().min(), times.max()) else {
                return false;
            };
            begin <= to && end.plus_seconds(RECOVERY_S) >= from
        })
    }

    fn rate_trouble(&self, successions: &[Succession]) -> Option<Finding> {
        let rates = self.free_rates(successions);
        if rates.len() < ENOUGH_SECONDS || self.counters.data_segments < ENOUGH_PACKETS {
            return None;
        }
        let mean = |r: &[f64]| r.iter().sum::<f64>() / r.len() as f64;
        let third = rates.len() / 3;
        let thirds = [
            &rates[..third],
            &rates[third..rates.len() - third],
            &rates[rates.len() - third..],
        ];
        let [early, middle, late] = thirds.map(mean);
        let mbps = |bytes: f64| bytes * 8.0 / 1e6;
        if late < DECAYED * early && (late..=early).contains(&middle) {
            let sentence = format!(
                "{}: the rate decays from {:.1} to {:.1} Mbit/s over the seconds that no rekey touches.",
                self.name(),
                mbps(early),
                mbps(late)
            );
            return Some(finding("decaying_throughput", Severity::Warning, sentence, &[]));
        }
        let all = mean(&rates);
        let variance = rates.iter().map(|r| (r - all).powi(2)).sum::<f64>() / (rates.len() - 1) as f64;
        let variation = variance.sqrt() / all.max(1.0);
        (variation > UNSTABLE).then(|| {
            let sentence = format!(
                "{}: the rate is unstable without any rekey nearby: {:.1} Mbit/s ± {:.0} % from second to second.",
                self.name(),
                mbps(all),
                variation * 100.0
            );
            finding("unstable_throughput", Severity::Warning, sentence, &[])
        })
    }
}

/// Largest ESP payload whose packet is at most `mtu` bytes: headers, IV and ICV off, down to whole blocks (at least words of
/// four, RFC 4303 §2.4), less pad length and next header.
fn largest_payload(mtu: u64, a: &Association) -> Option<u64> {
    let key = a.key.as_ref()?;
    let ip = if a.src.is_ipv4() { 20 } else { 40 };
    let udp = match a.encapsulation {
        Encapsulation::Udp => 8,
        // A stream: no packet is too long for it.
        Encapsulation::Tcp => return None,
        Encapsulation::Esp | Encapsulation::Ah => 0,
    };
    let fixed = ip + udp + 8 + key.cipher.iv_len() as u64 + key.cipher.icv_len() as u64;
    let block = (key.transform.encryption.block_len() as u64).max(4);
    (mtu.checked_sub(fixed)? / block * block).checked_sub(2)
}

/// Pairs that were negotiated and never used, the newest one left out (it may be used later).
fn unused_sas(analyzer: &Analyzer, tunnel: TunnelIndex) -> Option<Finding> {
    let own = analyzer.sas.of_tunnel(tunnel);
    let associations = analyzer.sas.associations();
    let used = |exchange: usize| {
        own.iter()
            .any(|&sa| associations[sa].exchange == Some(exchange) && associations[sa].first.is_some())
    };
    let mut exchanges: Vec<usize> = own.iter().filter_map(|&sa| associations[sa].exchange).collect();
    exchanges.sort_unstable();
    exchanges.dedup();
    exchanges.pop();
    let unused: Vec<usize> = exchanges.iter().copied().filter(|&e| !used(e)).collect();
    if unused.len() < ENOUGH_UNUSED {
        return None;
    }
    let frames: Vec<u64> = unused
        .iter()
        .filter_map(|&e| analyzer.timeline.exchanges()[e].records.first())
        .map(|r| r.frame)
        .take(super::MOST_FRAMES)
        .collect();
    let sentence = format!(
        "{} of {} negotiated SA pairs never carried a packet: the peers negotiate more SAs than they use.",
        unused.len(),
        exchanges.len()
    );
    Some(finding("redundant_sas", Severity::Info, sentence, &frames))
}

/// A jump of the frames' times.
fn clock_event(event: &ClockEvent) -> Finding {
    let (seconds, way) = (
        event.nanos.unsigned_abs() as f64 / 1e9,
        if event.nanos < 0 { "back" } else { "forward" },
    );
    let (id, sentence) = match event.jump {
        Jump::Step => (
            "clock_step",
            format!(
                "The capture's clock steps {way} by {seconds:.3} s at frame {} ({}). It is taken out: from there on, times here \
                 are those of a clock that did not step, and no rate counts it.",
                event.frame,
                if event.measured {
                    "by the peers' own clocks"
                } else {
                    "the packets go on where they were"
                }
            ),
        ),
        Jump::OutOfOrder => (
            "out_of_order",
            format!(
                "From frame {} on come packets {seconds:.3} s older than those before them: files were joined out of order, or \
                 one twice. Packets seen before are left out; for exact gaps, sort the file first (reordercap).",
                event.frame
            ),
        ),
        Jump::Undecided => (
            "silence_or_clock_step",
            format!(
                "{seconds:.0} s of silence end at frame {}. Whether nothing was sent or the clock stepped, the packets do not \
                 tell: if it stepped, the rates are higher than given here.",
                event.frame
            ),
        ),
    };
    finding(id, Severity::Warning, sentence, &[event.frame])
}

fn capture_trouble(analyzer: &Analyzer, info: &CaptureInfo) -> Vec<Finding> {
    let mut found = Vec::new();
    let regressions = analyzer.totals.time_regressions;
    let back = analyzer.diagnosis.whole_run.farthest_back;
    if back >= LEAST_STEP_BACK {
        let sentence = format!(
            "{regressions} packets carry an earlier time than the one before them, by up to {:.1} ms: the clock was set \
             back, or several interfaces or queues were merged. Gaps and rates near them are not exact.",
            back as f64 / NANOS_PER_MILLI as f64
        );
        let frames = analyzer.diagnosis.whole_run.regression_frames();
        found.push(finding("clock_trouble", Severity::Warning, sentence, frames));
    }
    if let Some(dropped) = info.dropped_reported.filter(|d| *d > 0) {
        let sentence = format!(
            "The capture program dropped {dropped} packets: gaps and missing ESP numbers may be the capture's own."
        );
        found.push(finding("capture_drops", Severity::Warning, sentence, &[]));
    }
    found
}

fn leaks(analyzer: &Analyzer) -> Option<Finding> {
    let run = &analyzer.diagnosis.whole_run;
    (run.leaked > 0).then(|| {
        let sentence = format!(
            "{} L2TP packets went between the tunnel's ends in clear: before, beside or after the IPsec SAs.",
            run.leaked
        );
        finding(
            "cleartext_leak",
            Severity::Warning,
            sentence,
            run.leak_frames.frames(),
        )
    })
}
