//! One row of Wireshark's `esp_sa`, checked: a row with a mistake ends the reading of the table, a key of a wrong length is a
//! dissector bug on every packet.

use super::{SecretText, note_left_out};
use crate::write::key_ring::{KeyProof, SaKey};
use rekeyscope_model::secret::SecretBytes;
use std::net::IpAddr;

/// One row of `esp_sa`.
pub(super) struct EspRow<'r> {
    pub(super) key: &'r SaKey,
    encryption: &'static str,
    integrity: &'static str,
    /// The integrity column is one of those without a check.
    pub(super) unchecked: bool,
}

impl<'r> EspRow<'r> {
    /// `None` where Wireshark has no such cipher, or a key has a length that the cipher does not take.
    fn new(key: &'r SaKey) -> Option<Self> {
        let encryption = key.transform.encryption;
        let row = encryption.row();
        let bytes = key.encryption_key.len().checked_sub(row.salt_len)?;
        if !row.key_lens.contains(&bytes) {
            return None;
        }
        let checked = key
            .transform
            .integrity
            .row()
            .esp_sa
            .filter(|_| key.integrity_key.len() == key.transform.integrity.key_len())
            .filter(|_| {
                encryption.is_aead() || key.proof == KeyProof::Proven || !key.integrity_key.is_empty()
            });
        let integrity = match checked {
            Some(name) => name,
            None => unchecked_integrity(key.icv_len())?,
        };
        Some(EspRow {
            key,
            encryption: row.esp_sa?,
            integrity,
            unchecked: checked.is_none(),
        })
    }

    /// The rows of these keys, in their order. Says what is left out.
    pub(super) fn of(keys: impl IntoIterator<Item = &'r SaKey>, notes: &mut Vec<String>) -> Vec<Self> {
        let mut left_out = Vec::new();
        let mut row = |key: &'r SaKey| {
            let row = EspRow::new(key);
            left_out.extend(row.is_none().then(|| key.transform.encryption_name()));
            row
        };
        let rows = keys.into_iter().filter_map(&mut row).collect();
        note_left_out(&left_out, "Wireshark", notes);
        rows
    }

    /// The eight columns that every version has.
    pub(super) fn columns(&self, out: &mut SecretText) {
        let SaKey { src, dst, spi, .. } = self.key;
        let family = if dst.is_ipv6() { "IPv6" } else { "IPv4" };
        let (src, dst) = (column(*src), column(*dst));
        out.push(&format!(
            "\"{family}\",\"{src}\",\"{dst}\",\"{spi}\",\"{}\",",
            self.encryption
        ));
        quoted_key(out, &self.key.encryption_key);
        out.push(&format!(",\"{}\",", self.integrity));
        if self.unchecked {
            out.push("\"\"");
        } else {
            quoted_key(out, &self.key.integrity_key);
        }
    }
}

/// An address that is not known fits any.
fn column(address: IpAddr) -> String {
    if address.is_unspecified() {
        "*".to_owned()
    } else {
        address.to_string()
    }
}

fn quoted_key(out: &mut SecretText, key: &SecretBytes) {
    if key.is_empty() {
        out.push("\"\"");
    } else {
        out.push("\"0x").push_hex(key).push("\"");
    }
}

fn unchecked_integrity(icv_len: usize) -> Option<&'static str> {
    Some(match icv_len {
        // Most transforms have 96 bits: so does one that nobody named.
        0 | 12 => "ANY 96 bit authentication [no checking]",
        16 => "ANY 128 bit authentication [no checking]",
        24 => "ANY 192 bit authentication [no checking]",
        32 => "ANY 256 bit authentication [no checking]",
        _ => return None,
    })
}
