//! HMAC (RFC 2104) with SHA-1 (RFC 2404) and SHA-256 (RFC 4868) over many messages at once, for [`crate::esp::cipher::many`]. The keys may
//! differ, and the lengths.

use rekeyscope_lanes::{Avx2, Block, Chain, LANES, LaneHash, Messages, States};
use zeroize::{Zeroize, ZeroizeOnDrop};

const BLOCK: usize = size_of::<Block>();
/// Room for the longest digest.
pub(super) type Digest = [u8; 32];
/// The bit that ends a message, and its length in bits (FIPS 180-4 §5.1.1).
const PADDING: usize = 1 + 8;

/// A key after its first block: where the inner and the outer hash of every message start (RFC 2104 §4).
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct Chains {
    #[zeroize(skip)]
    hash: LaneHash,
    inner: Chain,
    outer: Chain,
}

impl Chains {
    /// `None` for a key that is longer than a block: HMAC would hash it first.
    pub(super) fn new(hash: LaneHash, key: &[u8]) -> Option<Self> {
        let chain = |mask: u8| {
            let mut block = [mask; BLOCK];
            for (cell, byte) in block.get_mut(..key.len())?.iter_mut().zip(key) {
                *cell ^= byte;
            }
            let mut chain = hash.initial();
            hash.compress_alone(&mut chain, &[block]);
            block.zeroize();
            Some(chain)
        };
        Some(Chains {
            hash,
            inner: chain(0x36)?,
            outer: chain(0x5c)?,
        })
    }

    pub(super) fn hash(&self) -> LaneHash {
        self.hash
    }
}

/// A message to authenticate.
pub(super) struct Job<'a> {
    /// The caller's number for it.
    pub(super) number: usize,
    /// The key.
    pub(super) chains: &'a Chains,
    /// The bytes.
    pub(super) message: &'a [u8],
    /// Upper half of an extended sequence number: behind the message, but not sent (RFC 4303 §2.2.1).
    pub(super) esn_high: Option<u32>,
    /// The ICV that came with it, for the caller.
    pub(super) icv: &'a [u8],
    /// The result; SHA-1 fills the first 20 bytes.
    pub(super) mac: Digest,
}

/// The end of a message with its padding (FIPS 180-4 §5.1.1), in the first blocks of these.
fn padded(rest: &[u8], unsent: &[u8], before: usize) -> ([Block; 2], usize) {
    let mut blocks = [[0; BLOCK]; 2];
    let len = rest.len() + unsent.len();
    let count = (len + PADDING).div_ceil(BLOCK);
    let text = rest.iter().chain(unsent).chain(&[0x80]);
    for (to, from) in blocks.as_flattened_mut().iter_mut().zip(text) {
        *to = *from;
    }
    // The block of the key counts, too.
    let bits = 8 * (BLOCK + before + len) as u64;
    let last = blocks.get_mut(count.saturating_sub(1));
    if let Some(length) = last.and_then(|block| block.last_chunk_mut::<8>()) {
        *length = bits.to_be_bytes();
    }
    (blocks, count)
}

/// Hashes the texts of all lanes to their ends, from `states` on.
fn hash_all(avx2: Avx2, hash: LaneHash, mut states: States, texts: &Messages<'_>) -> States {
    let (mut ends, mut done) = (states, 0);
    loop {
        let left = texts.map(|text| text.get(done..).unwrap_or_default());
        let Some(shortest) = left
            .iter()
            .filter(|text| !text.is_empty())
            .min_by_key(|text| text.len())
        else {
            return ends;
        };
        // Lanes that are through hash somebody else's blocks; nobody reads the result.
        let filled = left.map(|text| if text.is_empty() { *shortest } else { text });
        avx2.compress(hash, &mut states, &filled, shortest.len());
        done += shortest.len();
        for (ends, states) in ends.iter_mut().zip(&states) {
            for ((end, state), text) in ends.iter_mut().zip(states).zip(&left) {
                if !text.is_empty() {
                    *end = *state;
                }
            }
        }
    }
}

/// Fills in the MACs of jobs whose keys are all for `hash`.
pub(super) fn authenticate<'a>(jobs: &mut [Job<'a>], hash: LaneHash, avx2: Avx2) {
    // Lanes with as many blocks stay in step.
    jobs.sort_by_key(|job| job.message.len() / BLOCK);
    for group in jobs.chunks_mut(LANES) {
        let body = |job: &Job<'a>| job.message.as_chunks::<BLOCK>();
        let bodies = std::array::from_fn(|lane| group.get(lane).map_or(&[][..], |job| body(job).0));
        let inner = hash_all(avx2, hash, states(group, |job| &job.chains.inner), &bodies);
        let tails: [_; LANES] = std::array::from_fn(|lane| {
            let job = group.get(lane);
            let (body, rest) = job.map(body).unwrap_or_default();
            let high = job.and_then(|job| job.esn_high).map(u32::to_be_bytes);
            padded(rest, high.as_slice().as_flattened(), BLOCK * body.len())
        });
        let inner = digests(&hash_all(avx2, hash, inner, &tails.each_ref().map(text)));
        let inner = inner.map(|digest| padded(digest.get(..hash.digest_len()).unwrap_or_default(), &[], 0));
        let outer = states(group, |job| &job.chains.outer);
        let outer = digests(&hash_all(avx2, hash, outer, &inner.each_ref().map(text)));
        for (job, mac) in group.iter_mut().zip(outer) {
            job.mac = mac;
        }
    }
}

