//! Frames → decrypted ESP payloads, with the keys that an analysis has proven: the same carriers of ESP (UDP, TCP streams,
//! ports by request, ESP inside ESP) that the analysis followed, and the tunnels that were chosen for it.

use crate::pipeline::Options;
use crate::write::key_ring::{KeyRing, SaOpener};
use etherparse::ip_number;
use rekeyscope_capture::file::{Frame, LinkType};
use rekeyscope_capture::framing::tcp_stream::TcpStreams;
use rekeyscope_capture::framing::{Datagram, DatagramKind, Framing};
use rekeyscope_ipsec::esp::cipher::{Icv, Opened};
use rekeyscope_ipsec::esp::inner::{self, Inner, MOST_NESTING};
use rekeyscope_ipsec::esp::sequence;
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::spi::Spi;
use std::collections::{HashMap, HashSet};
use std::io;
use std::net::IpAddr;

/// An ESP packet that could be opened; of ESP inside ESP the innermost.
#[derive(Debug, Clone)]
pub struct Unsealed<'a> {
    /// The SA.
    pub sa: &'a SaOpener,
    /// The SAs around it where this is ESP inside ESP, outermost first.
    pub around: &'a [&'a SaOpener],
    /// Outer source.
    pub src: IpAddr,
    /// Outer destination.
    pub dst: IpAddr,
    /// Next header (RFC 4303 §2.6), lengths.
    pub opened: Opened,
    /// Payload without padding and trailer.
    pub payload: &'a [u8],
    /// The headers in the payload.
    pub inner: Inner,
}

/// Takes each ESP packet of a frame; `None` for one that stays closed: no key, cut, or its ICV does not fit.
pub type TakePacket<'t> = &'t mut dyn FnMut(Option<Unsealed<'_>>) -> io::Result<()>;

/// Opens packets in capture order. Memory: the fragment tables of [`Framing`], the streams of RFC 9329, and one payload for
/// each depth of nesting; all are bounded.
#[derive(Debug)]
pub struct Unsealer<'r> {
    framing: Framing,
    streams: TcpStreams,
    /// Decoders for packets inside ESP, by depth: inner fragments are not outer ones.
    nested: Vec<Framing>,
    keys: Keys<'r>,
    /// Everything in there was counted in the analysis already.
    counted_before: Diagnostics,
}

#[derive(Debug)]
struct Keys<'r> {
    sas: HashMap<(IpAddr, Spi), Vec<&'r SaOpener>>,
    /// The SAs of the tunnels that were chosen, if any were; packets of others are of use only with one of those inside.
    chosen: Option<HashSet<(IpAddr, Spi)>>,
    esp_ports: Vec<u16>,
}

impl<'r> Unsealer<'r> {
    /// Takes the keys of an analysis of the same capture, which had these options.
    pub fn new(ring: &'r KeyRing, options: &Options) -> Self {
        let mut sas: HashMap<(IpAddr, Spi), Vec<&SaOpener>> = HashMap::new();
        for sa in &ring.openers {
            sas.entry((sa.dst, sa.spi)).or_default().push(sa);
        }
        let decoder = || Framing::with_esp_ports(&options.esp_ports);
        Unsealer {
            framing: decoder(),
            streams: TcpStreams::default(),
            nested: (0..MOST_NESTING).map(|_| decoder()).collect(),
            keys: Keys {
                sas,
                chosen: options.tunnel.map(|_| ring.seen.iter().copied().collect()),
                esp_ports: options.esp_ports.clone(),
            },
            counted_before: Diagnostics::default(),
        }
    }

    /// Opens one frame and hands `take` each ESP packet in it: none of most other protocols, several of a TCP segment.
    ///
    /// # Errors
    /// Those of `take`.
    pub fn open(&mut self, frame: &Frame<'_>, take: TakePacket<'_>) -> io::Result<()> {
        let Some(datagram) = self.framing.decode(frame, &mut self.counted_before) else {
            return Ok(());
        };
        let mut opening = PacketOpening {
            keys: &self.keys,
            around: Vec::new(),
            take,
            ignored: &mut self.counted_before,
        };
        if let DatagramKind::TcpSegment(segment) = datagram.kind {
            let taken = self.streams.push(&datagram, &segment);
            for datagram in taken.datagrams(&datagram, &segment) {
                opening.open(&datagram, &mut self.nested)?;
            }
        } else {
            opening.open(&datagram, &mut self.nested)?;
        }
        Ok(())
    }
}

