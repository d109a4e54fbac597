//! Answers that refuse, by their length: what they say may be unreadable.

use crate::ike::timeline::{Exchange, MessageRecord};
use rekeyscope_model::analysis::ExchangeKind;

/// The shortest answer to a CREATE_CHILD_SA that makes an SA, bytes: header 28, encrypted payload 4 with an IV of 8 and an
/// ICV of 8, SA 36 (one AEAD with its key length, no extended numbers, RFC 7296 §3.3), nonce 20 (§2.10: 16 at least), two
/// traffic selectors of 24 over IPv4. An error notification takes 8 to 12 bytes instead of all of these.
const SHORTEST_ANSWER: u32 = 28 + 4 + 8 + 8 + 36 + 20 + 2 * 24;
/// An answer that is too short to make an SA: what refuses without being readable.
pub(super) fn refused_by_length(exchange: &Exchange) -> bool {
    let answer = || answer(exchange);
    exchange.kind == ExchangeKind::CreateChildSa
        && !exchange.decrypted
        && answer().is_some_and(|r| r.len < SHORTEST_ANSWER)
}

/// The first message of the other side.
pub(super) fn answer(exchange: &Exchange) -> Option<&MessageRecord> {
    exchange.records.iter().find(|r| r.src != exchange.initiator)
}
