//! Counts as both languages write them.

/// A count with its digits in groups of three, as both languages write it: `24,102`. Not for numbers that are looked up
/// elsewhere, such as those of frames.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}
