//! Poly1305 (RFC 8439 §2.5) with AVX2: four blocks at once, one in each lane, as h·r⁴ + m.
//!
//! Numbers are five limbs of 26 bits, the lowest first, so that sums of products fit in 64 bits.

use crate::x86_64::avx2::Avx2;
use std::arch::x86_64::*;

const BLOCK: usize = 16;
const LANES: usize = 4;
const BITS: i32 = 26;
const MASK: u64 = (1 << BITS) - 1;
/// The bit behind the 128 of a block, in the highest limb.
const BEHIND: i64 = 1 << (128 - 4 * BITS);

type Limbs = [u64; 5];
/// The same limb of four numbers in each vector.
type Vectors = [__m256i; 5];

impl Avx2 {
    /// The tag of a block, a text padded with zeros, and a last block, under a one-time key.
    #[inline]
    pub fn poly1305(
        self,
        key: &[u8; 2 * BLOCK],
        first: [u8; BLOCK],
        text: &[u8],
        last: [u8; BLOCK],
    ) -> [u8; BLOCK] {
        let (r, added) = key.as_chunks::<BLOCK>().0.split_at(1);
        let r = u128::from_le_bytes(r[0]) & 0x0fff_fffc_0fff_fffc_0fff_fffc_0fff_ffff;
        // SAFETY: `hash` needs AVX2, and `self` is the proof of it.
        let h = unsafe { hash(limbs(r), first, text, last) };
        remainder(h)
            .wrapping_add(u128::from_le_bytes(added[0]))
            .to_le_bytes()
    }
}

fn limbs(number: u128) -> Limbs {
    std::array::from_fn(|i| (number >> (BITS as usize * i)) as u64 & MASK)
}

/// a·b modulo 2¹³⁰ − 5, each limb below 2²⁷.
fn times(a: Limbs, b: Limbs) -> Limbs {
    let mut product = Limbs::default();
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            product[(i + j) % 5] += a * b * if i + j < 5 { 1 } else { 5 };
        }
    }
    carried(product)
}

fn carried(mut limbs: Limbs) -> Limbs {
    for from in [0, 1, 2, 3, 4, 0] {
        let carry = limbs[from] >> BITS;
        limbs[from] &= MASK;
        limbs[(from + 1) % 5] += carry * if from < 4 { 1 } else { 5 };
    }
    limbs
}

/// The lowest 128 bits of the number modulo 2¹³⁰ − 5.
fn remainder(limbs: Limbs) -> u128 {
    let mut limbs = carried(carried(limbs));
    // A number is at least 2¹³⁰ − 5 if 5 more make it overflow.
    let overflow = limbs.iter().fold(5, |carry, limb| (limb + carry) >> BITS);
    limbs[0] += 5 * overflow;
    let sum =
        |sum: u128, (i, limb): (usize, &u64)| sum.wrapping_add(u128::from(*limb) << (BITS as usize * i));
    limbs.iter().enumerate().fold(0, sum)
}

/// The sum of all blocks times their powers of r.
#[target_feature(enable = "avx2")]
fn hash(r: Limbs, first: [u8; BLOCK], text: &[u8], last: [u8; BLOCK]) -> Limbs {
    // The first group begins with as many empty lanes as make the last one full.
    let blocks = text.len().div_ceil(BLOCK);
    let beside = (blocks + 1) % LANES;
    let empty = LANES - 1 - beside;
    let mut group = [0; LANES * BLOCK];
    let (head, rest) = text.split_at_checked(beside * BLOCK).unwrap_or((text, &[]));
    group[empty * BLOCK..][..BLOCK].copy_from_slice(&first);
    group[(empty + 1) * BLOCK..][..head.len()].copy_from_slice(head);
    if blocks + 1 < LANES {
        group[(LANES - 1) * BLOCK..].copy_from_slice(&last);
    }
    let r2 = times(r, r);
    let powers = [times(r2, r2), times(r2, r), r2, r];
    let r4 = Factor::new([powers[0]; LANES]);
    let mut h = numbers(&group, empty);
    if blocks + 1 >= LANES {
        let (groups, rest) = rest.as_chunks::<{ LANES * BLOCK }>();
        for group in groups {
            h = sum(product(h, &r4), numbers(group, 0));
        }
        let mut group = [0; LANES * BLOCK];
        group[..rest.len()].copy_from_slice(rest);
        group[(LANES - 1) * BLOCK..].copy_from_slice(&last);
        h = sum(product(h, &r4), numbers(&group, 0));
    }
    let h = product(h, &Factor::new(powers));
    let mut total = Limbs::default();
    for (total, lanes) in total.iter_mut().zip(h) {
        let halves = _mm_add_epi64(
            _mm256_castsi256_si128(lanes),
            _mm256_extracti128_si256::<1>(lanes),
        );
        *total = (_mm_extract_epi64::<0>(halves) + _mm_extract_epi64::<1>(halves)).cast_unsigned();
    }
    total
}

