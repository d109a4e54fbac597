//! `--write-inner`: the decrypted packets as a capture of their own.
//!
//! Tunnel mode: the packet inside. Transport mode: the packet as it was before ESP, with an IP header made of the outer
//! addresses (time to live 64, no options: ESP does not protect the original's). L2TP and PPP around an IP packet are taken
//! off unless they are asked for; their control messages have no packet inside and stay whole. Of ESP inside ESP the innermost
//! packet that opens is written, once.

use crate::pipeline::Options;
use crate::write::copies::{buffered, output_error};
use crate::write::key_ring::{KeyRing, SaOpener};
use crate::write::unseal::{Unsealed, Unsealer};
use etherparse::{IpNumber, ip_number};
use rekeyscope_capture::file::{CaptureCopy, CaptureReader, LinkType};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::error::Error;
use std::io::Write;
use std::net::IpAddr;
use std::path::Path;

/// Time to live of an IP header that is made here: the usual first value.
const TIME_TO_LIVE: u8 = 64;

/// The packets that were written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Written {
    /// Decrypted packets.
    pub packets: u64,
    /// ESP packets that stay closed: no key, cut by the snap length, or an ICV that does not fit. Inside an ESP packet that
    /// opens too: that one counts in `packets`.
    pub sealed: u64,
    /// Dummy packets (next header 59), and what is too long for an IP packet: nothing to show.
    pub without_packet: u64,
}

/// Writes the decrypted packets of a capture, whose analysis had these `options` and gave `ring`. `keep_l2tp`: L2TP and PPP around an
/// IP packet stay. `path` is what errors call the output.
///
/// # Errors
/// [`Error::Capture`], [`Error::Output`].
pub fn write(
    mut reader: CaptureReader,
    ring: &KeyRing,
    options: &Options,
    keep_l2tp: bool,
    out: impl Write,
    path: &Path,
) -> Result<Written, Error> {
    let failed = output_error(path);
    let mut copy = CaptureCopy::with_other_packets(buffered(out), LinkType::RAW);
    let mut unsealer = Unsealer::new(ring, options);
    let (mut written, mut packet) = (Written::default(), Vec::new());
    let mut counted_before = Diagnostics::default();
    while let Some(item) = reader.next_item(&mut counted_before)? {
        let Some(frame) = item.frame else {
            copy.pass(&item).map_err(&failed)?;
            continue;
        };
        let taken = unsealer.open(&frame, &mut |unsealed| {
            let Some(unsealed) = unsealed else {
                written.sealed += 1;
                return Ok(());
            };
            match packet_of(&unsealed, keep_l2tp, &mut packet) {
                Some(()) => {
                    copy.replace(&item, &packet, &comment(&unsealed, frame.number))?;
                    written.packets += 1;
                }
                None => written.without_packet += 1,
            }
            Ok(())
        });
        taken.map_err(&failed)?;
    }
    copy.finish(LinkType::RAW).map_err(&failed)?;
    Ok(written)
}

/// The SA of a packet, then those around it from the inside out, and its frame.
fn comment(unsealed: &Unsealed<'_>, frame: u64) -> String {
    let name = |sa: &SaOpener| format!("ESP SPI {} generation {}", sa.spi, sa.generation);
    let around = unsealed.around.iter().rev();
    let sas: Vec<String> = std::iter::once(&unsealed.sa)
        .chain(around)
        .map(|sa| name(sa))
        .collect();
    format!("{}, frame {frame}", sas.join(" inside "))
}

/// The IP packet to show, into `packet`.
fn packet_of(unsealed: &Unsealed<'_>, keep_l2tp: bool, packet: &mut Vec<u8>) -> Option<()> {
    packet.clear();
    let payload = unsealed.payload;
    let inside = unsealed
        .inner
        .ip_in_ppp_at
        .filter(|_| !keep_l2tp)
        .and_then(|at| payload.get(usize::from(at)..))
        .and_then(whole_ip_packet);
    if let Some(inside) = inside {
        packet.extend_from_slice(inside);
        return Some(());
    }
    match IpNumber(unsealed.opened.next_header) {
        // A dummy packet (RFC 4303 §2.6).
        ip_number::IPV6_NO_NEXT_HEADER => return None,
        ip_number::IPV4 | ip_number::IPV6 => {
            packet.extend_from_slice(whole_ip_packet(payload).unwrap_or(payload))
        }
        protocol => {
            push_ip_header(unsealed.src, unsealed.dst, protocol, payload.len(), packet)?;
            packet.extend_from_slice(payload);
        }
    }
    Some(())
}

/// The IP packet at the beginning of `bytes`, without what follows its end (padding of traffic flow confidentiality);
/// `None` when that is no IP packet, or not all of it is there.
fn whole_ip_packet(bytes: &[u8]) -> Option<&[u8]> {
    let field = |at: usize| Some(usize::from(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?)));
    let len = match bytes.first()? >> 4 {
        4 => field(2).filter(|len| *len >= 20)?,
        6 => field(4)? + 40,
        _ => return None,
    };
    bytes.get(..len)
}

/// `None` when the packet would be longer than its length field can say.
fn push_ip_header(
    src: IpAddr,
    dst: IpAddr,
    protocol: IpNumber,
    payload_len: usize,
    packet: &mut Vec<u8>,
) -> Option<()> {
    match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            let len = u16::try_from(payload_len + 20).ok()?;
            let header =
                etherparse::Ipv4Header::new(len - 20, TIME_TO_LIVE, protocol, src.octets(), dst.octets())
                    .ok()?;
            packet.extend_from_slice(&header.to_bytes());
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            let header = etherparse::Ipv6Header {
                payload_length: u16::try_from(payload_len).ok()?,
                next_header: protocol,
                hop_limit: TIME_TO_LIVE,
                source: src.octets(),
                destination: dst.octets(),
                ..Default::default()
            };
            packet.extend_from_slice(&header.to_bytes());
        }
        _ => return None,
    }
    Some(())
}
