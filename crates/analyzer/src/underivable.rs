//! Why the keys of SAs did not follow from their negotiation, although it could be read.

use crate::analysis::{Analysis, Exchange, KeyStatus, SecurityAssociation};
use crate::spi::Spi;
use std::collections::HashMap;

/// Why SAs have no key although their negotiation could be read, sentence by sentence.
pub fn why_not_derived(analysis: &Analysis) -> Vec<String> {
    let mut exchanges: HashMap<(usize, Spi), &Exchange> = HashMap::new();
    for exchange in analysis.exchanges.iter().filter(|e| e.decrypted) {
        for spi in &exchange.spis {
            exchanges.insert((exchange.tunnel, *spi), exchange);
        }
    }
    let underivable = |sa: &&SecurityAssociation| sa.packets > 0 && sa.key.status != KeyStatus::Verified;
    let without = analysis.security_associations.iter().filter(underivable);
    let (mut secret, mut plain) = (0_u64, 0_u64);
    for exchange in without.filter_map(|sa| exchanges.get(&(sa.tunnel, sa.spi))) {
        if exchange.key_exchange == Some(true) {
            secret += 1;
        } else {
            plain += 1;
        }
    }
    let mut sentences = Vec::new();
    if secret > 0 {
        sentences.push(format!(
            "{} negotiated with perfect forward secrecy (PFS): the exchange made a Diffie–Hellman secret of its own, which \
             goes into the keys beside SKEYID_d or SK_d (RFC 2409 §5.5, RFC 7296 §2.17) and never crosses the wire, so that \
             phase-1 keys alone cannot give the keys. Needed is a log that holds that secret (charon at level 4 prints it \
             with its seeds) or the ESP keys themselves.",
            counted(secret)
        ));
    }
    if plain > 0 {
        sentences.push(format!(
            "{} negotiated without PFS in messages that could be read: SKEYID_d (IKEv2: SK_d) of their IKE SA would give \
             their keys; Ka, SKEYID_e, SK_ei and SK_er only open the messages.",
            counted(plain)
        ));
    }
    sentences
}

fn counted(n: u64) -> String {
    format!("{n} of these SAs {}", if n == 1 { "was" } else { "were" })
}
