//! Why something was sent again: an episode lasts from the first copy until all that was sent by then is acknowledged.

use crate::account::read::data::{Ack, Data};
use crate::account::read::half::Half;
use rekeyscope_model::analysis::AccountLabel;

/// A copy that is acknowledged sooner than this share of the usual time was not needed.
const TOO_SOON: f64 = 0.7;
/// Or than this share of the least time.
const TOO_SOON_OF_LEAST: f64 = 0.8;

/// One episode.
#[derive(Debug, Clone)]
pub(crate) struct Episode {
    end: u64,
    pub(crate) time: i64,
    /// An answer to the copy before this comes too soon, nanoseconds.
    soon: f64,
    /// From the copy to its acknowledgement.
    answered_after: Option<i64>,
    pub(crate) queue: bool,
    /// A smaller ESP number came late right before.
    pub(crate) overtaken: bool,
    /// What is sent again passed the capture before.
    seen: bool,
}

impl Episode {
    /// It begins with a copy. `smoothed`: time from data to acknowledgement, nanoseconds.
    pub(crate) fn begun(copy: &Data, smoothed: f64, half: &Half) -> Episode {
        let usual = smoothed.trunc();
        Episode {
            end: copy.end,
            time: copy.time,
            soon: (TOO_SOON * usual).max(TOO_SOON_OF_LEAST * half.d1.unwrap_or(0) as f64),
            answered_after: None,
            queue: false,
            overtaken: false,
            seen: copy.seen_before,
        }
    }

    pub(crate) fn is_answered(&mut self, ack: &Ack) {
        if self.answered_after.is_none() && ack.ack >= self.end {
            self.answered_after = Some(ack.time - self.time);
        }
    }

