//! Capture files and streams → [`Frame`]s. pcap (µs and ns, both byte orders), pcapng (sections, interfaces, EPB, SPB,
//! obsolete packet block), plain or in gzip, zstd, lz4; a file or a pipe, always by 1 MiB reads, of files beside everything else where that is asked for.
//!
//! Why no mmap: reads of 1 MiB are as fast (the walk through a 1 GB file takes 1.1 times what the reads alone take, see
//! `framing/walk_rate.rs`), need no `unsafe`, and a file that shrinks or grows meanwhile is an ordinary end of file
//! instead of a SIGBUS.

mod ahead;
mod block;
mod buffer;
mod copy;
mod frame;
mod in_flight;
mod info;
mod interface;
mod link_type;
mod magic;
mod order;
mod pcap;
mod pcapng;
mod reader;
mod recognise;
mod record;
mod secrets;
mod sound;
mod source;
#[cfg(test)]
mod tests;
mod write;

pub use block::ReadBlock;
pub use copy::CaptureCopy;
pub use frame::{Frame, Item, KeptFrames};
pub use in_flight::InFlight;
pub use info::CaptureInfo;
pub use link_type::{LinkType, link_type_name};
pub use reader::CaptureReader;
pub use recognise::is_plain_capture;
pub use secrets::EspSecrets;
