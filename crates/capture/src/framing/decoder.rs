//! Frame → [`Datagram`].

use crate::file::{Frame, link_type_name};
use crate::framing::datagram::{AH, Datagram, DatagramKind};
use crate::framing::first_fragments::{CutPackets, FirstFragments};
use crate::framing::fragments::{FragmentTable, IncompleteIke, Whole};
use crate::framing::link;
use crate::framing::transport::{self, Carriers};
use crate::framing::tunnel;
use crate::layers::ip::IpPacket;
use crate::layers::{Control, Found, MAX_DEPTH, Stop, Walk};
use rekeyscope_model::diagnostic::{Diagnostics, named};
use rekeyscope_model::error::WireError;
use rekeyscope_model::text::Message;
use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;

/// PPPoE Active Discovery Terminate (RFC 2516 §5.5).
const PADT: u8 = 0xa7;
/// Ends of PPPoE sessions that are kept; later ones are no cause of what was told before.
const MOST_SESSIONS: usize = 1 << 10;

/// The decoder with its fragment table (bounded).
#[derive(Debug, Default)]
pub struct Framing {
    pub(super) fragments: FragmentTable,
    carriers: Carriers,
    /// Time and number of the frames that end a PPPoE session.
    pppoe_ended: Vec<(Timestamp, u64)>,
}

impl Framing {
    /// A decoder that takes these UDP and TCP ports for carriers of ESP and IKE too, with the rules of port 4500.
    pub fn with_esp_ports(ports: &[u16]) -> Self {
        Framing {
            carriers: Carriers {
                ports: ports.to_vec(),
                ..Carriers::default()
            },
            ..Self::default()
        }
    }

    /// Forgets fragments, and where IKE was seen: it is as it was when it was made.
    pub fn forget(&mut self) {
        self.fragments.forget();
        self.carriers.learned.clear();
    }

    /// Decodes one frame. `None`: not IP, an unfinished fragment, or malformed (counted).
    pub fn decode<'a>(
        &'a mut self,
        frame: &Frame<'a>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Datagram<'a>> {
        let mut walk = Walk::new(frame.data, frame.original_len as usize);
        let found = link::enter(&mut walk, frame.link_type).and_then(|layer| walk.next(layer));
        let packet = match found {
            Ok(Found::Ip(packet, _)) => packet,
            // Link layers announce nothing else.
            Ok(_) => return None,
            Err(Stop::Broken(error)) => return refused(error, frame, diagnostics),
            Err(stop) => {
                let room = self.pppoe_ended.len() < MOST_SESSIONS;
                if stop == Stop::Control(Control::Pppoe(PADT)) && room {
                    self.pppoe_ended.push((frame.time, frame.number));
                }
                count_not_ip(stop.name(), frame, diagnostics);
                return None;
            }
        };
        if tunnel::is_none(&packet) && packet.piece.is_none() {
            count_longer(&packet, frame, diagnostics);
            return datagram(&mut self.carriers, frame, &packet, diagnostics);
        }
        let innermost = tunnel::innermost(packet, &self.carriers);
        match innermost.piece {
            Some(_) => self.rebuilt(frame, innermost, diagnostics),
            None => {
                count_longer(&innermost, frame, diagnostics);
                datagram(&mut self.carriers, frame, &innermost, diagnostics)
            }
        }
    }

    /// IKE messages found so far to lack fragments; a message is given once.
    pub fn take_incomplete_ike(&mut self) -> Vec<IncompleteIke> {
        std::mem::take(&mut self.fragments.incomplete)
    }

    /// Stretches in which first fragments of ESP came without the others, so far.
    pub fn first_fragments_alone(&self) -> Vec<FirstFragments> {
        self.fragments.ways.alone()
    }

    /// ESP packets of which the first fragment came, and not all others, so far.
    pub fn cut_packets(&self) -> Vec<CutPackets> {
        self.fragments.ways.cut()
    }

    /// The PPPoE sessions that were ended: time and number of the frame.
    pub fn take_pppoe_ended(&mut self) -> Vec<(Timestamp, u64)> {
        std::mem::take(&mut self.pppoe_ended)
    }

    /// Counts the datagrams that wait for fragments when the capture ends.
    pub fn finish(&mut self, diagnostics: &mut Diagnostics) {
        self.fragments.finish(diagnostics);
    }