    /// What it comes from.
    pub(crate) fn cause(&self) -> AccountLabel {
        let too_soon = self
            .answered_after
            .is_some_and(|after| after >= 0 && (after as f64) < self.soon);
        // A receiver acknowledges at once what fills a hole: soon says something only of what got as far as the capture.
        if too_soon && self.seen || self.overtaken {
            return AccountLabel::Reordering;
        }
        if self.queue {
            AccountLabel::QueueLoss
        } else {
            AccountLabel::PathLoss
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::made_up::{ack, at, data, half, span};

    const TIMES: Times = Times {
        rtt: 40 * NANOS_PER_MILLI,
        released: 4 * NANOS_PER_MILLI,
        gap: 60 * NANOS_PER_MILLI,
        long: 200 * NANOS_PER_MILLI,
    };

    /// A copy at 10 s, after a wait of so many milliseconds; acknowledgements take 30 ms, mostly 40.
    fn copy_after(ms: i64) -> Episode {
        let half = Half {
            d1: Some(at(30)),
            ..half()
        };
        Episode::begun(&data(10_000, 0), at(ms), at(40) as f64, &half)
    }

    fn renewed(asked: i64, switched: i64) -> Surroundings {
        let (asked, switched) = span(asked, switched);
        Surroundings {
            rekeys: vec![RekeyWindow {
                asked,
                switched,
                new_sa: 7,
            }],
            ..Surroundings::default()
        }
    }

    impl Episode {
        /// What came first on this SA was lost, and is sent again 20 ms later.
        pub(crate) fn of_first_on(sa: u32, time: i64) -> Episode {
            Episode {
                time: time + at(20),
                original: BeforeCopy::Seen {
                    time,
                    sa,
                    esp: 1,
                    run: 1,
                    first: true,
                },
                ..copy_after(20)
            }
        }
    }

    #[test]
    fn what_is_acknowledged_sooner_than_usual_was_not_lost() {
        let cause = |ms: i64, seen: bool| {
            let mut episode = copy_after(20);
            episode.seen = seen;
            episode.is_answered(&ack(9_000, 999, 0));
            episode.is_answered(&ack(10_000 + ms, 1_000, 0));
            episode.is_answered(&ack(10_001, 1_000, 0));
            episode.cause(TIMES, &Surroundings::default(), false)
        };
        // 70 % of 40 ms.
        assert_eq!(cause(27, true), AccountLabel::Reordering);
        assert_eq!(cause(28, true), AccountLabel::PathLoss);
        assert_eq!(cause(27, false), AccountLabel::PathLoss, "it never got so far");
        assert_eq!(cause(-1, true), AccountLabel::PathLoss);
        // 80 % of the least time, where that is more.
        let half = Half {
            d1: Some(at(100)),
            ..half()
        };
        let near = |ms: i64| {
            let first = Data {
                seen_before: true,
                ..data(10_000, 0)
            };
            let mut episode = Episode::begun(&first, at(20), at(40) as f64, &half);
            episode.is_answered(&ack(10_000 + ms, 1_000, 0));
            episode.cause(TIMES, &Surroundings::default(), false)
        };
        assert_eq!(
            (near(79), near(80)),
            (AccountLabel::Reordering, AccountLabel::PathLoss)
        );
    }

    #[test]
    fn a_queue_or_an_overtaken_packet_is_its_reason() {
        let mut episode = copy_after(20);
        let cause = |episode: &Episode| episode.cause(TIMES, &Surroundings::default(), false);
        assert_eq!(cause(&episode), AccountLabel::PathLoss);
        episode.queue = true;
        assert_eq!(cause(&episode), AccountLabel::QueueLoss);
        episode.overtaken = true;
        assert_eq!(cause(&episode), AccountLabel::Reordering);
    }

    #[test]
    fn a_long_wait_at_a_rekey_is_the_rekeys_and_one_in_a_failure_the_tunnels() {
        let cause = |ms: i64, around: &Surroundings| copy_after(ms).cause(TIMES, around, false);
        let during = renewed(9_800, 9_900);
        assert_eq!(cause(201, &during), AccountLabel::Rekey);
        assert_eq!(cause(200, &during), AccountLabel::PathLoss);
        assert_eq!(
            cause(201, &renewed(9_000, 9_400)),
            AccountLabel::PathLoss,
            "it was over"
        );
        assert_eq!(
            cause(400, &renewed(9_000, 9_400)),
            AccountLabel::Rekey,
            "250 ms behind the switch"
        );
        let failed = Surroundings {
            failed: vec![span(9_000, 9_950)],
            ..during
        };
        assert_eq!(cause(61, &failed), AccountLabel::TunnelDown);
        assert_eq!(cause(60, &failed), AccountLabel::PathLoss);
    }

    #[test]
    fn what_was_sent_right_before_a_switch_or_too_early_is_the_rekeys() {
        let around = renewed(9_000, 9_800);
        let cause = |time: i64, sa: u32, esp: u32, run: usize| {
            let mut episode = copy_after(20);
            episode.original = BeforeCopy::Seen {
                time: at(time),
                sa,
                esp,
                run,
                first: false,
            };
            episode.cause(TIMES, &around, false)
        };
        use AccountLabel::{PathLoss, Rekey};
        assert_eq!(
            (cause(9_750, 1, 500, 3), cause(9_749, 1, 500, 3)),
            (Rekey, PathLoss)
        );
        assert_eq!(
            (cause(9_800, 1, 500, 3), cause(9_801, 1, 500, 3)),
            (Rekey, PathLoss)
        );
        assert_eq!(cause(9_790, 1, 500, 2), PathLoss, "single loss");
        assert_eq!(
            (cause(9_810, 7, 64, 3), cause(9_810, 7, 65, 3)),
            (Rekey, PathLoss)
        );
        assert_eq!(cause(9_810, 1, 64, 3), PathLoss, "of another SA");
        let mut never_sent = copy_after(20);
        never_sent.original = BeforeCopy::NeverSent {
            from: at(9_500),
            to: at(9_600),
        };
        assert_eq!(never_sent.cause(TIMES, &around, false), Rekey);
        assert_eq!(never_sent.cause(TIMES, &renewed(8_000, 8_100), false), PathLoss);
    }

    #[test]
    fn the_first_of_a_new_sa_is_the_rekeys_where_chance_does_not_explain_it() {
        let around = renewed(9_000, 9_800);
        let cause = |sa: u32, esp: u32, first: bool, firsts: bool| {
            let mut episode = copy_after(20);
            episode.original = BeforeCopy::Seen {
                time: at(9_810),
                sa,
                esp,
                run: 1,
                first,
            };
            episode.cause(TIMES, &around, firsts)
        };
        use AccountLabel::{PathLoss, Rekey};
        assert_eq!(cause(7, 1, true, true), Rekey);
        assert_eq!(cause(7, 1, true, false), PathLoss, "by chance");
        assert_eq!(cause(7, 2, false, true), PathLoss, "another one got through");
        assert_eq!(
            (cause(7, 64, true, true), cause(7, 65, true, true)),
            (Rekey, PathLoss)
        );
        assert_eq!(cause(8, 1, true, true), PathLoss, "no rekey made it");
    }

    /// Segments 10 ms apart on these SAs, of which some were sent again; and the indices of all.
    fn segments(sas: &[u32], again: &[usize]) -> (Half, Vec<u32>) {
        let of = |(k, &sa): (usize, &u32)| Data {
            sa,
            repeated: again.contains(&k),
            ..data(10 * k as i64, 1_000 * k as u64)
        };
        let seen = Half {
            data: sas.iter().enumerate().map(of).collect(),
            ..half()
        };
        (seen, (0..sas.len() as u32).collect())
    }

    #[test]
    fn the_first_of_an_sa_follows_one_of_another() {
        let first = |sas: &[u32], lost: usize| {
            let (seen, firsts) = segments(sas, &[lost]);
            let copy = data(500, 1_000 * lost as u64);
            let mut episode = Episode::begun(&copy, 0, 0.0, &seen);
            episode.look_back(&copy, &seen, &firsts);
            matches!(episode.original, BeforeCopy::Seen { first: true, .. })
        };
        assert!(first(&[1, 1, 2, 2], 2));
        assert!(!first(&[1, 1, 2, 2], 1) && !first(&[1, 1, 2, 2], 3));
        assert!(!first(&[1, 1], 0), "nothing of another SA came before");
    }

    fn run(sas: &[u32], again: &[usize], place: usize) -> usize {
        let (seen, firsts) = segments(sas, again);
        run_at_switch(&seen, &firsts, place)
    }

    #[test]
    fn what_is_lost_in_a_row_next_to_the_switch_is_a_run() {
        let sas = [1, 1, 1, 1, 2, 2, 2, 2];
        assert_eq!(run(&sas, &[2, 3], 2), 2, "the end of the old SA");
        assert_eq!(run(&sas, &[4, 5, 6], 4), 3, "the begin of the new one");
        assert_eq!(run(&sas, &[2, 3, 4], 2), 3, "both");
        assert_eq!(run(&sas, &[0, 2, 3], 0), 2, "and one before");
        assert_eq!(run(&sas, &[1, 2], 1), 0, "the last of the old one got through");
        assert_eq!(
            run(&sas, &[5, 6, 7], 5),
            0,
            "the first of the new one got through"
        );
        assert_eq!(run(&[1; 8], &[2, 3, 4], 2), 0, "no switch");
        assert_eq!(
            run(&[1, 1, 1, 1, 1, 1, 1, 2], &[0, 1, 2, 3, 4, 5, 6], 0),
            0,
            "60 ms before"
        );
    }
}
