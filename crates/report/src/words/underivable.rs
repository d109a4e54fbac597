//! Why the keys of SAs did not follow from their negotiation, although it could be read.

use rekeyscope_model::analysis::{Analysis, Exchange, ExchangeKind, KeyStatus, SecurityAssociation};
use rekeyscope_model::spi::Spi;
use rekeyscope_model::text::{Catalogue, Language, Message};
use std::collections::HashMap;

/// Half of a key is wrong: it checks the packets of its SA and does not open them.
pub fn only_integrity_fits(sa: &SecurityAssociation) -> bool {
    sa.packets > 0
        && sa.key.status == KeyStatus::Unverified
        && sa.icv.verified > 0
        && sa.inner_bytes.is_none()
}

/// Why SAs have no key although their negotiation could be read, sentence by sentence, in English.
pub fn why_not_derived(analysis: &Analysis) -> Vec<String> {
    let english = Catalogue::of(Language::English);
    messages(analysis).iter().map(|m| english.say(m)).collect()
}

/// The same as messages, for a report in any language.
pub(crate) fn messages(analysis: &Analysis) -> Vec<Message> {
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
    let found = [("underivable-pfs", secret), ("underivable-without-pfs", plain)];
    let found = found.into_iter().filter(|(_, count)| *count > 0);
    found
        .map(|(id, count)| Message::new(id).with("count", count))
        .collect()
}

/// Lines of a log that would open the negotiations that stay closed, where SAs lack keys: of the first such IKE SA of each version.
pub(crate) fn lines_that_would_open(analysis: &Analysis) -> Vec<Message> {
    let lacks = |tunnel: usize| {
        let sas = analysis.sas_of(tunnel);
        sas.filter(|sa| sa.packets > 0)
            .any(|sa| sa.key.status != KeyStatus::Verified)
    };
    let negotiates = |exchange: &&Exchange| {
        use ExchangeKind::{CreateChildSa, IkeAuth, QuickMode};
        !exchange.decrypted
            && matches!(exchange.kind, QuickMode | IkeAuth | CreateChildSa)
            && lacks(exchange.tunnel)
    };
    let exchanges = analysis.exchanges.iter().filter(negotiates);
    let closed: Vec<_> = exchanges
        .filter_map(|exchange| analysis.ike_sas.get(exchange.ike_sa?))
        .filter(|ike| ike.key.status != KeyStatus::Verified)
        .collect();
    [(1, "missing-keys-line-ikev1"), (2, "missing-keys-line-ikev2")]
        .into_iter()
        .filter_map(|(version, id)| {
            let first = closed.iter().find(|ike| ike.ike_version == version)?;
            Some(Message::new(id).with("spi", first.initiator_spi.to_string()))
        })
        .collect()
}
