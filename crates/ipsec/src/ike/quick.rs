//! Quick Mode negotiation (RFC 2409 §5.5): what the initiator offers, what the responder chooses, and the one-way SAs
//! that follow. The SPI in a message is inbound to its sender (RFC 2408 §3.5).

use crate::ike::exchange::{Exchange, NegotiatedSa};
use crate::ike::ikev1::{Ikev1Proposal, parse_sa};
use crate::ike::notify::ipsec_protocol;
use crate::ike::transform;
use rekeyscope_model::algorithm::Transform;
use rekeyscope_model::analysis::{Lifetime, Mode};
use rekeyscope_model::error::WireError;
use rekeyscope_model::spi::{IpsecProtocol, Spi};
use std::net::IpAddr;

/// One proposal for ESP or AH, with its first transform.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Offer {
    /// Number of the message's SA payload: each stands for a pair of SAs.
    pub(super) sa: usize,
    pub(super) number: u8,
    pub(super) protocol: IpsecProtocol,
    pub(super) spi: Spi,
    pub(super) transform: Option<Transform>,
    pub(super) mode: Option<Mode>,
    pub(super) lifetime: Option<Lifetime>,
}

/// Sender of a message. As index: 0 and 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExchangeSide {
    Initiator = 0,
    Responder = 1,
}

