//! The kind of a stretch without delivery.

use super::candidate::{Candidate, InVain, TransferEnd};
use crate::interval::{CarriedKind, ShownBy, StandstillKind, Undelivered};
use crate::packet::PacketForm;
use crate::tcp::{INITIAL_RTO, INITIAL_WINDOW, LEAST_TIMEOUT};
use rekeyscope_model::chance::LEAST_NOT_BY_CHANCE;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};

/// An outage swallows packets that were sent at different times: a queue that overflows drops many at once.
const LEAST_ATTEMPTS: u32 = 2;
/// Three attempts with one packet are an outage, too: chance does not lose a packet three times.
pub(super) const MANY_ATTEMPTS: u32 = LEAST_NOT_BY_CHANCE as u32;
/// Nanoseconds. Shorter silences of a sender are no rest: applications pause for a second or two within what users call one transfer.
pub const LEAST_REST: i64 = 3 * NANOS_PER_SECOND;

/// Nanoseconds in which a whole initial window of packets comes, at the rate of `packets` from the first to the last time: whoever sends at
/// that rate does not pause for as long between two. `None` where so few show no rate.
pub fn window_takes((first, last): (Timestamp, Timestamp), packets: u64) -> Option<i64> {
    let between = i64::try_from(packets).ok()?.saturating_sub(1);
    let window = i64::from(INITIAL_WINDOW);
    (between >= window).then(|| last.nanos_since(first) / between * window)
}

/// Nanoseconds that three packets take at such a rate: who pauses for no longer goes on.
pub fn three_take((first, last): (Timestamp, Timestamp), packets: u64) -> i64 {
    let between = i64::try_from(packets.saturating_sub(1).max(1)).unwrap_or(i64::MAX);
    LEAST_NOT_BY_CHANCE.cast_signed() * (last.nanos_since(first) / between)
}

/// Facts of a stretch besides its packets.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Circumstances {
    /// The most numbers that are missing at once.
    pub(super) missing: u32,
    /// Packets that came in it behind missing ones.
    pub(super) gaps: u32,
    /// Gaps that came as long after the one before as the shortest timer takes, and the first.
    pub(super) gaps_apart: u32,
    /// The missing packets came like copies that a sender's timer sends: each after twice the time of the one before.
    pub(super) doubled: bool,
    /// The missing packets are those of an answer that its receiver waits for.
    pub(super) answer_missing: bool,
    /// An event of the control plane lies in it that ends ways.
    pub(super) event: bool,
    /// Checks whether the peer lives were not answered in it.
    pub(super) gone: bool,
    /// An event lies in it after which a sender may have no security association to send on.
    pub(super) hint: bool,
    /// The sender may have lost its SA while it sent: one without a successor was deleted within two timeouts of the last delivery, or a
    /// request for a successor was out.
    pub(super) cut_off: bool,
    /// An address of the tunnel changed in it.
    pub(super) moved: bool,
    /// The last new IKE SA in it: it may have brought the way back.
    pub(super) new_ike_sa: Option<Timestamp>,
    /// Echo requests of the other side in it that nobody answered.
    pub(super) asked: u32,
    /// Echo requests of its sender that were answered in it, and small segments that were acknowledged; without keys, small packets that passed.
    pub(super) echoes: u32,
    /// Replies of its sender in it, which may not have arrived.
    pub(super) replies: u32,
    /// Bytes of the largest packet with payload that passed in it, echoes and replies included.
    pub(super) largest_passed: u32,
    /// The packets that passed are as large as any that ever had: the size limit was there before.
    pub(super) never_larger: bool,
    /// Their sender had cut them, and nothing as large as before passed since.
    pub(super) cut: bool,
    /// Compressed packets of its sender arrived at some time.
    pub(super) compressed_arrived: bool,
    /// Undelivered packets that came behind the replay window.
    pub(super) behind_window: u32,
    /// Echoes between the two were answered in it.
    pub(super) way_is_open: bool,
    /// Echoes were still answered when a sender with more would long have tried again, and the event that ends ways came only then.
    pub(super) rested: bool,
    /// The stretch lasts to the end.
    pub(super) open: bool,
    /// At its begin the transfer had more to send: a full segment, no FIN.
    pub(super) unfinished: bool,
}

