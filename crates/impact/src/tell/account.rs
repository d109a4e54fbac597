//! The account of a transfer in words: what it lost against a rate, and to what.

#[cfg(test)]
mod tests;

use crate::ledger::LEAST_SHARE;
use crate::tell::words::{percent, rate};
use rekeyscope_model::analysis::{Account, AccountGap, AccountLabel, AccountLine, D2Source, Outage, OwnRate};
use rekeyscope_model::text::{Arg, Message, Said, grouped};

/// Labels named: more are for the table.
const MOST_NAMED: usize = 3;
/// Windows are counted in units of this, as TCP's largest without a scale is called 64 kB.
const WINDOW_UNIT: f64 = 1024.0;

/// What `Account` says, in one sentence; more follow where the packets could not tell.
pub fn sentence(account: &Account) -> Said {
    let mut messages = vec![whole(account)];
    messages.extend(not_testable(account));
    Said::of(messages)
}

/// An account as a line for each label that counts.
pub struct AccountInBrief<'a> {
    /// The time, and what it is compared with.
    pub lead: Message,
    /// Whether the transfer took longer: else there is no loss to share out, and a label counts by its time.
    pub by_loss: bool,
    /// Labels with at least [`LEAST_SHARE`] of what was lost, or of the time; the largest first.
    pub lines: Vec<&'a AccountLine>,
    /// Seconds that faster stretches made up for, where they count, too: without them the lines are more than the whole.
    pub won_back: Option<Message>,
    /// Labels that these packets cannot show, and why.
    pub not_testable: Vec<Message>,
}

/// An account in brief; `None` where no transfer was long enough to have one.
pub fn in_brief(account: &Account) -> Option<AccountInBrief<'_>> {
    let whole = AccountWhole::of(account)?;
    let (of, id): (fn(&AccountLine) -> f64, _) = match whole {
        AccountWhole::Longer => (|line| line.lost_seconds, "account-brief-lost"),
        AccountWhole::Alike => (|line| line.seconds, "account-brief-no-longer"),
        AccountWhole::Faster => (|line| line.seconds, "account-brief-faster"),
    };
    let by_loss = whole == AccountWhole::Longer;
    // Nothing but rekeys and outages has a label without TCP.
    if !by_loss && account.own_from == OwnRate::Beside {
        return None;
    }
    let parts = AccountParts::new(
        account,
        if by_loss {
            lost_in_all(account)
        } else {
            account.seconds
        },
        of,
    );
    let mut lines: Vec<&AccountLine> = account.labels.iter().collect();
    lines.retain(|line| of(line) >= parts.least());
    lines.sort_by(|a, b| of(b).total_cmp(&of(a)));
    // The rekeys are what is asked for: their line follows the largest, where there is one.
    if let Some((_, others)) = lines.split_first_mut() {
        others.sort_by_key(|line| line.label != AccountLabel::Rekey);
    }
    Some(AccountInBrief {
        lead: Message::new(id)
            .with("seconds", amount_alone(account.seconds))
            .with("lost", amount_alone(account.lost_seconds))
            .with("share", percent(LEAST_SHARE))
            .with("than", than(account)),
        by_loss,
        lines,
        won_back: parts.below().map(|s| parts.measured("account-brief-won-back", s)),
        not_testable: not_testable(account),
    })
}

/// Seconds that were lost to all labels; what faster stretches won back is not taken off.
pub fn lost_in_all(account: &Account) -> f64 {
    account.labels.iter().map(|line| line.lost_seconds.max(0.0)).sum()
}

/// Seconds of an outage while the transfer of an account ran: that ends with the last data that was sent, and an outage that stays down with
/// the capture.
pub fn while_it_ran(account: &Account, outage: &Outage) -> f64 {
    let from = outage.start.max(account.start);
    let to = outage.start.plus_seconds(outage.seconds).min(account.end);
    to.seconds_since(from).max(0.0)
}

/// What a capture needs longer per gigabyte than another one; `own` is its account.
pub(crate) fn gap_sentence(gap: &AccountGap, own: &Account) -> Said {
    let (whole, names) = (gap.gap_s_per_gb, |message: Message| {
        message
            .with("capture", gap.capture.as_str())
            .with("reference", gap.reference.as_str())
    });
    if whole <= LEAST_SHARE * gap.seconds_per_gb {
        let amount = |s| amount(s, gap.seconds_per_gb);
        return names(Message::new("account-gap-none"))
            .with("own", amount(gap.seconds_per_gb))
            .with("other", amount(gap.reference_s_per_gb))
            .into();
    }
    let parts = AccountParts {
        account: own,
        whole,
        seconds: gap.labels.iter().map(|l| (l.label, l.gap_s_per_gb)).collect(),
        beyond_own: false,
    };
    names(Message::new("account-gap"))
        .with("gap", amount_alone(whole))
        .with("parts", parts.said("account-part-less"))
        .into()
}

