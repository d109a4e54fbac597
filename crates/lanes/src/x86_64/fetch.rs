//! Memory that is wanted soon.

use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

/// A line of the cache.
const LINE_LEN: usize = 64;

/// Asks for the two lines of the cache behind `bytes`, without waiting for them.
#[inline]
pub fn fetch_behind(bytes: &[u8]) {
    let end = bytes.as_ptr_range().end;
    fetch(end);
    fetch(end.wrapping_add(LINE_LEN));
}

/// Asks for the line of the cache at a place, which may be anywhere.
#[inline]
pub(super) fn fetch(place: *const u8) {
    // Newer versions of Rust call it a safe function.
    #[allow(unused_unsafe)]
    // SAFETY: a prefetch reads nothing and may have any address.
    unsafe {
        _mm_prefetch::<_MM_HINT_T0>(place.cast());
    }
}
