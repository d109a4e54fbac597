//! The lanes of a module, once the processor was asked.

/// [`Compress`](crate::Compress) for `$proof` by the `sha1` and `sha256` of this module, compiled for `$features`, of which a value of `$proof` is
/// the proof.
macro_rules! lanes {
    ($proof:ident, $features:literal) => {
        hashes!(#[target_feature(enable = $features)]);

        impl Compress<LANES> for $proof {
            #[inline]
            fn compress(self, hash: LaneHash, states: &mut States<LANES>, messages: &Messages<'_, LANES>, steps: usize) {
                // SAFETY: both need the features that `detect`, the only maker of `self`, has found.
                unsafe {
                    match hash {
                        LaneHash::Sha1 => sha1(states, messages, steps),
                        LaneHash::Sha256 => sha256(states, messages, steps),
                    }
                }
            }
        }
    };
}
