//! Cost of rekeys and failures in one direction of a tunnel.
//!
//! An interval in which a rekey held the transfer up costs its length, less the time that the bytes which arrived in it take without the
//! rekey: **cost = (to − from) − bytes / r0**. The same bytes are there so much later. The path's own rate enters only where no undisturbed time gives r0.
//!
//! ```text
//! input      arrived bytes, transmissions in vain, rekeys, failed attempts
//! silence    from one arrival to the next, and what is known of it
//! ownership  which rekey or failure a silence belongs to
//! price      when the transfer is back at its rate: the interval's end; r0 from the undisturbed time on both sides, and the cost
//! slow       rekeys without a silence that slowed the transfer all the same
//! sealed     the same without keys: what its receiver does not answer did not arrive
//! sums       the seconds and bytes of all labels, exactly
//! ```

mod arrivals;
mod book;
mod input;
#[cfg(test)]
mod made_up;
mod ownership;
mod price;
mod sealed;
mod silence;
mod slow;
mod spans;
mod sums;
mod undisturbed;

pub use book::{LedgerBook, OwnedInterval, RekeyCost, TransferSpan, ledger};
pub(crate) use input::RuleTimes;
pub use input::{
    FailedSpan, Idle, LEAST_COST, LEAST_GAP, LEAST_SHARE, LedgerInput, RekeySpan, swallow_beyond_volume,
};
pub use ownership::Owner;
pub use price::RATE_SIDE;
pub use sealed::{SealedBook, sealed_ledger, was_over};
pub use slow::SlowRekeys;
pub(crate) use spans::{joined, meets, without};
pub use sums::{LabelSum, label_sums};
pub(crate) use undisturbed::AT_LIMIT;

#[cfg(test)]
mod tests;