/// An amount beside no other one.
pub fn amount_alone(s: f64) -> String {
    amount(s, s)
}

/// `24 s`, `1.3 s`; `0.14 s` and `14 ms` where the `whole` is smaller than a second.
pub fn amount(s: f64, whole: f64) -> String {
    let text = match (whole.abs(), s.abs()) {
        (whole, _) if whole < 0.0995 => format!("{:.0} ms", s * 1000.0 + 0.0),
        (whole, _) if whole < 0.995 => format!("{s:.2} s"),
        (_, s_abs) if s_abs < 9.95 => format!("{s:.1} s"),
        (_, s_abs) => {
            let sign = if s < 0.0 { "-" } else { "" };
            format!("{sign}{} s", grouped(s_abs.round() as u64))
        }
    };
    with_sign(&text)
}

/// A figure with a true minus; rounded to nothing, it has no sign.
pub fn with_sign(text: &str) -> String {
    match text.strip_prefix('-') {
        Some(size) if !size.contains(|c: char| ('1'..='9').contains(&c)) => size.to_owned(),
        Some(size) => format!("−{size}"),
        None => text.to_owned(),
    }
}

/// `64 kB` of 65,535 bytes.
pub fn window(bytes: u64) -> String {
    let kilobytes = bytes as f64 / WINDOW_UNIT;
    let (value, unit) = match kilobytes {
        k if k < 999.5 => (k, "kB"),
        k => (k / WINDOW_UNIT, "MB"),
    };
    let text = if value < 99.95 {
        format!("{value:.1}")
    } else {
        format!("{value:.0}")
    };
    format!("{} {unit}", text.strip_suffix(".0").unwrap_or(&text))
}

/// Neither the receiver's window nor the sender's buffer is known: what waits may wait for either.
pub fn either_flight(account: &Account) -> bool {
    [AccountLabel::ReceiveWindow, AccountLabel::SendBuffer]
        .iter()
        .all(|label| account.not_testable.contains(label))
}

fn whole(account: &Account) -> Message {
    let Some(whole) = AccountWhole::of(account) else {
        return Message::new("account-nothing");
    };
    let lost = account.lost_seconds;
    if whole == AccountWhole::Longer {
        let of = AccountParts {
            beyond_own: !account.reference_given,
            ..AccountParts::new(account, lost_in_all(account), |line| line.lost_seconds)
        };
        return Message::new("account-lost")
            .with("lost", amount_alone(lost))
            .with("than", than(account))
            .with("parts", of.said("account-part-won-back"));
    }
    let of = AccountParts::new(account, account.seconds, |line| line.seconds);
    let message = match whole {
        AccountWhole::Faster => Message::new("account-faster"),
        _ => Message::new("account-no-longer").with("share", percent(LEAST_SHARE)),
    };
    message
        .with("than", than(account))
        .with("seconds", amount_alone(account.seconds))
        .with("parts", of.said("account-part-won-back"))
}

/// The whole transfer against the rate that it is compared with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AccountWhole {
    Longer,
    /// Within [`LEAST_SHARE`].
    Alike,
    Faster,
}

impl AccountWhole {
    /// `None` where no transfer was long enough.
    fn of(account: &Account) -> Option<Self> {
        if account.labels.is_empty() || account.seconds <= 0.0 {
            return None;
        }
        let least = LEAST_SHARE * account.seconds;
        Some(match account.lost_seconds {
            lost if lost > least => AccountWhole::Longer,
            lost if lost < -least => AccountWhole::Faster,
            _ => AccountWhole::Alike,
        })
    }
}

/// What the transfer is compared with.
fn than(account: &Account) -> Message {
    let message = match account.reference_given {
        true => Message::new("account-than-given"),
        false => Message::of("account-than", account.own_from.as_str()),
    };
    message.with("rate", rate(account.reference_mbps * 1e6))
}

/// Seconds of labels, as parts of a whole.
struct AccountParts<'a> {
    /// Says which window, and which limit.
    account: &'a Account,
    whole: f64,
    seconds: Vec<(AccountLabel, f64)>,
    /// True where the seconds are those beyond what the path's own rate takes.
    beyond_own: bool,
}

