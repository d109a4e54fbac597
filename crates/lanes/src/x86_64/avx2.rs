//! Eight lanes of 32 bits: AVX2.

use crate::hash::rounds::K;
use crate::hash::{Block, Compress, LaneHash, Messages, States};
use std::arch::x86_64::*;

const LANES: usize = 8;

/// Proof that the processor has AVX2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Avx2(());

impl Avx2 {
    /// Asks the processor (the answer is cached).
    pub fn detect() -> Option<Self> {
        is_x86_feature_detected!("avx2").then_some(Avx2(()))
    }
}

lanes!(Avx2, "avx2");

#[inline]
#[target_feature(enable = "avx2")]
fn splat(word: u32) -> __m256i {
    _mm256_set1_epi32(word.cast_signed())
}

#[inline]
#[target_feature(enable = "avx2")]
fn add(x: __m256i, y: __m256i) -> __m256i {
    _mm256_add_epi32(x, y)
}

#[inline]
#[target_feature(enable = "avx2")]
fn xor(x: __m256i, y: __m256i) -> __m256i {
    _mm256_xor_si256(x, y)
}

#[inline]
#[target_feature(enable = "avx2")]
fn xor3(x: __m256i, y: __m256i, z: __m256i) -> __m256i {
    xor(xor(x, y), z)
}

/// Where x has a bit that of y, else that of z.
#[inline]
#[target_feature(enable = "avx2")]
fn choose(x: __m256i, y: __m256i, z: __m256i) -> __m256i {
    xor(z, _mm256_and_si256(x, xor(y, z)))
}

/// The next round's y ^ z is this round's x ^ y: the compiler computes it once.
#[inline]
#[target_feature(enable = "avx2")]
fn majority(x: __m256i, y: __m256i, z: __m256i) -> __m256i {
    xor(y, _mm256_and_si256(xor(x, y), xor(y, z)))
}

/// By `LEFT` bits to the left, which is `RIGHT` = 32 − `LEFT` to the right.
#[inline]
#[target_feature(enable = "avx2")]
fn rotate<const LEFT: i32, const RIGHT: i32>(x: __m256i) -> __m256i {
    _mm256_or_si256(_mm256_slli_epi32::<LEFT>(x), _mm256_srli_epi32::<RIGHT>(x))
}

#[inline]
#[target_feature(enable = "avx2")]
fn shift<const RIGHT: i32>(x: __m256i) -> __m256i {
    _mm256_srli_epi32::<RIGHT>(x)
}

/// Block `step` of every message as 16 big-endian words: word t of all lanes in vector t.
#[inline]
#[target_feature(enable = "avx2")]
fn transposed(messages: &Messages<'_, LANES>, step: usize) -> [__m256i; 16] {
    let swap = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    let swap = _mm256_broadcastsi128_si256(swap);
    // No closures: they would be called, not inlined, as the iterators that take them are compiled without AVX2.
    let mut blocks = [&[0; 64]; LANES];
    for (block, message) in blocks.iter_mut().zip(messages) {
        *block = message.get(step).unwrap_or(block);
    }
    let mut words = [splat(0); 16];
    for (quarter, words) in words.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        // Row i: four words of lane i, and the same four of lane i + 4.
        let mut rows = [splat(0); 4];
        for (i, row) in rows.iter_mut().enumerate() {
            *row = _mm256_shuffle_epi8(load_quarters(blocks[i], blocks[i + 4], quarter), swap);
        }
        let low_01 = _mm256_unpacklo_epi32(rows[0], rows[1]);
        let high_01 = _mm256_unpackhi_epi32(rows[0], rows[1]);
        let low_23 = _mm256_unpacklo_epi32(rows[2], rows[3]);
        let high_23 = _mm256_unpackhi_epi32(rows[2], rows[3]);
        *words = [
            _mm256_unpacklo_epi64(low_01, low_23),
            _mm256_unpackhi_epi64(low_01, low_23),
            _mm256_unpacklo_epi64(high_01, high_23),
            _mm256_unpackhi_epi64(high_01, high_23),
        ];
    }
    words
}

/// The same quarter of two blocks.
#[inline]
#[target_feature(enable = "avx2")]
fn load_quarters(low: &Block, high: &Block, quarter: usize) -> __m256i {
    let (low, high) = (
        &low.as_chunks::<16>().0[quarter],
        &high.as_chunks::<16>().0[quarter],
    );
    // SAFETY: a quarter is 16 readable bytes, and these loads ask for no alignment.
    unsafe { _mm256_loadu2_m128i(high.as_ptr().cast(), low.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(words: &[u32; LANES]) -> __m256i {
    // SAFETY: eight words are 32 readable bytes, and this load asks for no alignment.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(words: &mut [u32; LANES], vector: __m256i) {
    // SAFETY: eight words are 32 writable bytes that nobody else holds, and this store asks for no alignment.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), vector) }
}
