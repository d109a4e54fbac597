//! Frames that show something, as a display filter of Wireshark.

/// Most frames given as evidence of one thing.
pub(crate) const MOST_FRAMES: usize = 20;

/// Selects frames in Wireshark (set syntax of 3.6 and later).
pub(crate) fn display_filter(frames: &[u64]) -> String {
    if frames.is_empty() {
        return String::new();
    }
    let list: Vec<String> = frames.iter().map(u64::to_string).collect();
    format!("frame.number in {{{}}}", list.join(", "))
}
