//! Outages that the capture cuts: what led to them, or what becomes of them, lies outside it.

use super::join::LabelledPiece;
use crate::account::surroundings::Surroundings;
use rekeyscope_model::analysis::AccountLabel;
use rekeyscope_model::analysis::AccountLabel::{PathLoss, QueueLoss, Rekey, TunnelDown};
use rekeyscope_model::time::Timestamp;
use rekeyscope_traffic::LONGEST_ACK_DELAY;

/// Labels that nothing in the capture decides between: those of cut outages that take at least `least` nanoseconds.
pub(crate) fn undecided(pieces: &[LabelledPiece], around: &Surroundings, least: i64) -> Vec<AccountLabel> {
    // Nanoseconds of a piece up to a time, or from one on.
    let until = |p: &LabelledPiece, t: Timestamp| p.to.min(t).nanos_since(p.from).clamp(0, p.nanos());
    let since = |p: &LabelledPiece, t: Timestamp| p.to.nanos_since(p.from.max(t)).max(0);
    // The begin of the capture cuts a piece off from its reason, and the end from what becomes of it.
    let early = |p: &LabelledPiece| match (p.label, around.first_asked, around.first_delivered) {
        (Rekey | TunnelDown, Some(asked), _) if p.from < asked.plus_nanos(-LONGEST_ACK_DELAY) => p.nanos(),
        (PathLoss | QueueLoss, _, Some(delivered)) => until(p, delivered),
        _ => 0,
    };
    let late = |p: &LabelledPiece| match (around.left_open, p.label) {
        (Some(from), Rekey | TunnelDown | PathLoss | QueueLoss) => since(p, from),
        _ => 0,
    };
    if pieces.iter().map(|p| early(p).max(late(p))).sum::<i64>() < least.max(1) {
        return Vec::new();
    }
    let lost = |label: AccountLabel| {
        let own = pieces.iter().filter(|p| p.label == label);
        own.map(|p| early(p).max(late(p))).sum::<i64>() >= least.max(1)
    };
    let losses = [PathLoss, QueueLoss].into_iter().filter(|l| lost(*l));
    [TunnelDown, Rekey].into_iter().chain(losses).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::time::NANOS_PER_SECOND;

    fn piece(from: i64, to: i64, label: AccountLabel) -> LabelledPiece {
        LabelledPiece {
            from: Timestamp(from * NANOS_PER_SECOND),
            to: Timestamp(to * NANOS_PER_SECOND),
            label,
            also: None,
            frames: (0, 0),
        }
    }

    fn second(at: i64) -> Option<Timestamp> {
        Some(Timestamp(at * NANOS_PER_SECOND))
    }

    #[test]
    fn an_outage_before_the_first_request_may_have_been_asked_for_before_the_capture() {
        let pieces = [piece(0, 4, AccountLabel::Capacity), piece(4, 8, Rekey)];
        let least = NANOS_PER_SECOND;
        let asked = |at| Surroundings {
            first_asked: at,
            ..Surroundings::default()
        };
        assert_eq!(undecided(&pieces, &asked(second(6)), least), [TunnelDown, Rekey]);
        assert_eq!(undecided(&pieces, &asked(second(6)), 5 * least), [], "too little");
        assert_eq!(
            undecided(&pieces, &asked(second(4)), least),
            [],
            "asked as it begins"
        );
        assert_eq!(
            undecided(&pieces, &asked(None), least),
            [],
            "the first SA is in the capture"
        );
    }

    #[test]
    fn what_the_end_of_the_capture_leaves_open_may_be_loss_too() {
        let pieces = [
            piece(0, 2, PathLoss),
            piece(2, 4, AccountLabel::Capacity),
            piece(4, 8, PathLoss),
        ];
        let open = |at| Surroundings {
            left_open: at,
            ..Surroundings::default()
        };
        let all = [TunnelDown, Rekey, PathLoss];
        assert_eq!(undecided(&pieces, &open(second(4)), 1), all);
        assert_eq!(
            undecided(&pieces, &open(second(7)), NANOS_PER_SECOND),
            all,
            "a part of it"
        );
        assert_eq!(
            undecided(&pieces, &open(second(7)), 2 * NANOS_PER_SECOND),
            [],
            "too little"
        );
        assert_eq!(undecided(&pieces, &open(second(8)), 1), [], "it ends before");
        assert_eq!(
            undecided(&pieces[..2], &open(second(2)), 1),
            [],
            "nothing was lost then"
        );
    }

    #[test]
    fn what_is_lost_before_anything_is_delivered_may_be_an_outage() {
        let pieces = [
            piece(0, 3, PathLoss),
            piece(3, 4, TunnelDown),
            piece(4, 8, QueueLoss),
        ];
        let until = |at| Surroundings {
            first_delivered: second(at),
            ..Surroundings::default()
        };
        let least = NANOS_PER_SECOND;
        assert_eq!(
            undecided(&pieces, &until(4), least),
            [TunnelDown, Rekey, PathLoss]
        );
        assert_eq!(
            undecided(&pieces, &until(1), least),
            [TunnelDown, Rekey, PathLoss]
        );
        assert_eq!(undecided(&pieces, &until(1), 2 * least), [], "too little");
        assert_eq!(
            undecided(&pieces, &until(5), 2 * least),
            [TunnelDown, Rekey, PathLoss]
        );
        assert_eq!(undecided(&pieces, &Surroundings::default(), 1), []);
    }

    #[test]
    fn half_a_second_before_the_first_request_nothing_was_down() {
        let asked = |nanos| Surroundings {
            first_asked: Some(Timestamp(nanos)),
            ..Surroundings::default()
        };
        let begins = 4 * NANOS_PER_SECOND;
        let undecided = |asked_at| undecided(&[piece(4, 8, Rekey)], &asked(asked_at), 1).len();
        assert_eq!(
            (
                undecided(begins + LONGEST_ACK_DELAY),
                undecided(begins + LONGEST_ACK_DELAY + 1)
            ),
            (0, 2)
        );
    }
}
