//! Sixteen lanes of 32 bits: AVX-512.

use crate::hash::rounds::K;
use crate::hash::{Block, Compress, LaneHash, Messages, States};
use crate::x86_64::fetch::fetch;
use std::arch::x86_64::*;

const LANES: usize = 16;
/// So far ahead of a block its message is fetched, bytes: messages that lie in memory and in no cache take 0.63 of the time (with two
/// blocks 0.67, with eight 0.76). Eight lanes of AVX2 gain nothing by it.
const PREFETCH: usize = 4 * size_of::<Block>();

/// Proof that the processor has AVX-512 F and BW.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Avx512(());

impl Avx512 {
    /// Asks the processor (the answer is cached).
    pub fn detect() -> Option<Self> {
        let has = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
        has.then_some(Avx512(()))
    }
}

lanes!(Avx512, "avx512f,avx512bw");

/// The functions of FIPS 180-4 §4.1 as truth tables of three bits: bit 4x + 2y + z is the result for (x, y, z).
const CHOOSE: i32 = 0b1100_1010;
const XOR: i32 = 0b1001_0110;
const MAJORITY: i32 = 0b1110_1000;

#[inline]
#[target_feature(enable = "avx512f")]
fn splat(word: u32) -> __m512i {
    _mm512_set1_epi32(word.cast_signed())
}

#[inline]
#[target_feature(enable = "avx512f")]
fn add(x: __m512i, y: __m512i) -> __m512i {
    _mm512_add_epi32(x, y)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn xor(x: __m512i, y: __m512i) -> __m512i {
    _mm512_xor_si512(x, y)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn xor3(x: __m512i, y: __m512i, z: __m512i) -> __m512i {
    _mm512_ternarylogic_epi32::<XOR>(x, y, z)
}

/// Where x has a bit that of y, else that of z.
#[inline]
#[target_feature(enable = "avx512f")]
fn choose(x: __m512i, y: __m512i, z: __m512i) -> __m512i {
    _mm512_ternarylogic_epi32::<CHOOSE>(x, y, z)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn majority(x: __m512i, y: __m512i, z: __m512i) -> __m512i {
    _mm512_ternarylogic_epi32::<MAJORITY>(x, y, z)
}

/// By `LEFT` bits to the left; the other direction is for vectors that cannot rotate.
#[inline]
#[target_feature(enable = "avx512f")]
fn rotate<const LEFT: i32, const RIGHT: i32>(x: __m512i) -> __m512i {
    _mm512_rol_epi32::<LEFT>(x)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn shift<const RIGHT: u32>(x: __m512i) -> __m512i {
    _mm512_srli_epi32::<RIGHT>(x)
}

/// Block `step` of every message as 16 big-endian words: word t of all lanes in vector t.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn transposed(messages: &Messages<'_, LANES>, step: usize) -> [__m512i; 16] {
    let swap = _mm512_broadcast_i32x4(_mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3));
    let mut rows = [_mm512_setzero_si512(); 16];
    for (row, message) in rows.iter_mut().zip(messages) {
        if let Some(block) = message.get(step) {
            *row = _mm512_shuffle_epi8(load_block(block), swap);
            fetch(block.as_ptr().wrapping_add(PREFETCH));
        }
    }
    // Quarter q of `fours[4 * g + j]`: word 4q + j of the lanes 4g to 4g + 3.
    let mut fours = rows;
    for g in [0, 4, 8, 12] {
        let low_01 = _mm512_unpacklo_epi32(rows[g], rows[g + 1]);
        let high_01 = _mm512_unpackhi_epi32(rows[g], rows[g + 1]);
        let low_23 = _mm512_unpacklo_epi32(rows[g + 2], rows[g + 3]);
        let high_23 = _mm512_unpackhi_epi32(rows[g + 2], rows[g + 3]);
        fours[g] = _mm512_unpacklo_epi64(low_01, low_23);
        fours[g + 1] = _mm512_unpackhi_epi64(low_01, low_23);
        fours[g + 2] = _mm512_unpacklo_epi64(high_01, high_23);
        fours[g + 3] = _mm512_unpackhi_epi64(high_01, high_23);
    }
    // Shuffles take quarters 0 and 2 (EVEN) or 1 and 3 (ODD) of both sides.
    const EVEN: i32 = 0b10_00_10_00;
    const ODD: i32 = 0b11_01_11_01;
    let mut words = rows;
    for j in [0, 1, 2, 3] {
        let left_even = _mm512_shuffle_i32x4::<EVEN>(fours[j], fours[4 + j]);
        let left_odd = _mm512_shuffle_i32x4::<ODD>(fours[j], fours[4 + j]);
        let right_even = _mm512_shuffle_i32x4::<EVEN>(fours[8 + j], fours[12 + j]);
        let right_odd = _mm512_shuffle_i32x4::<ODD>(fours[8 + j], fours[12 + j]);
        words[j] = _mm512_shuffle_i32x4::<EVEN>(left_even, right_even);
        words[4 + j] = _mm512_shuffle_i32x4::<EVEN>(left_odd, right_odd);
        words[8 + j] = _mm512_shuffle_i32x4::<ODD>(left_even, right_even);
        words[12 + j] = _mm512_shuffle_i32x4::<ODD>(left_odd, right_odd);
    }
    words
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_block(block: &Block) -> __m512i {
    // SAFETY: a block is 64 readable bytes, and this load asks for no alignment.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load(words: &[u32; LANES]) -> __m512i {
    // SAFETY: sixteen words are 64 readable bytes, and this load asks for no alignment.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store(words: &mut [u32; LANES], vector: __m512i) {
    // SAFETY: sixteen words are 64 writable bytes that nobody else holds, and this store asks for no alignment.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), vector) }
}