fn text((blocks, count): &([Block; 2], usize)) -> &[Block] {
    blocks.get(..*count).unwrap_or_default()
}

fn states<'a>(group: &[Job<'a>], of: impl Fn(&Job<'a>) -> &'a Chain) -> States {
    std::array::from_fn(|word| std::array::from_fn(|lane| group.get(lane).map_or(0, |job| of(job)[word])))
}

fn digests(states: &States) -> [Digest; LANES] {
    std::array::from_fn(|lane| {
        let words = states.map(|words| words[lane].to_be_bytes());
        let mut digest = Digest::default();
        digest.copy_from_slice(words.as_flattened());
        digest
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;
    use hmac::{Hmac, KeyInit, Mac};

    /// MACs in the order of `messages`, each with its key; `None` without AVX2.
    fn macs(hash: LaneHash, messages: &[(&[u8], &[u8], Option<u32>)]) -> Option<Vec<Vec<u8>>> {
        let Some(lanes) = Avx2::detect() else {
            println!("skipped: this processor has no AVX2");
            return None;
        };
        let chains: Vec<Chains> = messages
            .iter()
            .map(|(key, ..)| Chains::new(hash, key).unwrap())
            .collect();
        let job = |(number, (chains, &(_, message, esn_high)))| Job {
            number,
            chains,
            message,
            esn_high,
            icv: &[],
            mac: Digest::default(),
        };
        let mut jobs: Vec<Job<'_>> = chains.iter().zip(messages).enumerate().map(job).collect();
        authenticate(&mut jobs, hash, lanes);
        jobs.sort_by_key(|job| job.number);
        let digest = |job: &Job<'_>| job.mac[..hash.digest_len()].to_vec();
        Some(jobs.iter().map(digest).collect())
    }

    /// RFC 2202 §3 and RFC 4231 §4, the cases whose key is no longer than a block, all in one go and each filling the lanes.
    #[test]
    fn vectors_of_the_rfcs() {
        let key_4: Vec<u8> = (1..=25).collect();
        let cases: [(&[u8], &[u8], [u8; 20], [u8; 32]); 4] = [
            (
                &[0x0b; 20],
                b"Hi There",
                hex!("b617318655057264e28bc0b6fb378c8ef146be00"),
                hex!("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"),
            ),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                hex!("effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
                hex!("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
            ),
            (
                &[0xaa; 20],
                &[0xdd; 50],
                hex!("125d7342b9ac11cd91a39af48aa17b4f63f175d3"),
                hex!("773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"),
            ),
            (
                &key_4,
                &[0xcd; 50],
                hex!("4c9007f4026250c6bc8414f9bf50c86c2d7235da"),
                hex!("82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"),
            ),
        ];
        for hash in [LaneHash::Sha1, LaneHash::Sha256] {
            let expected = cases.map(|(.., sha1, sha256)| match hash {
                LaneHash::Sha1 => sha1.to_vec(),
                LaneHash::Sha256 => sha256.to_vec(),
            });
            let messages = cases.map(|(key, message, ..)| (key, message, None));
            if let Some(macs) = macs(hash, &messages) {
                assert_eq!(macs, expected);
            }
            for (message, mac) in messages.iter().zip(&expected) {
                if let Some(macs) = macs(hash, &[*message; 35]) {
                    assert!(macs.iter().all(|m| m == mac) && macs.len() == 35, "{hash:?}");
                }
            }
        }
    }

    /// Every place of the padding in its block, with and without an extended sequence number, and lanes that end at different
    /// times.
    #[test]
    fn every_length_up_to_five_blocks() {
        fn alone<M: Mac + KeyInit>(key: &[u8], message: &[u8], esn_high: Option<u32>) -> Vec<u8> {
            let mac = <M as KeyInit>::new_from_slice(key).unwrap().chain_update(message);
            let high = esn_high.map(u32::to_be_bytes);
            mac.chain_update(high.as_slice().as_flattened())
                .finalize()
                .into_bytes()
                .to_vec()
        }
        let text: Vec<u8> = (0..320).map(|i| (i * 7) as u8).collect();
        let key = [0x5a; 20];
        let messages: Vec<_> = (0..=text.len())
            .flat_map(|len| [None, Some(len as u32 + 0x0102_0300)].map(|high| (&key[..], &text[..len], high)))
            .collect();
        for hash in [LaneHash::Sha1, LaneHash::Sha256] {
            if let Some(macs) = macs(hash, &messages) {
                assert_eq!(macs.len(), messages.len());
                for (mac, (_, message, high)) in macs.iter().zip(&messages) {
                    let expected = match hash {
                        LaneHash::Sha1 => alone::<Hmac<sha1::Sha1>>(&key, message, *high),
                        LaneHash::Sha256 => alone::<Hmac<sha2::Sha256>>(&key, message, *high),
                    };
                    assert_eq!(*mac, expected, "{hash:?} {} bytes {high:?}", message.len());
                }
            }
        }
    }

    #[test]
    fn a_key_longer_than_a_block_is_refused() {
        assert!(Chains::new(LaneHash::Sha1, &[1; 64]).is_some());
        assert!(Chains::new(LaneHash::Sha256, &[1; 65]).is_none());
    }
}
