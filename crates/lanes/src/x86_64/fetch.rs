//! Memory that is wanted soon.

use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

/// A line of the cache.
const LINE_LEN: usize = 64;

/// Asks for the two lines of the cache behind `bytes`, without waiting for them.
#[inline]
pub fn fetch_behind(bytes: &[u8]) {
    let end = bytes.as_ptr_range().end;
    for place in [end, end.wrapping_add(LINE_LEN)] {
        // Newer versions of Rust call it a safe function.
        #[allow(unused_unsafe)]
        // SAFETY: a prefetch reads nothing and may have any address.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(place.cast());
        }
    }
}