    /// Reads a packet that came in fragments, which may be inside others.
    #[cold]
    fn rebuilt<'a>(
        &'a mut self,
        frame: &Frame<'a>,
        first: IpPacket<'a>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Datagram<'a>> {
        let (ah, hop_limit) = (first.ah.clone(), first.hop_limit);
        let (mut whole, mut ends) = self.rebuild(frame, first, diagnostics)?;
        for _ in 0..MAX_DEPTH {
            let bytes = std::mem::take(&mut self.fragments.whole);
            let upper = whole.upper_layer(ends, &bytes).ok();
            let inner = upper.map(|upper| tunnel::innermost(upper, &self.carriers));
            let Some(inner) = inner.filter(|inner| inner.piece.is_some()) else {
                self.fragments.whole = bytes;
                break;
            };
            (whole, ends) = self.rebuild(frame, inner, diagnostics)?;
        }
        let outer = match whole.upper_layer(ends, &self.fragments.whole) {
            Ok(upper) => upper,
            Err(error) => return refused(error, frame, diagnostics),
        };
        let innermost = tunnel::innermost(outer.clone(), &self.carriers);
        let found = if innermost.piece.is_none() {
            &innermost
        } else {
            &outer
        };
        let mut datagram = datagram(&mut self.carriers, frame, found, diagnostics)?;
        datagram.ah = ah.or(datagram.ah);
        // The packet in a fragmented tunnel was no fragment itself.
        if *found == outer {
            datagram.hop_limit = hop_limit;
            datagram.largest_fragment = whole.largest;
            datagram.fragments = whole.fragments;
        }
        Some(datagram)
    }

    /// Adds a fragment; the bytes of its whole packet are those of the fragment table. `None`: some are not there yet.
    fn rebuild(
        &mut self,
        frame: &Frame<'_>,
        fragment: IpPacket<'_>,
        diagnostics: &mut Diagnostics,
    ) -> Option<(Whole, (IpAddr, IpAddr))> {
        count_longer(&fragment, frame, diagnostics);
        let piece = fragment.piece?;
        let table = &mut self.fragments;
        let whole = table.add(&fragment, piece, frame.time, frame.number, diagnostics)?;
        Some((whole, (fragment.src, fragment.dst)))
    }
}

fn count_longer(packet: &IpPacket<'_>, frame: &Frame<'_>, diagnostics: &mut Diagnostics) {
    if packet.longer_than_frame {
        let at = Some(frame.number);
        diagnostics.note("ip_longer_than_frame", "IP", at, "oddity-ip-longer");
    }
}

#[inline]
fn datagram<'a>(
    carriers: &mut Carriers,
    frame: &Frame<'_>,
    packet: &IpPacket<'a>,
    diagnostics: &mut Diagnostics,
) -> Option<Datagram<'a>> {
    let (payload, ends) = (packet.payload, (packet.src, packet.dst));
    let content = transport::content(packet.protocol, payload, packet.payload_len, ends, carriers);
    let mut content = match content {
        Ok(content) => content,
        Err(error) => return refused(error, frame, diagnostics),
    };
    if content.udp_longer_than_ip {
        let at = Some(frame.number);
        diagnostics.note("udp_longer_than_ip", "UDP", at, "oddity-udp-longer");
    }
    match content.kind {
        DatagramKind::Ike { udp, .. } => carriers.learn(ends, udp),
        // Authenticated, not encrypted: what matters is that it is IPsec.
        DatagramKind::Other(_) if packet.ah.is_some() => content.kind = DatagramKind::Other(AH),
        _ => {}
    }
    Some(Datagram {
        frame: frame.number,
        time: frame.time,
        src: packet.src,
        dst: packet.dst,
        outer_bytes: packet.total_len,
        largest_fragment: packet.total_len,
        fragments: 1,
        cut: content.captured < content.wire_len as usize,
        wire_len: content.wire_len,
        payload: packet.payload,
        identification: packet.identification,
        hop_limit: packet.hop_limit,
        ah: packet.ah.clone(),
        kind: content.kind,
    })
}

/// Counts a packet that cannot be read: cut by the snap length, or malformed.
#[cold]
fn refused<T>(error: WireError, frame: &Frame<'_>, diagnostics: &mut Diagnostics) -> Option<T> {
    if frame.original_len as usize > frame.data.len() {
        diagnostics.count("cut_too_short", error.layer, Some(frame.number), || {
            Message::new("oddity-cut-header").with("layer", named(error.layer))
        });
    } else {
        diagnostics.count_wire_error(error, frame.number);
    }
    None
}

#[cold]
fn count_not_ip(name: &'static str, frame: &Frame<'_>, diagnostics: &mut Diagnostics) {
    diagnostics.count("not_ip", name, Some(frame.number), || {
        if name == link::UNSUPPORTED {
            Message::new("oddity-link-type").with("type", link_type_name(frame.link_type))
        } else {
            Message::new("oddity-not-ip").with("name", named(name))
        }
    });
}
