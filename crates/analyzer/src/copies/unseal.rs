//! Frames → decrypted ESP payloads, with the keys that an analysis has proven.

use crate::capture::Frame;
use crate::diagnostic::Diagnostics;
use crate::esp::cipher::{EspCipher, Icv, Opened};
use crate::esp::inner::{self, Inner};
use crate::esp::sequence;
use crate::framing::{DatagramKind, Framing, UdpPorts};
use crate::key_ring::{KeyRing, SaOpener};
use crate::spi::Spi;
use std::collections::HashMap;
use std::net::IpAddr;

/// An ESP packet that could be opened.
#[derive(Debug, Clone, Copy)]
pub struct Unsealed<'a> {
    /// Its SA.
    pub sa: &'a SaOpener,
    /// Outer source.
    pub src: IpAddr,
    /// Outer destination.
    pub dst: IpAddr,
    /// UDP ports around ESP.
    pub udp: Option<UdpPorts>,
    /// IP total length; of fragments, their sum.
    pub outer_bytes: u32,
    /// IP packets that it came in.
    pub fragments: u16,
    /// Next header (RFC 4303 §2.6), lengths.
    pub opened: Opened,
    /// Payload without padding and trailer.
    pub payload: &'a [u8],
    /// What the payload holds.
    pub inner: Inner,
}

/// What became of a frame.
// One lives at a time; a box would be an allocation per packet.
#[allow(clippy::large_enum_variant)]
#[derive(Debug)]
pub enum Outcome<'a> {
    /// Not ESP, or an unfinished fragment.
    Other,
    /// ESP that stays closed: no key, cut, or its ICV does not fit.
    Sealed,
    /// ESP that opens.
    Unsealed(Unsealed<'a>),
}

/// Opens packets in capture order. Memory: the fragment table of [`Framing`] and one payload.
#[derive(Debug)]
pub struct Unsealer<'r> {
    sas: HashMap<(IpAddr, Spi), Vec<&'r SaOpener>>,
    framing: Framing,
    payload: Vec<u8>,
    /// Everything in there was counted in the analysis already.
    counted_before: Diagnostics,
}

impl<'r> Unsealer<'r> {
    /// With the keys of an analysis of the same capture.
    pub fn new(ring: &'r KeyRing) -> Self {
        let mut sas: HashMap<(IpAddr, Spi), Vec<&SaOpener>> = HashMap::new();
        for sa in &ring.openers {
            sas.entry((sa.dst, sa.spi)).or_default().push(sa);
        }
        Unsealer {
            sas,
            framing: Framing::new(),
            payload: Vec::new(),
            counted_before: Diagnostics::default(),
        }
    }

    /// Opens one frame.
    pub fn open(&mut self, frame: &Frame<'_>) -> Outcome<'_> {
        let Unsealer {
            sas,
            framing,
            payload,
            counted_before,
        } = self;
        let Some(datagram) = framing.decode(frame, counted_before) else {
            return Outcome::Other;
        };
        let DatagramKind::Esp { udp, packet } = datagram.kind else {
            return Outcome::Other;
        };
        let spi = packet.first_chunk::<4>().map(|b| Spi(u32::from_be_bytes(*b)));
        let generations = spi.and_then(|spi| sas.get(&(datagram.dst, spi)));
        let found = generations
            .filter(|_| !datagram.cut)
            .and_then(|generations| open_by(generations, datagram.frame, packet, payload));
        let Some((sa, opened)) = found else {
            return Outcome::Sealed;
        };
        let ends = Some((datagram.src, datagram.dst));
        Outcome::Unsealed(Unsealed {
            sa,
            src: datagram.src,
            dst: datagram.dst,
            udp,
            outer_bytes: datagram.outer_bytes,
            fragments: datagram.fragments,
            opened,
            inner: inner::walk(opened.next_header, payload, payload.len(), ends),
            payload,
        })
    }
}

/// Tries the generation that was in use at `frame` first, then the others: around a change they may be out of order.
fn open_by<'r>(
    generations: &[&'r SaOpener],
    frame: u64,
    packet: &[u8],
    payload: &mut Vec<u8>,
) -> Option<(&'r SaOpener, Opened)> {
    let in_use = |sa: &SaOpener| sa.frames.0 <= frame && frame <= sa.frames.1;
    let (now, other): (Vec<&SaOpener>, Vec<&SaOpener>) = generations.iter().partition(|sa| in_use(sa));
    now.into_iter()
        .chain(other)
        .find_map(|sa| Some((sa, open_whole(&sa.cipher, packet, payload)?)))
}

/// As the analysis does, with the whole payload.
fn open_whole(cipher: &EspCipher, packet: &[u8], payload: &mut Vec<u8>) -> Option<Opened> {
    let (icv, esn_high) = sequence::verify(cipher, packet);
    match icv {
        Icv::Verified => cipher.open_verified(packet, esn_high, usize::MAX, payload).ok(),
        Icv::Unchecked => cipher.open(packet, esn_high, usize::MAX, payload).ok(),
        Icv::Failed => None,
    }
}
