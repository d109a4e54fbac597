//! Keys of key files → Wireshark's tables, without a capture: no packet proves a key here, and none is derived.

use super::SecretText;
use super::esp_row::EspRow;
use super::wireshark::{self, Tables};
use crate::pipeline::record::key_place;
use crate::write::key_ring::{KeyProof, KeyRing, SaKey};
use rekeyscope_ipsec::ike::proven::ProvenIkeKey;
use rekeyscope_keylog::{EspKey, KeyMaterial};
use rekeyscope_model::algorithm::Transform;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

/// Problems of rows that are told one by one.
pub const MOST_PROBLEMS: usize = 5;

/// Makes the tables: every whole key that names its SPI, with the addresses that the file has for it (`*` where it has none), in the
/// order of the files.
pub fn tables(material: &KeyMaterial) -> Tables {
    let mut notes = read_as(material);
    let whole = || material.esp.iter().filter(|key| key.defect.is_none());
    let keys: Vec<SaKey> = whole().filter_map(sa_key).collect();
    let rows = EspRow::of(&keys, &mut notes);
    let mut esp_sa = SecretText::for_rows(rows.len());
    for row in &rows {
        row.columns(&mut esp_sa);
        esp_sa.push("\n");
    }
    let defective = material.esp.len() - whole().count();
    let unnamed = whole().filter(|key| key.spi.is_none()).count();
    if defective > 0 {
        notes.push(format!("keys of {defective} SAs are masked or cut short"));
    }
    if unnamed > 0 {
        notes.push(format!(
            "{unnamed} keys stand without an SPI: only with the capture can it be told whose they are"
        ));
    }
    let has_sources = !(material.ike.is_empty() && material.seeds.is_empty() && material.blobs.is_empty());
    if keys.is_empty() && defective == 0 && has_sources {
        notes.push(
            "no key of an SA stands in it with its SPI: with the capture keys are derived from what stands there, or found by trial"
                .to_owned(),
        );
    }
    let ring = KeyRing {
        ike: ikev1_keys(material),
        ..KeyRing::default()
    };
    Tables {
        esp_sa: esp_sa.finish(),
        esp_rows: rows.len(),
        notes,
        ..wireshark::tables(&ring)
    }
}

/// The formats of each file, then the first rows that cannot be read.
fn read_as(material: &KeyMaterial) -> Vec<String> {
    let formats = material.files.iter().filter(|file| !file.formats.is_empty());
    let mut notes: Vec<String> = formats
        .map(|file| format!("{} is read as {}", file.path.display(), file.formats.join(", ")))
        .collect();
    let path = |file: usize| material.files.get(file).map_or(Path::new(""), |f| &f.path);
    let shown = material.problems.iter().take(MOST_PROBLEMS);
    notes.extend(shown.map(|p| {
        let place = key_place(&path(p.file).to_string_lossy(), None, p.line);
        format!("{place}: {}", p.sentence)
    }));
    if material.problems.len() > MOST_PROBLEMS {
        notes.push(format!(
            "{} more lines like these",
            material.problems.len() - MOST_PROBLEMS
        ));
    }
    notes
}

/// IKEv1 keys with the cookie that names their SA.
fn ikev1_keys(material: &KeyMaterial) -> Vec<ProvenIkeKey> {
    let ka = |key: &rekeyscope_keylog::IkeKey| {
        Some(ProvenIkeKey::Ikev1 {
            initiator_spi: key.initiator_spi?,
            ka: key.secrets.ka.clone()?,
        })
    };
    material
        .ike
        .iter()
        .filter(|key| key.version == 1)
        .filter_map(ka)
        .collect()
}

fn sa_key(claim: &EspKey) -> Option<SaKey> {
    let (encryption, integrity) = claim.transforms().into_iter().next()?;
    let is_v6 = claim.dst.or(claim.src).is_some_and(|address| address.is_ipv6());
    let any: IpAddr = if is_v6 {
        Ipv6Addr::UNSPECIFIED.into()
    } else {
        Ipv4Addr::UNSPECIFIED.into()
    };
    Some(SaKey {
        src: claim.src.unwrap_or(any),
        dst: claim.dst.unwrap_or(any),
        spi: claim.spi?,
        packets: 0,
        proof: KeyProof::Unchecked,
        transform: Transform {
            encryption,
            key_len: Some(claim.encryption_key.len() - encryption.salt_len()),
            integrity,
        },
        negotiated: None,
        esn_high: None,
        encryption_key: claim.encryption_key.clone(),
        integrity_key: claim.integrity_key.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::export::synthetic::text;

    fn of(key_file: &str) -> Tables {
        let mut material = KeyMaterial::default();
        material.read_bytes(Path::new("keys.log"), key_file.as_bytes());
        tables(&material)
    }

    const XFRM: &str = "src 10.9.0.1 dst 10.9.0.2\n\tproto esp spi 0xc7df968a reqid 1 mode transport\n\
        \tauth-trunc hmac(sha1) 0xc46a3078f54d0c0b4734e16c7ea45d1d6efcdaea 96\n\
        \tenc cbc(aes) 0x49765da92b65534e26bc4455e3193516\n";

    #[test]
    fn a_claim_is_a_row() {
        let made = of(XFRM);
        assert_eq!(
            text(&made.esp_sa),
            "\"IPv4\",\"10.9.0.1\",\"10.9.0.2\",\"0xc7df968a\",\"AES-CBC [RFC3602]\",\
             \"0x49765da92b65534e26bc4455e3193516\",\"HMAC-SHA-1-96 [RFC2404]\",\
             \"0xc46a3078f54d0c0b4734e16c7ea45d1d6efcdaea\"\n"
        );
        assert_eq!((made.esp_rows, made.notes.len()), (1, 1), "{:?}", made.notes);
        let router = of("2026/11/20 20:11:53: [IKE] SPI: c7 df 96 8a\n\
            2026/11/20 20:11:53: [IKE] encryption key: 49 76 5d a9 2b 65 53 4e 26 bc 44 55 e3 19 35 16\n\
            2026/11/20 20:11:53: [IKE] authentication key: c4 6a 30 78 f5 4d 0c 0b 47 34 e1 6c 7e a4 5d 1d 6e fc da ea\n");
        assert!(text(&router.esp_sa).starts_with("\"IPv4\",\"*\",\"*\",\"0xc7df968a\""));
    }

    #[test]
    fn what_is_no_row_is_told() {
        let hidden = of(&XFRM
            .replace("0xc46a3078f54d0c0b4734e16c7ea45d1d6efcdaea", "<<Keys hidden>>")
            .replace("0x49765da92b65534e26bc4455e3193516", "<<Keys hidden>>"));
        assert_eq!((hidden.esp_rows, hidden.esp_sa.len()), (0, 0));
        assert!(
            hidden.notes.join("\n").contains("keys of 1 SAs are masked"),
            "{:?}",
            hidden.notes
        );
        let phase1 = of(
            "2026/11/20 20:11:53: [IKE] SKEYID_d: 35 0d 59 e6 74 f2 ca 32 6c 56 61 2d c9 f9 7d 94 b3 ef 09 f6\n",
        );
        assert!(
            phase1
                .notes
                .join("\n")
                .contains("with the capture keys are derived"),
            "{:?}",
            phase1.notes
        );
        let none = of("Dear all,\nsee you on Monday.\n");
        assert_eq!((none.esp_rows, none.notes.len()), (0, 1), "{:?}", none.notes);
    }
}
