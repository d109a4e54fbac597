//! AES (FIPS 197) with AES-NI, for a dozen blocks at a time.
//!
//! Where the processor has VAES, the `aes` crate widens all round keys anew for every call. With 512 bits that was measured to take
//! twice as long as the blocks themselves, and it writes the keys to the stack.

use cipher::consts::{U4, U16};
use cipher::inout::InOut;
use cipher::{
    Block, BlockCipherEncBackend, BlockCipherEncClosure, BlockCipherEncrypt, BlockSizeUser, ParBlocks,
    ParBlocksSizeUser,
};
use std::arch::x86_64::*;
use zeroize::{Zeroize, ZeroizeOnDrop};

const BLOCK: usize = 16;
/// Each round takes four cycles, and two can begin in each. Further blocks overlap by themselves.
const AT_ONCE: usize = 4;
/// Words of a block.
const WORDS: usize = 4;
/// With a key of 256 bits.
const MOST_ROUNDS: usize = 14;

/// A key for one of the two ways, and proof that the processor has AES-NI and AVX (whose encoding of the same instructions does not
/// wait for the upper halves of vectors).
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct AesNi<const DECRYPTS: bool> {
    /// One before the rounds and one for each, in the order of their use.
    keys: [[u32; WORDS]; MOST_ROUNDS + 1],
    #[zeroize(skip)]
    rounds: usize,
}

impl<const DECRYPTS: bool> AesNi<DECRYPTS> {
    /// `None` where the processor has no such instructions, or no AES has a key of that length.
    pub fn new(key: &[u8]) -> Option<Self> {
        let has = is_x86_feature_detected!("aes") && is_x86_feature_detected!("avx");
        let fits = matches!(key.len(), 16 | 24 | 32);
        // SAFETY: `expanded` needs what was just found.
        (has && fits).then(|| unsafe { expanded(key) })
    }
}