impl<'a> AccountParts<'a> {
    fn new(account: &'a Account, whole: f64, seconds: fn(&AccountLine) -> f64) -> Self {
        let lines = account.labels.iter();
        AccountParts {
            account,
            whole,
            seconds: lines.map(|line| (line.label, seconds(line))).collect(),
            beyond_own: false,
        }
    }

    /// Seconds from which on a label counts.
    fn least(&self) -> f64 {
        LEAST_SHARE * self.whole
    }

    /// Seconds of the labels below nothing, without their sign, where they count.
    fn below(&self) -> Option<f64> {
        let all = self.seconds.iter().map(|(_, s)| *s);
        let below: f64 = all.filter(|s| *s < 0.0).sum();
        (-below >= self.least()).then_some(-below)
    }

    /// The largest, what is below nothing (told as `less`), and what nobody knows.
    fn said(&self, less: &str) -> Message {
        let least = self.least();
        let is_unexplained = |label: AccountLabel| label == AccountLabel::Unexplained;
        let all = || self.seconds.iter().copied();
        let mut named: Vec<(AccountLabel, f64)> = all()
            .filter(|(label, s)| !is_unexplained(*label) && *s >= least)
            .collect();
        named.sort_by(|a, b| b.1.total_cmp(&a.1));
        let named = named.into_iter().take(MOST_NAMED);
        let mut said: Vec<Message> = named.map(|(label, s)| self.part(label, s)).collect();
        said.extend(self.below().map(|s| self.measured(less, s)));
        let unexplained = all().find(|(label, _)| is_unexplained(*label));
        let unexplained = unexplained.map_or(0.0, |(_, s)| s);
        let last = match unexplained >= least {
            true => self.measured("account-part-unexplained", unexplained),
            false => Message::new("account-part-unexplained-little")
                .with("seconds", amount(unexplained, self.whole)),
        };
        let join = |last: Message, before: Message| {
            Message::new("account-parts")
                .with("before", before)
                .with("next", last)
        };
        said.into_iter().rev().fold(last, join)
    }

    fn measured(&self, id: &str, seconds: f64) -> Message {
        self.of(Message::new(id), seconds)
    }

    fn of(&self, message: Message, seconds: f64) -> Message {
        message
            .with("seconds", amount(seconds, self.whole))
            .with("share", share(seconds / self.whole))
    }

    fn part(&self, label: AccountLabel, seconds: f64) -> Message {
        let of = |id| self.measured(id, seconds);
        match label {
            AccountLabel::ReceiveWindow | AccountLabel::SendBuffer if either_flight(self.account) => {
                of("account-part-flight")
            }
            AccountLabel::ReceiveWindow => match self.account.window_bytes {
                Some(bytes) => of("account-part-receive-window").with("window", window(bytes)),
                None => of("account-part-receive-window-unknown"),
            },
            AccountLabel::Capacity if self.beyond_own => of("account-part-slower"),
            AccountLabel::Capacity => {
                of("account-part-capacity").with("rate", rate(self.account.own_mbps * 1e6))
            }
            other => self.of(Message::of("account-part", other.as_str()), seconds),
        }
    }
}

/// Whole percent: parts of a whole are read against each other.
fn share(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

/// Labels that these packets cannot show, and why.
fn not_testable(account: &Account) -> Vec<Message> {
    use AccountLabel::{PathLoss, QueueLoss, Rekey, TunnelDown};
    let all = &account.not_testable;
    let is_cut = all.contains(&Rekey);
    let (cut, other): (Vec<AccountLabel>, Vec<AccountLabel>) = all
        .iter()
        .partition(|l| is_cut && matches!(l, Rekey | TunnelDown | PathLoss | QueueLoss));
    let names = |labels: &[AccountLabel]| -> Arg {
        let each = labels.iter().map(|l| Message::of("account", l.as_str()));
        each.collect::<Vec<_>>().into()
    };
    let why = match (account.rtt_ms, account.d2_from) {
        _ if other.is_empty() => None,
        (None, _) => Some(Message::new("account-no-tcp")),
        (Some(_), D2Source::None) => Some(Message::new("account-no-pattern").with("labels", names(&other))),
        (Some(_), D2Source::Pattern) if !account.scale_known && either_flight(account) => {
            Some(Message::new("account-no-scale"))
        }
        (Some(_), _) => Some(Message::new("account-not-testable").with("labels", names(&other))),
    };
    let cut = is_cut.then(|| Message::new("account-cut").with("labels", names(&cut)));
    why.into_iter().chain(cut).collect()
}
