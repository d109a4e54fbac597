//! What the rekeys cost: a series and the moments of the rekeys → a verdict. Pure arithmetic; nothing here knows packets.
//!
//! ```text
//! input     traffic between rests, moments, settings; holes of the capture; which part is the transfer
//! estimate  baseline, stall, gap, placebo: bytes and time lost at each rekey; the slope over several captures
//! decide    hurt: which rekeys hurt; verdict: shown, some, bounded, inconclusive; all_transfers: what follows from several; assess: the whole method
//! explain   what explains a time without delivery: one table of causes
//! ledger    what rekeys and failures cost, from arrived bytes: one book
//! account   where every second of a transfer went, from the packets of its connections
//! tell      the same in words, mean rekey, projection
//! compare   several captures against each other
//! two_points  one tunnel captured at two points: losses between them, delays, clocks
//! ```
//!
//! **Where it is decided that a rekey hurt**: `decide/hurt.rs`; what the verdict is: `decide/verdict.rs`.
//!
//! The unit of every test is the rekey, never the bin: a t-test over pooled bins calls 19–28 % of no-effect runs
//! significant. Losses are never clipped at zero. Real rekeys and placebos obey the same rules.

pub mod account;
pub mod compare;
mod decide;
mod estimate;
pub mod explain;
mod input;
pub mod ledger;
pub mod tell;
pub mod two_points;

pub use crate::decide::assess::{assess, assess_transfers, judge};
pub use crate::decide::outcome::DirectionImpact;
pub use crate::decide::verdict::LEVEL;
pub use crate::estimate::highest::highest_rate;
pub use crate::input::moment::{ProvenEffect, ProvenOutage, RekeyMoment};
pub use crate::input::settings::{INTEREST, MethodSettings, PROJECTED_KILOBYTES};
pub use crate::input::start::Start;
pub use crate::input::traffic::{Gap, Traffic};
