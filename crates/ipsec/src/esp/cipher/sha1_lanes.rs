//! SHA-1 (FIPS 180-4 §6.1) over sixteen messages at once: one message in each 32-bit lane of the AVX-512 registers.
//!
//! A SHA-1 round waits for the one before it, so a single message leaves most of a core idle; sixteen fill it. Nothing
//! here knows about HMAC: lanes, refilling and padding are in `hmac_sha1`.

// The one place in the crate: vector loads and stores take pointers, and a function compiled for AVX-512 may be called
// only where the processor has it. Both are wrapped here in functions that cannot be misused.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
pub(super) use x86_64::Sha1Lanes;

#[cfg(not(target_arch = "x86_64"))]
use crate::esp::cipher::lanes::{Block, LANES, States};

/// Other processors have no lanes: there is no value of this type.
#[cfg(not(target_arch = "x86_64"))]
#[derive(Clone, Copy)]
pub(super) enum Sha1Lanes {}

#[cfg(not(target_arch = "x86_64"))]
impl Sha1Lanes {
    pub(super) fn detect() -> Option<Self> {
        None
    }

    pub(super) fn compress(self, _: &mut States, _: &[&[Block]; LANES], _: usize) {
        match self {}
    }
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use crate::esp::cipher::lanes::{Block, LANES, States};
    use std::arch::x86_64::*;

    /// Proof that the processor has AVX-512 F and BW.
    #[derive(Clone, Copy)]
    pub(in crate::esp::cipher) struct Sha1Lanes(());

    impl Sha1Lanes {
        /// Asks the processor (the answer is cached).
        pub(in crate::esp::cipher) fn detect() -> Option<Self> {
            let has = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
            has.then_some(Sha1Lanes(()))
        }

        /// Compresses the first `steps` blocks of each lane's message into its state. A message with fewer blocks goes on
        /// with zeros.
        pub(in crate::esp::cipher) fn compress(
            self,
            states: &mut States,
            messages: &[&[Block]; LANES],
            steps: usize,
        ) {
            // SAFETY: `compress` needs AVX-512 F and BW; `detect`, the only maker of `self`, has found both.
            unsafe { compress(states, messages, steps) }
        }
    }

    /// One round for each `$t`. Instead of moving a..e on by one after each round, their places move: in round t the i-th of
    /// them is at (i − t) mod 5. The message schedule needs only its last 16 words.
    macro_rules! rounds {
        ($v:ident, $w:ident, $k:literal, $logic:expr, $($t:literal)*) => {
            let k = _mm512_set1_epi32($k as i32);
            $(
                if $t >= 16 {
                    let three =
                        _mm512_ternarylogic_epi32::<XOR>($w[($t + 13) % 16], $w[($t + 8) % 16], $w[($t + 2) % 16]);
                    $w[$t % 16] = _mm512_rol_epi32::<1>(_mm512_xor_si512(three, $w[$t % 16]));
                }
                let [a, b, c, d, e] = [80 - $t, 81 - $t, 82 - $t, 83 - $t, 84 - $t];
                let logic = _mm512_ternarylogic_epi32::<{ $logic }>($v[b % 5], $v[c % 5], $v[d % 5]);
                let known = _mm512_add_epi32($v[e % 5], _mm512_add_epi32($w[$t % 16], k));
                let sum = _mm512_add_epi32(_mm512_add_epi32(known, logic), _mm512_rol_epi32::<5>($v[a % 5]));
                $v[b % 5] = _mm512_rol_epi32::<30>($v[b % 5]);
                $v[e % 5] = sum;
            )*
        };
    }

    /// The functions of FIPS 180-4 §4.1.1 as truth tables of three bits: bit 4x + 2y + z is the result for (x, y, z).
    const CHOOSE: i32 = 0b1100_1010;
    const XOR: i32 = 0b1001_0110;
    const MAJORITY: i32 = 0b1110_1000;

    #[target_feature(enable = "avx512f,avx512bw")]
    fn compress(states: &mut States, messages: &[&[Block]; LANES], steps: usize) {
        let [a, b, c, d, e] = &*states;
        let mut v = [load(a), load(b), load(c), load(d), load(e)];
        for step in 0..steps {
            let before = v;
            let mut w = transposed(messages, step);
            rounds!(v, w, 0x5a82_7999_u32, CHOOSE, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19);
            rounds!(v, w, 0x6ed9_eba1_u32, XOR, 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39);
            rounds!(v, w, 0x8f1b_bcdc_u32, MAJORITY, 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59);
            rounds!(v, w, 0xca62_c1d6_u32, XOR, 60 61 62 63 64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79);
            for (word, before) in v.iter_mut().zip(before) {
                *word = _mm512_add_epi32(*word, before);
            }
        }
        for (words, vector) in states.iter_mut().zip(v) {
            store(words, vector);
        }
    }

    /// Block `step` of every message as 16 big-endian words: word t of all lanes in vector t.
    #[target_feature(enable = "avx512f,avx512bw")]
    fn transposed(messages: &[&[Block]; LANES], step: usize) -> [__m512i; 16] {
        let swap = _mm512_broadcast_i32x4(_mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3));
        let mut rows = [_mm512_setzero_si512(); 16];
        for (row, message) in rows.iter_mut().zip(messages) {
            if let Some(block) = message.get(step) {
                *row = _mm512_shuffle_epi8(load_block(block), swap);
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

    #[target_feature(enable = "avx512f")]
    fn load_block(block: &Block) -> __m512i {
        // SAFETY: a block is 64 readable bytes, and this load asks for no alignment.
        unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx512f")]
    fn load(words: &[u32; LANES]) -> __m512i {
        // SAFETY: sixteen words are 64 readable bytes, and this load asks for no alignment.
        unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx512f")]
    fn store(words: &mut [u32; LANES], vector: __m512i) {
        // SAFETY: sixteen words are 64 writable bytes that nobody else holds, and this store asks for no alignment.
        unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), vector) }
    }
}
