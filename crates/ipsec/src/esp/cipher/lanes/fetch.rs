//! Memory that is wanted soon.

/// A line of the cache.
const LINE_LEN: usize = 64;

/// Asks for the two lines of the cache behind `bytes`, without waiting for them. Frames lie behind one another, and what another core has
/// read from a file takes as long to come as the headers of a frame take to be walked through.
#[inline]
pub fn fetch_behind(bytes: &[u8]) {
    let end = bytes.as_ptr_range().end;
    fetch(end);
    fetch(end.wrapping_add(LINE_LEN));
}

/// Asks for the line of the cache at a place, which may be anywhere.
#[inline]
pub(super) fn fetch(place: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing and may have any address. (Newer versions of Rust know that.)
        #[allow(unused_unsafe)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(place.cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}