impl ExchangeSide {
    /// The side of who `initiated` it or did not.
    pub(super) fn of(initiated: bool) -> Self {
        if initiated {
            Self::Initiator
        } else {
            Self::Responder
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Negotiation {
    pub(super) offers: [Vec<Offer>; 2],
    /// RESPONDER-LIFETIME.
    pub(super) lowered: Lifetime,
}

/// Reads an IKEv1 SA payload into offers. Proposals for other protocols (IPComp) are left out.
///
/// # Errors
/// [`WireError`] where it does not parse.
pub(super) fn offers(sa: usize, body: &[u8]) -> Result<Vec<Offer>, WireError> {
    let proposals = parse_sa(body)?;
    let offer = |p: &Ikev1Proposal<'_>| {
        let protocol = ipsec_protocol(p.protocol)?;
        let spi = Spi(u32::from_be_bytes(p.spi.try_into().ok()?));
        let read = p
            .transforms
            .first()
            .map(|t| transform::ikev1(protocol, t.id, t.attributes))
            .unwrap_or_default();
        Some(Offer {
            sa,
            number: p.number,
            protocol,
            spi,
            transform: read.transform,
            mode: read.mode,
            lifetime: read.lifetime,
        })
    };
    Ok(proposals.iter().filter_map(offer).collect())
}

impl Negotiation {
    /// Takes what `side` said, once: a side does not change its mind within an exchange.
    pub(super) fn hear(&mut self, side: ExchangeSide, mut said: Vec<Offer>) {
        said.truncate(Exchange::MAX_SPIS);
        let offers = &mut self.offers[side as usize];
        if offers.is_empty() {
            *offers = said;
        }
    }

    /// The SAs: the responder's choice with both SPIs, or, until it chose, all that the initiator offers.
    pub(super) fn children(&self, initiator: IpAddr, responder: IpAddr) -> Vec<NegotiatedSa> {
        let [offered, chosen] = &self.offers;
        let child = |src, dst, spi, of: &Offer| NegotiatedSa {
            src,
            dst,
            protocol: of.protocol,
            spi,
            transform: of.transform,
            mode: of.mode,
        };
        let mut children: Vec<NegotiatedSa> = Vec::new();
        if chosen.is_empty() {
            for offer in offered {
                let known = |c: &NegotiatedSa| (c.protocol, c.spi) == (offer.protocol, offer.spi);
                if !children.iter().any(known) {
                    children.push(child(responder, initiator, offer.spi, offer));
                }
            }
        }
        for choice in chosen {
            if let Some(offer) = self.offer_for(choice) {
                children.push(child(responder, initiator, offer.spi, choice));
            }
            children.push(child(initiator, responder, choice.spi, choice));
        }
        children.truncate(Exchange::MAX_SPIS);
        children
    }

    /// The proposal that a choice answers: same SA payload, protocol and number; some responders renumber.
    fn offer_for(&self, choice: &Offer) -> Option<&Offer> {
        let same = |o: &&Offer| (o.sa, o.protocol) == (choice.sa, choice.protocol);
        let offered = &self.offers[ExchangeSide::Initiator as usize];
        let mut candidates = offered.iter().filter(same);
        let numbered = candidates.clone().find(|o| o.number == choice.number);
        let alike = || candidates.clone().find(|o| o.transform == choice.transform);
        numbered.or_else(alike).or_else(|| candidates.next())
    }

    /// Lifetime of the first chosen SA, else of the first offer, lowered by RESPONDER-LIFETIME.
    pub(super) fn lifetime(&self) -> Option<Lifetime> {
        let of = |side: ExchangeSide| self.offers[side as usize].iter().find_map(|o| o.lifetime);
        let agreed = of(ExchangeSide::Responder).or_else(|| of(ExchangeSide::Initiator));
        let lower = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        let base = agreed.unwrap_or_default();
        let lifetime = Lifetime {
            seconds: lower(base.seconds, self.lowered.seconds),
            kilobytes: lower(base.kilobytes, self.lowered.kilobytes),
        };
        (lifetime != Lifetime::default()).then_some(lifetime)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::algorithm::{Encryption, Integrity, Transform};
    use rekeyscope_model::analysis::Mode;
    use rekeyscope_model::spi::IpsecProtocol;

    fn offer(sa: usize, number: u8, spi: u32, key_len: usize) -> Offer {
        Offer {
            sa,
            number,
            protocol: IpsecProtocol::Esp,
            spi: Spi(spi),
            transform: Some(Transform {
                encryption: Encryption::AesCbc,
                key_len: Some(key_len),
                integrity: Integrity::HmacSha1_96,
            }),
            mode: Some(Mode::Transport),
            lifetime: Some(Lifetime {
                seconds: Some(3600),
                kilobytes: Some(250_000),
            }),
        }
    }

    fn spis(negotiation: &Negotiation) -> Vec<(u32, bool)> {
        let (initiator, responder) = ([192, 0, 2, 1].into(), [192, 0, 2, 2].into());
        let children = negotiation.children(initiator, responder);
        children.iter().map(|c| (c.spi.0, c.dst == initiator)).collect()
    }

    #[test]
    fn offers_stand_until_the_responder_chooses() {
        let mut negotiation = Negotiation::default();
        negotiation.hear(
            ExchangeSide::Initiator,
            vec![offer(0, 1, 10, 32), offer(0, 2, 10, 16), offer(0, 3, 11, 16)],
        );
        assert_eq!(spis(&negotiation), [(10, true), (11, true)]);
        negotiation.hear(ExchangeSide::Responder, vec![offer(0, 3, 99, 16)]);
        assert_eq!(spis(&negotiation), [(11, true), (99, false)]);
    }

    #[test]
    fn a_renumbered_choice_is_matched_by_its_transform() {
        let mut negotiation = Negotiation::default();
        negotiation.hear(
            ExchangeSide::Initiator,
            vec![offer(0, 2, 10, 32), offer(0, 3, 11, 16)],
        );
        negotiation.hear(ExchangeSide::Responder, vec![offer(0, 1, 99, 16)]);
        assert_eq!(spis(&negotiation), [(11, true), (99, false)]);
    }

    #[test]
    fn several_sa_payloads_are_several_pairs() {
        let mut negotiation = Negotiation::default();
        negotiation.hear(
            ExchangeSide::Initiator,
            vec![offer(0, 1, 10, 16), offer(1, 1, 20, 16)],
        );
        negotiation.hear(
            ExchangeSide::Responder,
            vec![offer(0, 1, 11, 16), offer(1, 1, 21, 16)],
        );
        assert_eq!(
            spis(&negotiation),
            [(10, true), (11, false), (20, true), (21, false)]
        );
    }

    #[test]
    fn responder_lifetime_only_lowers() {
        let mut negotiation = Negotiation::default();
        negotiation.hear(ExchangeSide::Initiator, vec![offer(0, 1, 10, 16)]);
        negotiation.lowered = Lifetime {
            seconds: Some(7200),
            kilobytes: Some(100_000),
        };
        let lifetime = negotiation.lifetime().unwrap();
        assert_eq!(
            (lifetime.seconds, lifetime.kilobytes),
            (Some(3600), Some(100_000))
        );
    }
}
