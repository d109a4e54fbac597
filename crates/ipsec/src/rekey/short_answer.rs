//! Refusals known by the outline and the length of an answer whose content may be unreadable.

use crate::ike::outline::FirstInside;
use crate::ike::timeline::Exchange;
use rekeyscope_model::analysis::ExchangeKind;

/// The shortest answer to a CREATE_CHILD_SA that makes an SA, bytes: header 28, encrypted payload 4 with an IV of 8 and an
/// ICV of 8, SA 36 (one AEAD with its key length, no extended numbers, RFC 7296 §3.3), nonce 20 (§2.10: 16 at least), two
/// traffic selectors of 24 over IPv4. An error notification takes 8 to 12 bytes instead of all of these.
pub(super) const SHORTEST_ANSWER: u32 = 28 + 4 + 8 + 8 + 36 + 20 + 2 * 24;

/// Bytes by which an answer that makes a child SA is longer than one that refuses it: an SA of 36 and two traffic selectors of 24, for a notification
/// of 12 at most.
pub(super) const LEAST_OF_A_CHILD: u32 = 36 + 2 * 24 - 12;

/// An unreadable answer refuses if it is too short to make an SA and does not begin with one. (A notification may stand in front of an
/// SA, too.)
pub(super) fn refused_by_length(exchange: &Exchange) -> bool {
    let refuses = |first| matches!(first, None | Some(FirstInside::Notify));
    exchange.kind == ExchangeKind::CreateChildSa
        && !exchange.decrypted
        && exchange
            .answer()
            .is_some_and(|r| r.len < SHORTEST_ANSWER && refuses(r.outline.inside))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rekey::made_up::{CLIENT, MadeUp};

    /// A Quick Mode is refused in another exchange, and what was read needs no guess.
    #[test]
    fn only_an_answer_that_nobody_could_read_is_judged_by_its_length() {
        for (kind, decrypted, refused) in [
            (ExchangeKind::CreateChildSa, false, true),
            (ExchangeKind::CreateChildSa, true, false),
            (ExchangeKind::QuickMode, false, false),
        ] {
            let mut tunnel = MadeUp::new();
            let exchange = tunnel.exchange(kind, CLIENT, (1_000, 1_040), 0);
            tunnel.exchanges[exchange].decrypted = decrypted;
            assert!(!refused_by_length(&tunnel.exchanges[exchange]), "300 bytes");
            tunnel.exchanges[exchange].records[1].len = 80;
            assert_eq!(
                refused_by_length(&tunnel.exchanges[exchange]),
                refused,
                "{kind:?}"
            );
            tunnel.exchanges[exchange].records[1].outline.inside = Some(FirstInside::SecurityAssociation);
            assert!(!refused_by_length(&tunnel.exchanges[exchange]), "it makes an SA");
        }
    }
}
