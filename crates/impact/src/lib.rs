//! What the rekeys cost. Pure functions over a series and the moments of the rekeys; nothing here knows packets.
//!
//! In order of reading:
//!
//! ```text
//! traffic, moment, start, settings, outcome   what goes in and what comes out
//! unobserved  holes of the capture: which rekeys lie in one, and what stands in for it
//! transfer  which part of the series is the transfer, which rekeys lie in it
//! baseline  window lengths W, affected intervals, the rate a rekey is compared with
//! stall     bytes lost, equivalent stall, depth, duration
//! gap       per rekey: is its longest silence rare without a rekey?
//! placebo   the same stalls at moments drawn on the byte clock; bias; p over all W
//! hurt      which rekeys hurt (Benjamini–Hochberg)
//! aggregate mean over the rekeys, t-intervals, minimum detectable stall, walk over W
//! late      what a slow stretch adds before a window that begins after its exchange did
//! evaluate  all of this once: an evaluation       assess    the whole method: evaluation and its part of the document
//! verdict   shown, some, bounded, inconclusive      sentence  the same in words
//! projection, mean_rekey, sensitivity, listing, highest      what else the report shows
//! compare   several captures: seconds per rekey by regression
//! simulate  synthetic traffic, for the calibration only
//! ```
//!
//! The unit of every test is the rekey, never the bin: a t-test over pooled bins calls 19–28 % of no-effect runs
//! significant. Losses are never clipped at zero. Real rekeys and placebos obey the same rules.

pub mod compare;
pub mod decide;
pub mod estimate;
pub mod input;
pub mod simulate;
pub mod tell;

pub use crate::decide::assess::assess;
pub use crate::decide::outcome::{DirectionImpact, Transfer};
pub use crate::estimate::highest::highest_rate;
pub use crate::input::moment::RekeyMoment;
pub use crate::input::settings::{INTEREST, PROJECTED_KILOBYTES, Settings};
pub use crate::input::start::Start;
pub use crate::input::traffic::{Gap, Traffic};
