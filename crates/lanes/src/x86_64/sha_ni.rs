//! Two SHA-256 messages at once with SHA-NI: each of its instructions waits for the one before it, so that one message leaves
//! its unit idle for half of the time. SHA-1 gains nothing from it. No vector of more than 128 bits may stand in these functions: see
//! CONTRIBUTING on SHA-NI beside VEX code.

use crate::hash::rounds::K;
use crate::hash::{Block, Chain, Compress, LaneHash, Messages, States};
use std::arch::x86_64::*;

const LANES: usize = 2;

/// Proof that the processor has SHA-NI.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShaNi(());

impl ShaNi {
    /// Asks the processor (the answer is cached).
    pub fn detect() -> Option<Self> {
        let sse = is_x86_feature_detected!("ssse3") && is_x86_feature_detected!("sse4.1");
        (sse && is_x86_feature_detected!("sha")).then_some(ShaNi(()))
    }
}

impl Compress<LANES> for ShaNi {
    #[inline]
    fn compress(
        self,
        hash: LaneHash,
        states: &mut States<LANES>,
        messages: &Messages<'_, LANES>,
        steps: usize,
    ) {
        let mut chains = [0, 1].map(|lane| states.map(|words| words[lane]));
        match hash {
            // SAFETY: `sha256` needs the features that `detect`, the only maker of `self`, has found.
            LaneHash::Sha256 => unsafe { sha256(&mut chains, messages, steps) },
            LaneHash::Sha1 => {
                for (chain, message) in chains.iter_mut().zip(messages) {
                    hash.compress_alone(chain, message.get(..steps).unwrap_or_default());
                }
            }
        }
        for (i, words) in states.iter_mut().enumerate() {
            *words = chains.map(|chain| chain[i]);
        }
    }
}

/// The words a, b, e, f and c, d, g, h of a chain, the first in the highest place: as the instructions take them.
type Halves = [__m128i; 2];

/// Four rounds of both lanes for each `$t`, in turn, so that one computes while the other waits. The message schedule needs
/// only its last 16 words.
macro_rules! rounds {
    ($v:ident, $w:ident, $($t:literal)*) => {$(
        if $t >= 4 {
            $w[0][$t % 4] = next_words(&$w[0], $t);
            $w[1][$t % 4] = next_words(&$w[1], $t);
        }
        let k = four([K[4 * $t], K[4 * $t + 1], K[4 * $t + 2], K[4 * $t + 3]]);
        four_rounds(&mut $v[0], _mm_add_epi32($w[0][$t % 4], k));
        four_rounds(&mut $v[1], _mm_add_epi32($w[1][$t % 4], k));
    )*};
}

#[target_feature(enable = "sha,ssse3,sse4.1")]
fn sha256(chains: &mut [Chain; LANES], messages: &Messages<'_, LANES>, steps: usize) {
    let mut v = [halves(&chains[0]), halves(&chains[1])];
    for step in 0..steps {
        let before = v;
        let mut w = [words(messages[0].get(step)), words(messages[1].get(step))];
        rounds!(v, w, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
        for (v, before) in v.iter_mut().zip(before) {
            *v = [_mm_add_epi32(v[0], before[0]), _mm_add_epi32(v[1], before[1])];
        }
    }
    for (chain, v) in chains.iter_mut().zip(v) {
        *chain = joined(v);
    }
}

#[inline]
#[target_feature(enable = "sha,sse4.1")]
fn four_rounds([abef, cdgh]: &mut Halves, w: __m128i) {
    *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, w);
    *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32::<0b11_10>(w));
}

/// The four words behind the last sixteen.
#[inline]
#[target_feature(enable = "sha,ssse3,sse4.1")]
fn next_words(w: &[__m128i; 4], t: usize) -> __m128i {
    let [w0, w1, w2, w3] = [w[t % 4], w[(t + 1) % 4], w[(t + 2) % 4], w[(t + 3) % 4]];
    let early = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8::<4>(w3, w2));
    _mm_sha256msg2_epu32(early, w3)
}

#[inline]
#[target_feature(enable = "sse4.1")]
fn halves(&[a, b, c, d, e, f, g, h]: &Chain) -> Halves {
    [four([f, e, b, a]), four([h, g, d, c])]
}

#[inline]
#[target_feature(enable = "sse4.1")]
fn joined([abef, cdgh]: Halves) -> Chain {
    let [f, e, b, a] = apart(abef);
    let [h, g, d, c] = apart(cdgh);
    [a, b, c, d, e, f, g, h]
}

/// A vector of four words, the first in the lowest place.
#[inline]
#[target_feature(enable = "sse4.1")]
fn four(words: [u32; 4]) -> __m128i {
    let [w0, w1, w2, w3] = words;
    _mm_set_epi32(
        w3.cast_signed(),
        w2.cast_signed(),
        w1.cast_signed(),
        w0.cast_signed(),
    )
}

#[inline]
#[target_feature(enable = "sse4.1")]
fn apart(v: __m128i) -> [u32; 4] {
    [
        _mm_extract_epi32::<0>(v).cast_unsigned(),
        _mm_extract_epi32::<1>(v).cast_unsigned(),
        _mm_extract_epi32::<2>(v).cast_unsigned(),
        _mm_extract_epi32::<3>(v).cast_unsigned(),
    ]
}

/// The sixteen big-endian words of a block, zeros without one.
#[inline]
#[target_feature(enable = "ssse3,sse4.1")]
fn words(block: Option<&Block>) -> [__m128i; 4] {
    let swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    let mut words = [_mm_setzero_si128(); 4];
    let Some(block) = block else { return words };
    for (four, bytes) in words.iter_mut().zip(block.as_chunks::<16>().0) {
        // SAFETY: `bytes` are 16 readable bytes, and this load asks for no alignment.
        let loaded = unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
        *four = _mm_shuffle_epi8(loaded, swap);
    }
    words
}
