//! Decryption Secrets Blocks (draft-ietf-opsawg-pcapng §4.7): keys that a capture holds beside its packets. Those of ESP are
//! kept, each in memory that is wiped; all others are stepped over.

use crate::file::order::ByteOrder;
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::text::Message;

/// The type of the block.
pub(super) const SECRETS_BLOCK: u32 = pcap_parser::DSB_MAGIC;
/// Secrets type "ESPS": rows of Wireshark's `esp_sa` (`SECRETS_TYPE_ESP` in its `wiretap/secrets-types.h`).
pub(super) const ESP_SECRETS: u32 = 0x4553_5053;
/// Type, length, secrets type and secrets length, before the secrets; behind them, the length again.
const SECRETS_AT: usize = 16;
const BEHIND: usize = 4;

/// Most bytes of ESP secrets of a capture that are kept: rows for all the keys that are kept of key files, 100,000, with 300
/// bytes each.
const MOST_BYTES: usize = 32 << 20;
/// Most blocks of them: each is listed like a key file.
const MOST_BLOCKS: usize = 1_000;

/// The ESP keys of one block: rows of Wireshark's table `esp_sa`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EspSecrets {
    /// Number of the Decryption Secrets Block in the capture, of whatever type; from 1.
    pub block: u64,
    /// The rows.
    pub rows: SecretBytes,
}

#[derive(Debug, Default)]
pub(super) struct SecretsSeen {
    /// Not taken yet.
    pub(super) waiting: Vec<EspSecrets>,
    /// Blocks of any type.
    blocks: u64,
    kept_blocks: usize,
    kept_bytes: usize,
}

impl SecretsSeen {
    /// Takes a block, whole. Secrets of others are none of ours, however malformed; malformed ones of ESP are counted and left
    /// out.
    pub(super) fn take(&mut self, order: ByteOrder, block: &[u8], diagnostics: &mut Diagnostics) {
        self.blocks += 1;
        if order.u32(block, 8) != Some(ESP_SECRETS) {
            return;
        }
        let Some(rows) = secrets(order, block) else {
            diagnostics.count("bad_secrets", "pcapng", None, || {
                Message::new("oddity-bad-secrets").with("block", self.blocks)
            });
            return;
        };
        let bytes = self.kept_bytes.saturating_add(rows.len());
        if self.kept_blocks >= MOST_BLOCKS || bytes > MOST_BYTES {
            diagnostics.count("too_many_secrets", "pcapng", None, || {
                Message::new("oddity-too-many-secrets")
                    .with("blocks", MOST_BLOCKS)
                    .with("megabytes", MOST_BYTES >> 20)
            });
            return;
        }
        (self.kept_blocks, self.kept_bytes) = (self.kept_blocks + 1, bytes);
        self.waiting.push(EspSecrets {
            block: self.blocks,
            rows: SecretBytes::from(rows),
        });
    }
}

/// The bytes of a block's secrets; `None` where they would end behind it.
fn secrets(order: ByteOrder, block: &[u8]) -> Option<&[u8]> {
    let len = order.u32(block, 12)? as usize;
    let room = block.get(SECRETS_AT..block.len().checked_sub(BEHIND)?)?;
    room.get(..len)
}
