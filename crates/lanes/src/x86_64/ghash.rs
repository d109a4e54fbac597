//! GHASH (NIST SP 800-38D §6.4) with VPCLMULQDQ: eight blocks at once, two in each register, and one reduction for all eight.
//!
//! Bytes are reversed, which makes GHASH the POLYVAL of RFC 8452 with another key (appendix A there). A product m·h·x⁻¹²⁸ is
//! reduced as in <https://eprint.iacr.org/2025/2171>: for h its d = h₀·p + swap(h) is known, p = x⁶³ + x⁶² + x⁵⁷, and then
//! r = m₀·d₁ + m₁·h₁ and f = m₀·d₀ + m₁·h₀ give r + f₁ + f₀·x⁶⁴ + f₀·p; sums of r and f need it only once.

use std::arch::x86_64::*;
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Blocks at once.
const BLOCKS: usize = 8;
const BLOCK: usize = 16;
/// x¹²⁸ + x¹²⁷ + x¹²⁶ + x¹²¹ + 1 without its first term.
const POLYNOMIAL: u128 = 0xc2 << 120 | 1;
/// The upper half of the polynomial.
const P: u64 = 0xc2 << 56;

/// A hash key and its powers, and proof that the processor has AVX2 and VPCLMULQDQ.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct WideGhash {
    /// h⁸ to h.
    powers: [u128; BLOCKS],
    /// d of each.
    folded: [u128; BLOCKS],
}

impl WideGhash {
    /// `None` where the processor has no such instructions.
    pub fn new(key: [u8; BLOCK]) -> Option<Self> {
        let has = is_x86_feature_detected!("vpclmulqdq") && is_x86_feature_detected!("pclmulqdq");
        // SAFETY: `expand` needs what was just found.
        (has && is_x86_feature_detected!("avx2")).then(|| unsafe { expand(key) })
    }

    /// The hash of a block, a text padded with zeros, and a last block.
    #[inline]
    pub fn hash(&self, first: [u8; BLOCK], text: &[u8], last: [u8; BLOCK]) -> [u8; BLOCK] {
        // SAFETY: `hash` needs the features that `new`, the only maker of `self`, has found.
        unsafe { hash(self, first, text, last) }
    }
}

#[target_feature(enable = "avx2,pclmulqdq,vpclmulqdq")]
fn expand(key: [u8; BLOCK]) -> WideGhash {
    // Times x: GHASH's bits stand one place further on.
    let key = u128::from_be_bytes(key);
    let h = block((key << 1) ^ (POLYNOMIAL * (key >> 127)));
    let d = fold(h);
    let mut expanded = WideGhash {
        powers: [0; BLOCKS],
        folded: [0; BLOCKS],
    };
    let mut power = h;
    for (to, folded) in expanded.powers.iter_mut().zip(&mut expanded.folded).rev() {
        (*to, *folded) = (number(power), number(fold(power)));
        power = reduce(product(power, h, d));
    }
    expanded
}

#[target_feature(enable = "avx2,pclmulqdq,vpclmulqdq")]
fn hash(key: &WideGhash, first: [u8; BLOCK], text: &[u8], last: [u8; BLOCK]) -> [u8; BLOCK] {
    let mut y = few(key, _mm_setzero_si128(), &[first]);
    let (groups, rest) = text.as_chunks::<{ BLOCKS * BLOCK }>();
    for group in groups {
        y = eight(key, y, group);
    }
    // The rest of the text and the last block are at most nine.
    let mut blocks = [[0; BLOCK]; BLOCKS + 1];
    blocks.as_flattened_mut()[..rest.len()].copy_from_slice(rest);
    let count = rest.len().div_ceil(BLOCK);
    blocks[count] = last;
    for blocks in blocks[..=count].chunks(BLOCKS) {
        y = few(key, y, blocks);
    }
    number(y).to_be_bytes()
}

