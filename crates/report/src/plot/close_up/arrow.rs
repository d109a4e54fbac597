//! IKE messages, ready to draw.

use crate::words::exchange_name;
use crate::words::focus::Focus;
use rekeyscope_model::analysis::{CloseUp, CloseUpMessage, Direction, Exchange, ExchangeKind};
use std::collections::HashSet;

/// Arrows drawn; a document has fewer.
const MOST_ARROWS: usize = 100;

/// One message.
pub(super) struct Arrow {
    pub(super) ms: f64,
    pub(super) frame: u64,
    pub(super) direction: Direction,
    /// The message with the name of its exchange.
    pub(super) label: String,
    /// Without it, where a message of the exchange has it already.
    pub(super) short: String,
    pub(super) again: bool,
}

pub(super) fn arrows(focus: &Focus, shown: &CloseUp) -> Vec<Arrow> {
    let mut named = HashSet::new();
    let all = shown.ike.iter().take(MOST_ARROWS).filter(|m| m.ms.is_finite());
    all.map(|m| arrow(focus, m, named.insert(m.exchange))).collect()
}

fn arrow(focus: &Focus, m: &CloseUpMessage, first: bool) -> Arrow {
    let exchange = focus.analysis.exchanges.get(m.exchange);
    let name = exchange.map_or_else(|| "IKE".to_string(), name);
    let label = match exchange {
        Some(e) if e.messages == 1 => name,
        _ => format!("{name} {}", m.message),
    };
    let said = |label: String| match m.retransmission {
        true => fill!(focus.t, "plot-close-again", label),
        false => label,
    };
    let short = if first {
        label.clone()
    } else {
        m.message.to_string()
    };
    Arrow {
        ms: m.ms,
        frame: m.frame,
        direction: m.direction,
        label: said(label),
        short: said(short),
        again: m.retransmission,
    }
}

/// The name in the RFCs, by what the exchange does where that could be read.
fn name(exchange: &Exchange) -> String {
    match exchange.kind {
        ExchangeKind::Informational if !exchange.deletes.is_empty() => "Delete".to_owned(),
        kind => exchange_name(kind).to_owned(),
    }
}