/// Judges a stretch, and says what was not delivered in it; `None` where nothing is to be said.
pub(super) fn judge(
    carried: CarriedKind,
    candidate: &Candidate,
    around: &Circumstances,
) -> Option<(StandstillKind, Undelivered)> {
    let Candidate { before, in_vain, .. } = candidate;
    if before.full && in_vain.is_empty() {
        return None;
    }
    let nanos = candidate.to.time.nanos_since(candidate.from.time);
    // A round trip that no key shows is shorter than any timer.
    let apart = match carried {
        CarriedKind::Unread => LEAST_TIMEOUT,
        _ => before.round_trip,
    };
    let swallowed = in_vain.count();
    let attempts = match (tries(in_vain, apart), carried) {
        // The last one is what the answer that ends the stretch is to.
        (all, CarriedKind::Unread) if !around.open => all.saturating_sub(1),
        (all, _) => all,
    };
    let long = nanos > 2 * before.rto;
    // Packets without keys that nobody answers were on their way when a clock was set, or when both ends stopped; a sender that misses
    // the answers tries again.
    // A whole initial window swallowed at once is an outage, too. Fewer that vanished before the capture at once are losses, as one segment and
    // its copies may be lost.
    let at_once = carried != CarriedKind::Unread && swallowed >= INITIAL_WINDOW;
    let tried = u64::from(swallowed) >= LEAST_NOT_BY_CHANCE && attempts >= LEAST_ATTEMPTS
        || at_once
        || attempts >= MANY_ATTEMPTS && swallowed > 0
        // A host that moves sends nothing more until its new way is checked.
        || around.moved && swallowed > 0
        || u64::from(in_vain.unheard) >= LEAST_NOT_BY_CHANCE;
    // A transfer that simply is over looks like one that stops, unless there was more to send, or nobody to send to, or no SA.
    let more = around.unfinished || around.gone || around.cut_off;
    let stopped = match candidate.transfer_end {
        TransferEnd::Open => true,
        TransferEnd::Late => around.gone,
        TransferEnd::Soon => false,
    } && (before.busy && !around.rested || swallowed > 0)
        && (!around.open || more);
    // A request for a connection that nobody answers shows a way that ended only beside an event that ends ways.
    let asks = swallowed == 0 && in_vain.attempts(apart) >= MANY_ATTEMPTS;
    // Numbers that are missing in an idle direction were acknowledgements of the other one.
    let is_other = matches!(carried, CarriedKind::Datagrams | CarriedKind::Echo);
    let sends = before.busy || swallowed > 0 || is_other;
    // No timer sends copies faster than the shortest: of gaps that are closer to each other most are of others, and a closed way leaves few.
    let by_timer = 2 * around.gaps_apart >= around.gaps;
    let of_copies = u64::from(around.gaps) >= LEAST_NOT_BY_CHANCE && by_timer;
    let only_small =
        carried == CarriedKind::Unread && in_vain.is_empty() && around.echoes >= LEAST_ATTEMPTS && of_copies;
    // A sender of what the receiver lacks sends copies each time that its timer ends, which doubles (RFC 6298 §5.5).
    let copies_missing = of_copies
        && (before.lacks || around.open && around.doubled)
        && before.busy
        && nanos >= before.rto * ((1 << LEAST_NOT_BY_CHANCE) - 1)
        || around.answer_missing && nanos >= before.rto * ((1 << LEAST_NOT_BY_CHANCE) - 1);
    let shown_by = if tried {
        Some(ShownBy::Swallowed)
    } else if around.missing >= INITIAL_WINDOW && sends && by_timer || only_small || copies_missing {
        Some(ShownBy::MissingNumbers)
    } else if around.event && (stopped || asks) {
        Some(ShownBy::ControlPlane)
    } else if before.busy && u64::from(around.asked) >= LEAST_NOT_BY_CHANCE {
        Some(ShownBy::Requests)
    // A sender that waits for an answer may wait so long before it tries again (RFC 6298 §2.4); one that sends nothing though the way is open
    // has stopped by itself.
    } else if around.open
        && around.unfinished
        && before.busy
        && before.at_receiver
        && !around.way_is_open
        && nanos >= INITIAL_RTO
    {
        Some(ShownBy::Unfinished)
    } else {
        None
    };
    let (kind, shown_by) = match shown_by {
        None if before.asked > 0 => return None,
        Some(shown_by) if long => (StandstillKind::Outage, shown_by),
        None if long && around.hint && stopped => (StandstillKind::ShortOutage, ShownBy::ControlPlane),
        _ if u64::from(swallowed) >= LEAST_NOT_BY_CHANCE => (StandstillKind::ShortOutage, ShownBy::Swallowed),
        _ if swallowed > 0 => (StandstillKind::Loss, ShownBy::Swallowed),
        _ if around.open && !more => return None,
        _ if nanos >= LEAST_REST && carried == CarriedKind::Tcp => (StandstillKind::Rest, ShownBy::Nothing),
        _ => return None,
    };
    let undelivered = Undelivered {
        carried,
        shown_by,
        swallowed,
        attempts,
        unheard: in_vain.unheard,
        connections: in_vain.connections(),
        dead: dead(candidate, around),
        gaps: around.gaps,
        echoes: around.echoes,
        replies: around.replies,
        largest_passed: around.largest_passed,
        never_larger: around.never_larger,
        cut: around.cut,
        form: match in_vain.form() {
            Some(PacketForm::Compressed) if around.compressed_arrived => PacketForm::Plain,
            form => form.unwrap_or_default(),
        },
        behind_window: around.behind_window,
        beside_receiver: before.beside_receiver,
        receiver_rests: false,
        open: around.open,
        over: candidate.transfer_end != TransferEnd::Open,
    };
    Some((kind, undelivered))
}

/// From the first transmission in vain to the last, or to the new IKE SA behind it; before what brought the way back nobody may have
/// sent anything.
fn dead(candidate: &Candidate, around: &Circumstances) -> Option<(Timestamp, Timestamp)> {
    let swallowed = candidate.in_vain.swallowed();
    let (first, last) = swallowed.or(around.new_ike_sa.map(|back| (candidate.from.time, back)))?;
    Some((first, last.max(around.new_ike_sa.unwrap_or(last))))
}

/// Groups of transmissions; none where only connections were asked for.
fn tries(in_vain: &InVain, round_trip: i64) -> u32 {
    if in_vain.count() == 0 {
        return 0;
    }
    in_vain.attempts(round_trip)
}
