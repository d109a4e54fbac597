//! What this machine's kernel counted of the packets that it dropped: Linux `/proc/net/xfrm_stat`
//! (Documentation/networking/xfrm_proc.rst).

use rekeyscope_model::time::Timestamp;
use rekeyscope_model::watch::{KernelMeaning, Occurrence, WatchEvent};
use std::collections::BTreeMap;

/// The counters by name.
pub type KernelCounters = BTreeMap<String, u64>;

/// Reads the file: a name and a number in each line; what is something else is left out.
pub fn read(text: &str) -> KernelCounters {
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let (name, value) = (words.next()?, words.next()?);
        let is_name = name.starts_with("Xfrm") && name.bytes().all(|b| b.is_ascii_alphanumeric());
        is_name.then_some((name.to_string(), value.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

/// What grew.
pub fn grown(before: &KernelCounters, now: &KernelCounters, time: Timestamp) -> Vec<WatchEvent> {
    let grown = now.iter().filter_map(|(name, value)| {
        let packets = value.checked_sub(*before.get(name)?).filter(|n| *n > 0)?;
        Some(WatchEvent {
            time,
            ends: None,
            what: Occurrence::Kernel {
                counter: name.clone(),
                packets,
                meaning: meaning(name),
            },
        })
    });
    grown.collect()
}

fn meaning(counter: &str) -> KernelMeaning {
    match counter {
        "XfrmInNoStates" | "XfrmOutNoStates" | "XfrmAcquireError" => KernelMeaning::NotReady,
        "XfrmInStateSeqError" | "XfrmOutStateSeqError" => KernelMeaning::Replay,
        "XfrmInStateExpired" | "XfrmOutStateExpired" => KernelMeaning::HardLimit,
        "XfrmInStateProtoError" | "XfrmInStateMismatch" => KernelMeaning::WrongKey,
        _ => KernelMeaning::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grew_is_told_with_its_meaning() {
        let before = read("XfrmInNoStates \t 5\nXfrmInStateSeqError 0\nXfrmInStateExpired 1\nno number\n");
        let now = read("XfrmInNoStates 5\nXfrmInStateSeqError 7\nXfrmInStateExpired 3\nXfrmNew 4\n");
        let told: Vec<_> = grown(&before, &now, Timestamp(0))
            .into_iter()
            .map(|event| match event.what {
                Occurrence::Kernel { packets, meaning, .. } => (packets, meaning),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(told, [(2, KernelMeaning::HardLimit), (7, KernelMeaning::Replay)]);
        // Another machine, or one that was started again.
        assert!(grown(&now, &before, Timestamp(0)).is_empty());
    }
}