/// Four numbers to multiply by, and five times each.
struct Factor {
    once: Vectors,
    five_times: Vectors,
}

impl Factor {
    /// The lanes of [`numbers`] hold the blocks 0, 2, 1 and 3.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(of_blocks: [Limbs; LANES]) -> Factor {
        let mut factor = Factor {
            once: [_mm256_setzero_si256(); 5],
            five_times: [_mm256_setzero_si256(); 5],
        };
        for i in 0..5 {
            let [b0, b1, b2, b3] = of_blocks;
            let (b0, b1, b2, b3) = (b0[i] as i64, b1[i] as i64, b2[i] as i64, b3[i] as i64);
            factor.once[i] = _mm256_set_epi64x(b3, b1, b2, b0);
            factor.five_times[i] = _mm256_set_epi64x(5 * b3, 5 * b1, 5 * b2, 5 * b0);
        }
        factor
    }
}

/// Four blocks as numbers, those before `empty` zero.
#[inline]
#[target_feature(enable = "avx2")]
fn numbers(group: &[u8; LANES * BLOCK], empty: usize) -> Vectors {
    let [low, high] = [load(group, 0), load(group, 1)];
    let (low, high) = (_mm256_unpacklo_epi64(low, high), _mm256_unpackhi_epi64(low, high));
    let mask = _mm256_set1_epi64x(MASK as i64);
    let middle = _mm256_or_si256(_mm256_srli_epi64::<52>(low), _mm256_slli_epi64::<12>(high));
    let behind = _mm256_set_epi64x(
        BEHIND,
        if empty > 1 { 0 } else { BEHIND },
        if empty > 2 { 0 } else { BEHIND },
        if empty > 0 { 0 } else { BEHIND },
    );
    [
        _mm256_and_si256(low, mask),
        _mm256_and_si256(_mm256_srli_epi64::<26>(low), mask),
        _mm256_and_si256(middle, mask),
        _mm256_and_si256(_mm256_srli_epi64::<14>(high), mask),
        _mm256_or_si256(_mm256_srli_epi64::<40>(high), behind),
    ]
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(group: &[u8; LANES * BLOCK], half: usize) -> __m256i {
    let two = &group.as_chunks::<{ 2 * BLOCK }>().0[half];
    // SAFETY: `two` is 32 readable bytes, and this load asks for no alignment.
    unsafe { _mm256_loadu_si256(two.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn sum(mut a: Vectors, b: Vectors) -> Vectors {
    for (a, b) in a.iter_mut().zip(b) {
        *a = _mm256_add_epi64(*a, b);
    }
    a
}

/// h·factor modulo 2¹³⁰ − 5 in each lane, each limb below 2²⁷.
#[inline]
#[target_feature(enable = "avx2")]
fn product(h: Vectors, factor: &Factor) -> Vectors {
    let mut d = [_mm256_setzero_si256(); 5];
    for i in 0..5 {
        for j in 0..5 {
            let by = if i + j < 5 {
                factor.once[j]
            } else {
                factor.five_times[j]
            };
            d[(i + j) % 5] = _mm256_add_epi64(d[(i + j) % 5], _mm256_mul_epu32(h[i], by));
        }
    }
    let mask = _mm256_set1_epi64x(MASK as i64);
    // Two chains of carries at once.
    for from in [0, 3, 1, 4, 2, 0, 3] {
        let carry = _mm256_srli_epi64::<BITS>(d[from]);
        d[from] = _mm256_and_si256(d[from], mask);
        let to = (from + 1) % 5;
        d[to] = _mm256_add_epi64(d[to], carry);
        if to == 0 {
            d[to] = _mm256_add_epi64(d[to], _mm256_slli_epi64::<2>(carry));
        }
    }
    d
}
