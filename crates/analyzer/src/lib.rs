//! The pipeline that joins the crates, and the command `rekeyscope`.
//!
//! ```text
//! frames → pipeline ─┬─ decode: batches of ESP on all cores         ─┐
//!                    ├─ traffic: segments, deliveries, flows, meters ├─→ Record → assembly → Analysis → overlay, write, report
//!                    └─ diagnosis: what happens around each rekey    ─┘             └ findings
//! ```
//!
//! A packet passes five forms, each in its file: `Datagram` (crate `capture`), `Pending` and `Decoded` (`decode/packet.rs`), `Packet` and
//! `Segment` (crate `traffic`; `traffic/reading.rs` makes the former), `PacketRecord` (`diagnosis/record.rs`), which waits in a ring for
//! rekeys. Only the pipeline changes a [`pipeline::Record`]; assembly reads it; nothing changes the document.
//!
//! - [`pipeline`]: [`pipeline::Analyzer::push`] takes frames in capture order and remembers them in a [`pipeline::Record`].
//! - `decode`: ICVs and decryption, in batches.
//! - `traffic`: what the tunnels carried: the reading of inner packets by the crate of that name, flows, bytes over time, connections.
//! - `diagnosis`: close-ups of rekeys, holes of the capture, and packets in clear.
//! - `notices`: control messages of L2TP and PPP, ICMP errors about IPsec.
//! - `events`: what the control plane and the path did, over the whole capture.
//! - `findings`: what was wrong that no rekey caused.
//! - [`assembly`]: [`assembly::assemble`] makes the document of a record, a step for each of its lists.
//! - [`overlay`]: series from elsewhere on the capture's clock.
//! - [`watch`]: a capture that goes on, looked at again and again.
//! - [`write`]: the capture once more (inner packets, comments), and key tables for other programs.
//!
//! The command line is the program's own (`src/command`): options, and one file for each subcommand.
//!
//! A list or table is bounded by a constant beside it, and what it left out is counted: `pipeline/analyzer/finish.rs` says so of all.

pub mod assembly;
mod decode;
mod diagnosis;
mod events;
mod findings;
mod notices;
pub mod overlay;
pub mod pipeline;
mod traffic;
pub mod watch;
pub mod write;