/// Opens the packets of one frame.
struct PacketOpening<'o, 'r> {
    keys: &'o Keys<'r>,
    /// SAs that are open around the packet at hand.
    around: Vec<&'r SaOpener>,
    take: TakePacket<'o>,
    ignored: &'o mut Diagnostics,
}

impl PacketOpening<'_, '_> {
    /// Opens an ESP packet, and what is inside with the decoders `deeper`. Tells whether one of a chosen tunnel was opened.
    fn open(&mut self, datagram: &Datagram<'_>, deeper: &mut [Framing]) -> io::Result<bool> {
        let DatagramKind::Esp { packet, .. } = datagram.kind else {
            return Ok(false);
        };
        let Some(spi) = packet.first_chunk::<4>() else {
            return Ok(false);
        };
        let id = (datagram.dst, Spi(u32::from_be_bytes(*spi)));
        let chosen = self.keys.chosen.as_ref().is_none_or(|sas| sas.contains(&id));
        let mut payload = Vec::new();
        let generations = self.keys.sas.get(&id).filter(|_| !datagram.cut);
        let found = generations.and_then(|g| open_by(g, datagram.frame, packet, &mut payload));
        let Some((sa, opened)) = found else {
            if chosen {
                (self.take)(None)?;
            }
            return Ok(false);
        };
        let ends = Some((datagram.src, datagram.dst));
        let unsealed = Unsealed {
            sa,
            around: &[],
            src: datagram.src,
            dst: datagram.dst,
            opened,
            inner: inner::walk(opened.next_header, &payload, payload.len(), ends),
            payload: &payload,
        };
        self.around.push(sa);
        let inside = self.open_inside(datagram, &unsealed, deeper);
        self.around.pop();
        let inside = inside?;
        // A packet whose inside stays closed is the innermost that there is to show.
        if chosen && !inside {
            let around = &self.around;
            (self.take)(Some(Unsealed { around, ..unsealed }))?;
        }
        Ok(chosen || inside)
    }

    /// Opens ESP inside an opened packet.
    fn open_inside(
        &mut self,
        carrier: &Datagram<'_>,
        unsealed: &Unsealed<'_>,
        deeper: &mut [Framing],
    ) -> io::Result<bool> {
        let Some((framing, deeper)) = deeper.split_first_mut() else {
            return Ok(false);
        };
        if !unsealed.inner.carries_ipsec(&self.keys.esp_ports) {
            return Ok(false);
        }
        let Some(at) = unsealed.inner.ip_at else {
            if unsealed.opened.next_header != ip_number::ENCAPSULATING_SECURITY_PAYLOAD.0 {
                return Ok(false);
            }
            let ends = (carrier.src, carrier.dst);
            let bare = Datagram::bare(carrier.frame, carrier.time, ends, unsealed.payload);
            return self.open(&bare, deeper);
        };
        let data = unsealed.payload.get(usize::from(at)..).unwrap_or_default();
        let frame = Frame {
            number: carrier.frame,
            time: carrier.time,
            link_type: LinkType::RAW,
            original_len: u32::try_from(data.len()).unwrap_or(u32::MAX),
            data,
            block: None,
        };
        match framing.decode(&frame, self.ignored) {
            Some(datagram) => self.open(&datagram, deeper),
            None => Ok(false),
        }
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
        .find_map(|sa| Some((sa, open_whole(sa, packet, payload)?)))
}

/// Opens a packet as the analysis does, with the whole payload.
fn open_whole(sa: &SaOpener, packet: &[u8], payload: &mut Vec<u8>) -> Option<Opened> {
    let cipher = &sa.cipher;
    let (icv, esn_high) = match sa.extended {
        Some(highest) => sequence::verify_near(cipher, packet, highest),
        None => sequence::verify(cipher, packet),
    };
    if icv == Icv::Failed {
        return None;
    }
    cipher.open(packet, esn_high, icv, usize::MAX, payload)
}
