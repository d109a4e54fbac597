//! What a detector gives back.

use rekeyscope_model::analysis::{Cause, Confidence};

/// Most frames given as evidence of one cause.
pub(crate) const MOST_FRAMES: usize = 20;

/// The traces of a cause around one rekey.
#[derive(Debug, Clone)]
pub(crate) struct Symptom {
    pub(crate) confidence: Confidence,
    /// The first [`MOST_FRAMES`] different frames in order.
    pub(crate) frames: Vec<u64>,
    /// They prove what an explanation otherwise only makes likely.
    pub(crate) proven: bool,
}

impl Symptom {
    pub(crate) fn new(confidence: Confidence, frames: impl IntoIterator<Item = u64>) -> Self {
        let mut frames: Vec<u64> = frames.into_iter().collect();
        frames.sort_unstable();
        frames.dedup();
        frames.truncate(MOST_FRAMES);
        Symptom {
            confidence,
            frames,
            proven: false,
        }
    }

    /// As the document has it.
    pub(crate) fn report(&self, id: &str) -> Cause {
        Cause {
            id: id.into(),
            confidence: self.confidence,
            evidence_frames: self.frames.clone(),
            display_filter: display_filter(&self.frames),
        }
    }

    /// The same as a proof.
    pub(crate) fn proven(self) -> Self {
        Symptom { proven: true, ..self }
    }
}

/// Sure where something proves it.
pub(crate) fn high_if(proven: bool) -> Confidence {
    if proven {
        Confidence::High
    } else {
        Confidence::Medium
    }
}

/// Selects frames in Wireshark (set syntax of 3.6 and later).
pub(crate) fn display_filter(frames: &[u64]) -> String {
    if frames.is_empty() {
        return String::new();
    }
    let list: Vec<String> = frames.iter().map(u64::to_string).collect();
    format!("frame.number in {{{}}}", list.join(", "))
}
