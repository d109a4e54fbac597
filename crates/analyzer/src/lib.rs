//! What did the IPsec rekeys in a capture cost?
//!
//! Data flows one way; imports point back along it only:
//!
//! ```text
//! capture → framing ─┬─ ike → exchanges ──────────────┐
//!                    └─ esp ── sa database ← keylog ──┼─→ rekey ─┐
//!                         └→ inner → flows → series ──┴──────────┴→ impact → Analysis (plain data) → report/*
//! ```
//!
//! `framing` and `inner` go through tunnels and headers with the same walker, [`layers`].
//!
//! A rekey is recognised in [`rekey`], its cost is measured in [`impact`], the document is [`analysis::Analysis`].

pub mod algorithm;
pub mod analysis;
pub mod analyzer;
mod batch;
pub mod capture;
pub mod comparison;
pub mod copies;
mod diagnosis;
pub mod diagnostic;
pub mod document;
pub mod error;
pub mod esp;
pub mod export;
pub mod flow;
pub mod framing;
pub mod ike;
pub mod impact;
pub mod key_ring;
pub mod keylog;
mod layers;
mod lifetime;
mod meter;
pub mod mining;
pub mod overhead;
mod overhead_document;
pub mod overlay;
pub mod rekey;
pub mod report;
mod ruled_out;
pub mod sa;
mod sample;
pub mod secret;
pub mod series;
mod series_document;
pub mod spi;
pub mod spi_scan;
pub mod text;
#[cfg(test)]
mod thread_time;
pub mod time;
mod verdicts;

pub use report::underivable;
