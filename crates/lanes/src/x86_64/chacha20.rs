//! ChaCha20 (RFC 8439 §2.3) with AVX2: four blocks at once, two in each register, one row of their states.

use crate::x86_64::avx2::Avx2;
use std::arch::x86_64::*;

/// Constants, key, counter, nonce.
type State = [u32; 16];
/// Turns of a row by places.
const BY_ONE: i32 = 0b00_11_10_01;
const BY_THREE: i32 = 0b10_01_00_11;
/// The rows of two states, of the second in the upper halves.
type Rows = [__m256i; 4];

impl Avx2 {
    /// The blocks of four states.
    #[inline]
    pub fn chacha20(self, states: &[State; 4]) -> [[u8; 64]; 4] {
        // SAFETY: `blocks` needs AVX2, and `self` is the proof of it.
        unsafe { blocks(states) }
    }
}

#[target_feature(enable = "avx2")]
fn blocks(states: &[State; 4]) -> [[u8; 64]; 4] {
    let before = [rows(&states[0], &states[1]), rows(&states[2], &states[3])];
    let [mut one, mut two] = before;
    for _ in 0..10 {
        // Both pairs in turn, so that one computes while the other waits.
        quarters(&mut one);
        quarters(&mut two);
        one = turned::<BY_ONE, BY_THREE>(one);
        two = turned::<BY_ONE, BY_THREE>(two);
        quarters(&mut one);
        quarters(&mut two);
        one = turned::<BY_THREE, BY_ONE>(one);
        two = turned::<BY_THREE, BY_ONE>(two);
    }
    let mut blocks = [[0; 64]; 4];
    let (first, second) = blocks.split_at_mut(2);
    store(first, &one, &before[0]);
    store(second, &two, &before[1]);
    blocks
}

/// The four quarter rounds of the columns (§2.1).
#[inline]
#[target_feature(enable = "avx2")]
fn quarters([a, b, c, d]: &mut Rows) {
    let by_16 =
        _mm256_broadcastsi128_si256(_mm_set_epi8(13, 12, 15, 14, 9, 8, 11, 10, 5, 4, 7, 6, 1, 0, 3, 2));
    let by_8 =
        _mm256_broadcastsi128_si256(_mm_set_epi8(14, 13, 12, 15, 10, 9, 8, 11, 6, 5, 4, 7, 2, 1, 0, 3));
    *a = _mm256_add_epi32(*a, *b);
    *d = _mm256_shuffle_epi8(_mm256_xor_si256(*d, *a), by_16);
    *c = _mm256_add_epi32(*c, *d);
    *b = _mm256_xor_si256(*b, *c);
    *b = _mm256_or_si256(_mm256_slli_epi32::<12>(*b), _mm256_srli_epi32::<20>(*b));
    *a = _mm256_add_epi32(*a, *b);
    *d = _mm256_shuffle_epi8(_mm256_xor_si256(*d, *a), by_8);
    *c = _mm256_add_epi32(*c, *d);
    *b = _mm256_xor_si256(*b, *c);
    *b = _mm256_or_si256(_mm256_slli_epi32::<7>(*b), _mm256_srli_epi32::<25>(*b));
}

/// Turns the rows, so that diagonals become columns or the other way round: the third by two places.
#[inline]
#[target_feature(enable = "avx2")]
fn turned<const SECOND: i32, const FOURTH: i32>([a, b, c, d]: Rows) -> Rows {
    let b = _mm256_shuffle_epi32::<SECOND>(b);
    let c = _mm256_shuffle_epi32::<0b01_00_11_10>(c);
    [a, b, c, _mm256_shuffle_epi32::<FOURTH>(d)]
}

#[inline]
#[target_feature(enable = "avx2")]
fn rows(low: &State, high: &State) -> Rows {
    let mut rows = [_mm256_setzero_si256(); 4];
    for (i, row) in rows.iter_mut().enumerate() {
        let (low, high) = (&low.as_chunks::<4>().0[i], &high.as_chunks::<4>().0[i]);
        // SAFETY: four words each are 16 readable bytes, and these loads ask for no alignment.
        *row = unsafe { _mm256_loadu2_m128i(high.as_ptr().cast(), low.as_ptr().cast()) };
    }
    rows
}

/// Writes the sums of two states before and after the rounds.
#[inline]
#[target_feature(enable = "avx2")]
fn store(blocks: &mut [[u8; 64]], after: &Rows, before: &Rows) {
    let [low, high] = blocks else { return };
    let rows = low
        .as_chunks_mut::<16>()
        .0
        .iter_mut()
        .zip(high.as_chunks_mut::<16>().0);
    for ((low, high), (after, before)) in rows.zip(after.iter().zip(before)) {
        let sum = _mm256_add_epi32(*after, *before);
        // SAFETY: both places are 16 writable bytes that nobody else holds, and these stores ask for no alignment.
        unsafe { _mm256_storeu2_m128i(high.as_mut_ptr().cast(), low.as_mut_ptr().cast(), sum) };
    }
}
