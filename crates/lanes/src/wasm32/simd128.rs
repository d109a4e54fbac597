//! Four lanes of 32 bits: simd128.

use crate::hash::rounds::K;
use crate::hash::{Block, Compress, LaneHash, Messages, States};
use core::arch::wasm32::*;

const LANES: usize = 4;

/// Four lanes, which every WebAssembly with this module has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Simd128(());

impl Simd128 {
    /// Always a value: a browser without simd128 refuses the whole program.
    pub fn detect() -> Option<Self> {
        Some(Simd128(()))
    }
}

hashes!();

impl Compress<LANES> for Simd128 {
    #[inline]
    fn compress(
        self,
        hash: LaneHash,
        states: &mut States<LANES>,
        messages: &Messages<'_, LANES>,
        steps: usize,
    ) {
        match hash {
            LaneHash::Sha1 => sha1(states, messages, steps),
            LaneHash::Sha256 => sha256(states, messages, steps),
        }
    }
}

#[inline]
fn splat(word: u32) -> v128 {
    u32x4_splat(word)
}

#[inline]
fn add(x: v128, y: v128) -> v128 {
    u32x4_add(x, y)
}

#[inline]
fn xor(x: v128, y: v128) -> v128 {
    v128_xor(x, y)
}

#[inline]
fn xor3(x: v128, y: v128, z: v128) -> v128 {
    xor(xor(x, y), z)
}

/// Where x has a bit that of y, else that of z.
#[inline]
fn choose(x: v128, y: v128, z: v128) -> v128 {
    xor(z, v128_and(x, xor(y, z)))
}

/// The next round's y ^ z is this round's x ^ y: the compiler computes it once.
#[inline]
fn majority(x: v128, y: v128, z: v128) -> v128 {
    xor(y, v128_and(xor(x, y), xor(y, z)))
}

/// By `LEFT` bits to the left, which is `RIGHT` = 32 − `LEFT` to the right.
#[inline]
fn rotate<const LEFT: u32, const RIGHT: u32>(x: v128) -> v128 {
    v128_or(u32x4_shl(x, LEFT), u32x4_shr(x, RIGHT))
}

#[inline]
fn shift<const RIGHT: u32>(x: v128) -> v128 {
    u32x4_shr(x, RIGHT)
}

/// Block `step` of every message as 16 big-endian words: word t of all lanes in vector t.
#[inline]
fn transposed(messages: &Messages<'_, LANES>, step: usize) -> [v128; 16] {
    let blocks: [&Block; LANES] = messages.map(|message| message.get(step).unwrap_or(&[0; 64]));
    let mut words = [splat(0); 16];
    for (quarter, words) in words.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        let [a, b, c, d] = blocks.map(|block| swapped(&block.as_chunks::<16>().0[quarter]));
        let (low_ab, high_ab) = (
            u32x4_shuffle::<0, 4, 1, 5>(a, b),
            u32x4_shuffle::<2, 6, 3, 7>(a, b),
        );
        let (low_cd, high_cd) = (
            u32x4_shuffle::<0, 4, 1, 5>(c, d),
            u32x4_shuffle::<2, 6, 3, 7>(c, d),
        );
        *words = [
            u64x2_shuffle::<0, 2>(low_ab, low_cd),
            u64x2_shuffle::<1, 3>(low_ab, low_cd),
            u64x2_shuffle::<0, 2>(high_ab, high_cd),
            u64x2_shuffle::<1, 3>(high_ab, high_cd),
        ];
    }
    words
}

/// Four big-endian words of a message.
#[inline]
fn swapped(bytes: &[u8; 16]) -> v128 {
    let [low, high] = bytes.as_chunks::<8>().0 else {
        return splat(0);
    };
    let vector = u64x2(u64::from_le_bytes(*low), u64::from_le_bytes(*high));
    u8x16_shuffle::<3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12>(vector, vector)
}

#[inline]
fn load([a, b, c, d]: &[u32; LANES]) -> v128 {
    u32x4(*a, *b, *c, *d)
}

#[inline]
fn store(words: &mut [u32; LANES], vector: v128) {
    *words = [
        u32x4_extract_lane::<0>(vector),
        u32x4_extract_lane::<1>(vector),
        u32x4_extract_lane::<2>(vector),
        u32x4_extract_lane::<3>(vector),
    ];
}