/// The key schedule (FIPS 197 §5.2, §5.3.5 for decryption).
#[target_feature(enable = "aes,avx")]
fn expanded<const DECRYPTS: bool>(key: &[u8]) -> AesNi<DECRYPTS> {
    let mut expanded = AesNi {
        keys: [[0; WORDS]; MOST_ROUNDS + 1],
        rounds: key.len() / size_of::<u32>() + 6,
    };
    let of_key = key.len() / size_of::<u32>();
    let words = expanded.keys.as_flattened_mut();
    for (word, bytes) in words.iter_mut().zip(key.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    let mut constant = 1;
    for i in of_key..words.len() {
        let mut word = words[i - 1];
        if i % of_key == 0 {
            word = substituted(word).rotate_right(8) ^ constant;
            // Times x in the field of AES, which ten constants reduce once.
            constant = if constant == 0x80 { 0x1b } else { constant << 1 };
        } else if of_key > 6 && i % of_key == 4 {
            word = substituted(word);
        }
        words[i] = words[i - of_key] ^ word;
    }
    if DECRYPTS {
        let used = &mut expanded.keys[..=expanded.rounds];
        used.reverse();
        if let [_, between @ .., _] = used {
            between.iter_mut().for_each(|key| *key = unmixed(key));
        }
    }
    expanded
}

/// Each byte through the S-box (FIPS 197 §5.1.1).
#[inline]
#[target_feature(enable = "aes,avx")]
fn substituted(word: u32) -> u32 {
    let assisted = _mm_aeskeygenassist_si128::<0>(_mm_set1_epi32(word.cast_signed()));
    _mm_cvtsi128_si32(assisted).cast_unsigned()
}

/// A round key for the equivalent inverse cipher.
#[inline]
#[target_feature(enable = "aes,avx")]
fn unmixed(key: &[u32; WORDS]) -> [u32; WORDS] {
    let v = _mm_aesimc_si128(round_key(key));
    [
        _mm_extract_epi32::<0>(v).cast_unsigned(),
        _mm_extract_epi32::<1>(v).cast_unsigned(),
        _mm_extract_epi32::<2>(v).cast_unsigned(),
        _mm_extract_epi32::<3>(v).cast_unsigned(),
    ]
}

#[inline]
#[target_feature(enable = "aes,avx")]
fn round_key(key: &[u32; WORDS]) -> __m128i {
    // SAFETY: four words are 16 readable bytes, and this load asks for no alignment.
    unsafe { _mm_loadu_si128(key.as_ptr().cast()) }
}

/// `N` blocks at once.
#[inline]
#[target_feature(enable = "aes,avx")]
fn all_rounds<const DECRYPTS: bool, const N: usize>(
    aes: &AesNi<DECRYPTS>,
    mut v: [__m128i; N],
) -> [__m128i; N] {
    let Some([first, between @ .., last]) = aes.keys.get(..=aes.rounds) else {
        return v;
    };
    let first = round_key(first);
    for v in &mut v {
        *v = _mm_xor_si128(*v, first);
    }
    for key in between {
        let key = round_key(key);
        for v in &mut v {
            *v = if DECRYPTS {
                _mm_aesdec_si128(*v, key)
            } else {
                _mm_aesenc_si128(*v, key)
            };
        }
    }
    let last = round_key(last);
    for v in &mut v {
        *v = if DECRYPTS {
            _mm_aesdeclast_si128(*v, last)
        } else {
            _mm_aesenclast_si128(*v, last)
        };
    }
    v
}

#[inline]
#[target_feature(enable = "aes,avx")]
fn load(block: &[u8; BLOCK]) -> __m128i {
    // SAFETY: a block is 16 readable bytes, and this load asks for no alignment.
    unsafe { _mm_loadu_si128(block.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "aes,avx")]
fn store(block: &mut [u8; BLOCK], v: __m128i) {
    // SAFETY: a block is 16 writable bytes that nobody else holds, and this store asks for no alignment.
    unsafe { _mm_storeu_si128(block.as_mut_ptr().cast(), v) }
}

impl AesNi<true> {
    /// Decrypts blocks of CBC (NIST SP 800-38A §6.2) in place: `previous` is the ciphertext before these blocks, or the IV.
    #[inline]
    pub fn cbc(&self, previous: &[u8; BLOCK], blocks: &mut [[u8; BLOCK]]) {
        // SAFETY: `cbc` needs the features that `new`, the only maker of `self`, has found.
        unsafe { cbc(self, previous, blocks) }
    }
}

#[target_feature(enable = "aes,avx")]
fn cbc(aes: &AesNi<true>, previous: &[u8; BLOCK], blocks: &mut [[u8; BLOCK]]) {
    let mut previous = load(previous);
    let (fours, rest) = blocks.as_chunks_mut();
    for four in fours {
        previous = chained::<AT_ONCE>(aes, previous, four);
    }
    for block in rest {
        previous = chained(aes, previous, std::array::from_mut(block));
    }
}

/// The last ciphertext of these blocks, once they are plaintext.
#[inline]
#[target_feature(enable = "aes,avx")]
fn chained<const N: usize>(
    aes: &AesNi<true>,
    mut previous: __m128i,
    blocks: &mut [[u8; BLOCK]; N],
) -> __m128i {
    let mut v = [previous; N];
    for (v, block) in v.iter_mut().zip(&*blocks) {
        *v = load(block);
    }
    for (plain, (ciphertext, block)) in all_rounds(aes, v).into_iter().zip(v.into_iter().zip(blocks)) {
        store(block, _mm_xor_si128(plain, previous));
        previous = ciphertext;
    }
    previous
}

impl BlockSizeUser for AesNi<false> {
    type BlockSize = U16;
}

impl ParBlocksSizeUser for AesNi<false> {
    type ParBlocksSize = U4;
}

impl BlockCipherEncBackend for AesNi<false> {
    #[inline(always)]
    fn encrypt_block(&self, mut block: InOut<'_, '_, Block<Self>>) {
        // SAFETY: `encrypt` needs the features that `new`, the only maker of `self`, has found.
        unsafe { encrypt(self, &[*block.get_in()], std::array::from_mut(block.get_out())) }
    }

    #[inline(always)]
    fn encrypt_par_blocks(&self, mut blocks: InOut<'_, '_, ParBlocks<Self>>) {
        let from = blocks.get_in().0;
        // SAFETY: `encrypt` needs the features that `new`, the only maker of `self`, has found.
        unsafe { encrypt(self, &from, &mut blocks.get_out().0) }
    }
}

#[target_feature(enable = "aes,avx")]
fn encrypt<const N: usize>(
    aes: &AesNi<false>,
    from: &[Block<AesNi<false>>; N],
    to: &mut [Block<AesNi<false>>; N],
) {
    let mut v = [_mm_setzero_si128(); N];
    for (v, block) in v.iter_mut().zip(from) {
        *v = load(&block.0);
    }
    for (v, block) in all_rounds(aes, v).into_iter().zip(to) {
        store(&mut block.0, v);
    }
}

impl BlockCipherEncrypt for AesNi<false> {
    #[inline]
    fn encrypt_with_backend(&self, f: impl BlockCipherEncClosure<BlockSize = U16>) {
        f.call(self);
    }
}