/// Goes on from `y` with eight blocks.
#[inline]
#[target_feature(enable = "avx2,pclmulqdq,vpclmulqdq")]
fn eight(key: &WideGhash, y: __m128i, group: &[u8; BLOCKS * BLOCK]) -> __m128i {
    let reverse = _mm256_broadcastsi128_si256(block(0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f));
    let mut y = _mm256_zextsi128_si256(y);
    let (mut r, mut f) = (_mm256_setzero_si256(), _mm256_setzero_si256());
    for (i, two) in group.as_chunks::<{ 2 * BLOCK }>().0.iter().enumerate() {
        let m = _mm256_xor_si256(y, _mm256_shuffle_epi8(load(two), reverse));
        let h = load_two(&key.powers.as_chunks::<2>().0[i]);
        let d = load_two(&key.folded.as_chunks::<2>().0[i]);
        r = _mm256_xor_si256(r, _mm256_clmulepi64_epi128::<0x10>(m, d));
        r = _mm256_xor_si256(r, _mm256_clmulepi64_epi128::<0x11>(m, h));
        f = _mm256_xor_si256(f, _mm256_clmulepi64_epi128::<0x00>(m, d));
        f = _mm256_xor_si256(f, _mm256_clmulepi64_epi128::<0x01>(m, h));
        y = _mm256_setzero_si256();
    }
    reduce((
        _mm_xor_si128(_mm256_castsi256_si128(r), _mm256_extracti128_si256::<1>(r)),
        _mm_xor_si128(_mm256_castsi256_si128(f), _mm256_extracti128_si256::<1>(f)),
    ))
}

/// Goes on from `y` with at most eight blocks.
#[inline]
#[target_feature(enable = "avx2,pclmulqdq,vpclmulqdq")]
fn few(key: &WideGhash, mut y: __m128i, blocks: &[[u8; BLOCK]]) -> __m128i {
    let (mut r, mut f) = (_mm_setzero_si128(), _mm_setzero_si128());
    let from = BLOCKS - blocks.len();
    for (bytes, (h, d)) in blocks
        .iter()
        .zip(key.powers[from..].iter().zip(&key.folded[from..]))
    {
        let m = _mm_xor_si128(y, block(u128::from_be_bytes(*bytes)));
        let (more_r, more_f) = product(m, block(*h), block(*d));
        (r, f) = (_mm_xor_si128(r, more_r), _mm_xor_si128(f, more_f));
        y = _mm_setzero_si128();
    }
    reduce((r, f))
}

/// r and f of m·h.
#[inline]
#[target_feature(enable = "pclmulqdq")]
fn product(m: __m128i, h: __m128i, d: __m128i) -> (__m128i, __m128i) {
    let r = _mm_xor_si128(
        _mm_clmulepi64_si128::<0x10>(m, d),
        _mm_clmulepi64_si128::<0x11>(m, h),
    );
    let f = _mm_xor_si128(
        _mm_clmulepi64_si128::<0x00>(m, d),
        _mm_clmulepi64_si128::<0x01>(m, h),
    );
    (r, f)
}

#[inline]
#[target_feature(enable = "pclmulqdq")]
fn reduce((r, f): (__m128i, __m128i)) -> __m128i {
    let swapped = _mm_shuffle_epi32::<0b01_00_11_10>(f);
    let folded = _mm_clmulepi64_si128::<0x00>(f, block(P.into()));
    _mm_xor_si128(r, _mm_xor_si128(swapped, folded))
}

#[inline]
#[target_feature(enable = "pclmulqdq")]
fn fold(h: __m128i) -> __m128i {
    let swapped = _mm_shuffle_epi32::<0b01_00_11_10>(h);
    _mm_xor_si128(swapped, _mm_clmulepi64_si128::<0x00>(h, block(P.into())))
}

#[inline]
#[target_feature(enable = "sse2")]
fn block(number: u128) -> __m128i {
    _mm_set_epi64x((number >> 64) as i64, number as i64)
}

#[inline]
#[target_feature(enable = "sse4.1")]
fn number(block: __m128i) -> u128 {
    let (high, low) = (_mm_extract_epi64::<1>(block), _mm_extract_epi64::<0>(block));
    u128::from(high.cast_unsigned()) << 64 | u128::from(low.cast_unsigned())
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(two: &[u8; 2 * BLOCK]) -> __m256i {
    // SAFETY: two blocks are 32 readable bytes, and this load asks for no alignment.
    unsafe { _mm256_loadu_si256(two.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load_two(powers: &[u128; 2]) -> __m256i {
    // SAFETY: two powers are 32 readable bytes, and this load asks for no alignment.
    unsafe { _mm256_loadu_si256(powers.as_ptr().cast()) }
}
