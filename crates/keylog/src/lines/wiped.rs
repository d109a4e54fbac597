//! Text with keys in it, which leaves nothing behind where it grows.

use zeroize::Zeroizing;

/// Appends; what gets too small is wiped, as everything is on drop. (A `Vec` frees it as it is.)
pub(crate) fn append(text: &mut Zeroizing<Vec<u8>>, more: &[u8]) {
    let needed = text.len() + more.len();
    if needed > text.capacity() {
        let mut larger = Zeroizing::new(Vec::with_capacity(needed.max(2 * text.capacity())));
        larger.extend_from_slice(text);
        *text = larger;
    }
    text.extend_from_slice(more);
}
