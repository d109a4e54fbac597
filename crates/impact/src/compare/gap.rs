//! Two captures against each other by what their seconds went to: seconds per gigabyte, label by label.

#[cfg(test)]
mod tests;

use crate::compare::line::GIGABYTE;
use crate::tell::account;
use rekeyscope_model::analysis::comparison::ComparedCapture;
use rekeyscope_model::analysis::{Account, AccountGap, AccountGapLine, AccountLabel, Analysis, Direction};
use std::collections::BTreeMap;

/// The account of one direction, without its stretches: what a comparison keeps of it.
pub(crate) fn of_direction(analysis: &Analysis, tunnel: usize, direction: Direction) -> Option<Account> {
    let found = analysis.account_of(tunnel, direction)?;
    Some(Account {
        runs: Vec::new(),
        ..found.clone()
    })
}

/// What `capture` needs longer per gigabyte than `reference`; `None` where one of them has no account, or where new bytes
/// would stand beside ESP bytes.
pub fn gap(capture: &ComparedCapture, reference: &ComparedCapture) -> Option<AccountGap> {
    let (own, other) = (capture.account.as_ref()?, reference.account.as_ref()?);
    if capture.counted != reference.counted || own.bytes == 0 || other.bytes == 0 {
        return None;
    }
    let mut pairs: BTreeMap<AccountLabel, (f64, f64)> = BTreeMap::new();
    for line in &own.labels {
        pairs.entry(line.label).or_default().0 += per_gb(line.seconds, own.bytes);
    }
    for line in &other.labels {
        pairs.entry(line.label).or_default().1 += per_gb(line.seconds, other.bytes);
    }
    let (seconds_per_gb, reference_s_per_gb) =
        (per_gb(own.seconds, own.bytes), per_gb(other.seconds, other.bytes));
    let gap_s_per_gb = seconds_per_gb - reference_s_per_gb;
    let line = |(label, (s_per_gb, reference_s_per_gb)): (AccountLabel, (f64, f64))| {
        let difference = s_per_gb - reference_s_per_gb;
        AccountGapLine {
            label,
            s_per_gb,
            reference_s_per_gb,
            gap_s_per_gb: difference,
            gap_share: (gap_s_per_gb > 0.0).then(|| difference / gap_s_per_gb),
        }
    };
    let mut labels: Vec<AccountGapLine> = pairs.into_iter().map(line).collect();
    labels.sort_by(|a, b| b.gap_s_per_gb.total_cmp(&a.gap_s_per_gb));
    let gap = AccountGap {
        capture: capture.name.clone(),
        reference: reference.name.clone(),
        seconds_per_gb,
        reference_s_per_gb,
        gap_s_per_gb,
        labels,
        sentence: String::new(),
        messages: Vec::new(),
    };
    let said = account::gap_sentence(&gap, own);
    Some(AccountGap {
        sentence: said.sentence,
        messages: said.messages,
        ..gap
    })
}

fn per_gb(seconds: f64, bytes: u64) -> f64 {
    seconds * GIGABYTE / bytes as f64
}

/// Every capture against the one that needs the fewest seconds per gigabyte.
pub(crate) fn gaps(captures: &[ComparedCapture]) -> Vec<AccountGap> {
    let speed = |c: &ComparedCapture| {
        let account = c.account.as_ref().filter(|a| a.bytes > 0)?;
        Some(per_gb(account.seconds, account.bytes))
    };
    let measured = captures
        .iter()
        .enumerate()
        .filter_map(|(n, c)| Some((n, speed(c)?)));
    let Some((fastest, _)) = measured.min_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Vec::new();
    };
    let others = captures.iter().enumerate().filter(|(n, _)| *n != fastest);
    others.filter_map(|(_, c)| gap(c, &captures[fastest])).collect()
}
