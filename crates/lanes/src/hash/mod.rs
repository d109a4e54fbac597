//! SHA-1 and SHA-256 as lanes take them, and how messages lie side by side.

// Only processors with lanes have rounds.
#[cfg(any(target_arch = "x86_64", target_arch = "wasm32"))]
#[macro_use]
pub(crate) mod rounds;

/// A block of either hash.
pub type Block = [u8; 64];
/// A hash between two blocks: eight words, of which SHA-1 uses the first five.
pub type Chain = [u32; 8];

/// The hashes that the lanes know (FIPS 180-4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneHash {
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
}

impl LaneHash {
    /// The state before the first block (FIPS 180-4 §5.3.1 and §5.3.3).
    pub fn initial(self) -> Chain {
        match self {
            LaneHash::Sha1 => [
                0x6745_2301,
                0xefcd_ab89,
                0x98ba_dcfe,
                0x1032_5476,
                0xc3d2_e1f0,
                0,
                0,
                0,
            ],
            LaneHash::Sha256 => [
                0x6a09_e667,
                0xbb67_ae85,
                0x3c6e_f372,
                0xa54f_f53a,
                0x510e_527f,
                0x9b05_688c,
                0x1f83_d9ab,
                0x5be0_cd19,
            ],
        }
    }

    /// Bytes of a digest.
    pub fn digest_len(self) -> usize {
        match self {
            LaneHash::Sha1 => 20,
            LaneHash::Sha256 => 32,
        }
    }

    /// Compresses the blocks of one message alone, on any processor.
    pub fn compress_alone(self, chain: &mut Chain, blocks: &[Block]) {
        match self {
            LaneHash::Sha1 => {
                if let Some(five) = chain.first_chunk_mut() {
                    sha1::block_api::compress(five, blocks);
                }
            }
            LaneHash::Sha256 => sha2::block_api::compress256(chain, blocks),
        }
    }
}

/// The chains of all lanes: `states[word][lane]`.
pub type States<const LANES: usize> = [[u32; LANES]; 8];
/// The blocks that wait in each lane.
pub type Messages<'a, const LANES: usize> = [&'a [Block]; LANES];

/// A way to hash `LANES` messages at once.
pub trait Compress<const LANES: usize>: Copy {
    /// Compresses the first `steps` blocks of each lane's message into its state. A message with fewer blocks leaves no
    /// defined state behind.
    fn compress(
        self,
        hash: LaneHash,
        states: &mut States<LANES>,
        messages: &Messages<'_, LANES>,
        steps: usize,
    );
}
