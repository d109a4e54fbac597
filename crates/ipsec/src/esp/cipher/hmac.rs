//! HMAC (RFC 2104) with SHA-1 (RFC 2404) and SHA-256 (RFC 4868) over many messages at once, for [`crate::esp::cipher::many`]. A lane that
//! is done with its message takes the next one, whatever its key and its length.

use rekeyscope_lanes::{Block, Chain, Compress, LaneHash, States};
use std::cmp::Reverse;
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

enum Phase {
    /// Whole blocks of the message.
    Body,
    /// The rest of it, with padding.
    Tail,
    /// The digest of the message.
    Outer,
}

struct HashLane<'a> {
    /// Index of the job; `None` when there are no more.
    job: Option<usize>,
    phase: Phase,
    body: &'a [Block],
    tail: [Block; 2],
    tail_blocks: usize,
    /// Blocks done in this phase.
    done: usize,
}

impl<'a> HashLane<'a> {
    fn idle() -> Self {
        HashLane {
            job: None,
            phase: Phase::Body,
            body: &[],
            tail: [[0; BLOCK]; 2],
            tail_blocks: 0,
            done: 0,
        }
    }

    fn start(&mut self, index: usize, message: &'a [u8]) {
        self.job = Some(index);
        self.phase = Phase::Body;
        self.body = message.as_chunks().0;
    }

    /// Behind the whole blocks of a message: only now its last bytes are looked at, which the processor has fetched meanwhile.
    fn end(&mut self, message: &[u8], esn_high: Option<u32>) {
        let rest = message.get(BLOCK * self.body.len()..).unwrap_or_default();
        let high = esn_high.map(u32::to_be_bytes);
        self.pad(rest, high.as_ref().map_or(&[], |h| h), BLOCK * self.body.len());
    }

    /// Fills the tail with the end of a message, in two pieces: `before` bytes of it, and the block of its key, were hashed
    /// before.
    fn pad(&mut self, rest: &[u8], unsent: &[u8], before: usize) {
        let len = rest.len() + unsent.len();
        self.tail_blocks = (len + PADDING).div_ceil(BLOCK);
        let bits = 8 * (BLOCK + before + len) as u64;
        let bytes = self.tail.as_flattened_mut();
        bytes.fill(0);
        if let Some((to, behind)) = bytes.split_at_mut_checked(rest.len()) {
            to.copy_from_slice(rest);
            if let Some((to, [end, ..])) = behind.split_at_mut_checked(unsent.len()) {
                to.copy_from_slice(unsent);
                *end = 0x80;
            }
        }
        if let Some(cell) = bytes
            .get_mut(..self.tail_blocks * BLOCK)
            .and_then(<[u8]>::last_chunk_mut::<8>)
        {
            *cell = bits.to_be_bytes();
        }
    }

    /// Blocks that can be hashed now.
    fn ready(&self) -> &[Block] {
        let blocks = match self.phase {
            Phase::Body => Some(self.body),
            Phase::Tail | Phase::Outer => self.tail.get(..self.tail_blocks),
        };
        blocks.and_then(|b| b.get(self.done..)).unwrap_or_default()
    }
}

