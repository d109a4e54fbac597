//! Request and answer of an exchange.

use crate::ike::exchange::{Exchange, MessageRecord};

impl Exchange {
    /// The first message of the exchange and its copies.
    pub fn requests(&self) -> impl Iterator<Item = &MessageRecord> {
        let first = self.records.first();
        self.records
            .iter()
            .filter(move |r| first.is_some_and(|f| f.frame == r.frame || r.retransmission && alike(f, r)))
    }

    /// First message of the other side.
    pub fn answer(&self) -> Option<&MessageRecord> {
        self.records.iter().find(|r| self.is_answer(r))
    }

    /// Tells whether a message comes from the side that did not begin. An IKEv2 header says so, whatever became of the addresses meanwhile.
    pub fn is_answer(&self, record: &MessageRecord) -> bool {
        record.outline.response.unwrap_or(record.src != self.initiator)
    }
}

fn alike(a: &MessageRecord, b: &MessageRecord) -> bool {
    (a.src, a.len) == (b.src, b.len)
}