/// Fills in the MACs of jobs whose keys are all for `hash`.
pub(super) fn authenticate<const LANES: usize>(
    jobs: &mut [Job<'_>],
    hash: LaneHash,
    compressor: impl Compress<LANES>,
) {
    let order = longest_first(jobs);
    let mut order = order.iter().copied();
    let mut states: States<LANES> = [[0; LANES]; 8];
    let mut lanes: [HashLane<'_>; LANES] = std::array::from_fn(|_| HashLane::idle());
    loop {
        let mut messages: [&[Block]; LANES] = [&[]; LANES];
        let mut shortest: Option<&[Block]> = None;
        for ((index, lane), message) in lanes.iter_mut().enumerate().zip(&mut messages) {
            while lane.ready().is_empty() && turn(lane, index, &mut states, jobs, &mut order) {}
            *message = lane.ready();
            if !message.is_empty() && shortest.is_none_or(|shortest| message.len() < shortest.len()) {
                shortest = Some(message);
            }
        }
        let Some(shortest) = shortest else { return };
        // Lanes without a job hash somebody else's blocks; nobody reads the result.
        for message in messages.iter_mut().filter(|message| message.is_empty()) {
            *message = shortest;
        }
        let steps = shortest.len();
        compressor.compress(hash, &mut states, &messages, steps);
        for lane in &mut lanes {
            lane.done += steps;
        }
    }
}

/// Indices of the jobs by their blocks, most first: lanes with as many stay in step, and short messages fill the end.
fn longest_first(jobs: &[Job<'_>]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|&index| Reverse((jobs[index].message.len() + PADDING).div_ceil(BLOCK)));
    order
}

/// Takes a lane that has hashed all its blocks to its next phase or job; false when there is none.
fn turn<'a, const LANES: usize>(
    lane: &mut HashLane<'a>,
    index: usize,
    states: &mut States<LANES>,
    jobs: &mut [Job<'a>],
    order: &mut impl Iterator<Item = usize>,
) -> bool {
    lane.done = 0;
    if let Some(job) = lane.job.and_then(|job| jobs.get_mut(job)) {
        match lane.phase {
            Phase::Body => {
                lane.phase = Phase::Tail;
                lane.end(job.message, job.esn_high);
                return true;
            }
            Phase::Tail => {
                lane.phase = Phase::Outer;
                let inner = digest(states, index);
                lane.pad(
                    inner.get(..job.chains.hash.digest_len()).unwrap_or_default(),
                    &[],
                    0,
                );
                set(states, index, &job.chains.outer);
                return true;
            }
            Phase::Outer => job.mac = digest(states, index),
        }
    }
    let next = order.next();
    let Some((next, job)) = next.and_then(|next| Some((next, jobs.get(next)?))) else {
        *lane = HashLane::idle();
        return false;
    };
    lane.start(next, job.message);
    set(states, index, &job.chains.inner);
    true
}

fn set<const LANES: usize>(states: &mut States<LANES>, lane: usize, chain: &Chain) {
    for (words, value) in states.iter_mut().zip(chain) {
        if let Some(word) = words.get_mut(lane) {
            *word = *value;
        }
    }
}

fn digest<const LANES: usize>(states: &States<LANES>, lane: usize) -> Digest {
    let mut digest = Digest::default();
    for (cell, words) in digest.as_chunks_mut::<4>().0.iter_mut().zip(states) {
        *cell = words.get(lane).copied().unwrap_or_default().to_be_bytes();
    }
    digest
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;
    use hmac::{Hmac, KeyInit, Mac};
    use rekeyscope_lanes::{Avx2, Avx512, Messages, ShaNi};

    /// Five lanes, one after the other, on any processor.
    #[derive(Clone, Copy)]
    struct Portable;

    impl Compress<5> for Portable {
        fn compress(self, hash: LaneHash, states: &mut States<5>, messages: &Messages<'_, 5>, steps: usize) {
            for (lane, message) in messages.iter().enumerate() {
                let mut chain = states.map(|words| words[lane]);
                hash.compress_alone(&mut chain, &message[..steps]);
                set(states, lane, &chain);
            }
        }
    }

    /// MACs in the order of `messages`, each with its key: by all lanes that the processor has, and by others.
    fn macs(hash: LaneHash, messages: &[(&[u8], &[u8], Option<u32>)]) -> Vec<Vec<Vec<u8>>> {
        let chains: Vec<Chains> = messages
            .iter()
            .map(|(key, ..)| Chains::new(hash, key).unwrap())
            .collect();
        let by = |authenticate: &dyn Fn(&mut [Job<'_>])| {
            let job = |(number, (chains, &(_, message, esn_high)))| Job {
                number,
                chains,
                message,
                esn_high,
                icv: &[],
                mac: Digest::default(),
            };
            let mut jobs: Vec<Job<'_>> = chains.iter().zip(messages).enumerate().map(job).collect();
            authenticate(&mut jobs);
            jobs.iter()
                .map(|job| job.mac[..hash.digest_len()].to_vec())
                .collect()
        };
        let mut results = vec![by(&|jobs| authenticate(jobs, hash, Portable))];
        if let Some(lanes) = Avx512::detect() {
            results.push(by(&|jobs| authenticate(jobs, hash, lanes)));
        }
        if let Some(lanes) = Avx2::detect() {
            results.push(by(&|jobs| authenticate(jobs, hash, lanes)));
        }
        if let Some(lanes) = ShaNi::detect() {
            results.push(by(&|jobs| authenticate(jobs, hash, lanes)));
        }
        results
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
            for macs in macs(hash, &messages) {
                assert_eq!(macs, expected);
            }
            for (message, mac) in messages.iter().zip(&expected) {
                for macs in macs(hash, &[*message; 35]) {
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
            for macs in macs(hash, &messages) {
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
