//! One ESP packet: what is known of it when it comes, and what verifying and decrypting find out.

use rekeyscope_capture::framing::Datagram;
use rekeyscope_ipsec::esp::cipher::{EspCipher, Icv, Opened};
use rekeyscope_ipsec::esp::header::HEADER_LEN;
use rekeyscope_ipsec::esp::inner::{self, Inner};
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;

/// An ESP packet in the batch.
#[derive(Debug)]
pub(crate) struct Pending {
    /// The SA.
    pub(crate) sa: SaIndex,
    /// Frame number.
    pub(crate) frame: u64,
    /// Time.
    pub(crate) time: Timestamp,
    /// IP total length.
    pub(crate) outer_bytes: u32,
    /// Length from the SPI on, on the wire.
    pub(crate) esp_bytes: u32,
    /// Outer addresses.
    pub(crate) ends: (IpAddr, IpAddr),
    /// The snap length cut it.
    pub(crate) cut: bool,
    /// Sequence number field.
    pub(crate) sequence: u32,
    /// IP packets that it came in.
    pub(crate) fragments: u16,
    /// Largest of those.
    pub(crate) largest_fragment: u32,
    /// An AH packet.
    pub(crate) authenticated: Option<Authenticated>,
    /// The number of ESP headers around this one.
    pub(crate) nesting: u8,
    /// Upper half of its sequence number, where the SA has extended ones.
    pub(crate) esn_high: Option<u32>,
    /// The key was proven when it came.
    pub(crate) proven: bool,
    pub(crate) opens: bool,
    /// Key to open it with, as an index of the batch's; `None` where there is none.
    pub(crate) cipher: Option<u32>,
    pub(crate) place: PacketPlace,
}

impl Pending {
    /// A packet without a key, to which [`Batch::push`](super::Batch::push) will give its place. `ends`: its outer addresses.
    pub(crate) fn of(datagram: &Datagram<'_>, sa: SaIndex, ends: (IpAddr, IpAddr), sequence: u32) -> Self {
        Pending {
            sa,
            frame: datagram.frame,
            time: datagram.time,
            outer_bytes: datagram.outer_bytes,
            esp_bytes: datagram.wire_len,
            ends,
            cut: datagram.cut,
            sequence,
            fragments: datagram.fragments,
            largest_fragment: datagram.largest_fragment,
            authenticated: None,
            nesting: 0,
            esn_high: None,
            proven: false,
            opens: false,
            cipher: None,
            place: PacketPlace::default(),
        }
    }
}

/// The place of a packet's bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PacketPlace {
    /// Index of the block that was read; without one they are in the batch's own memory.
    pub(super) block: Option<u32>,
    pub(super) start: usize,
    pub(super) len: usize,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Authenticated {
    pub(crate) next_header: u8,
    pub(crate) header_len: u32,
    /// IKE or ESP follows it, whose own SA tells of the payload.
    pub(crate) around_ipsec: bool,
}

/// Offset of the ICV in an AH packet (RFC 4302 §2).
const AH_ICV_AT: usize = 12;

impl Authenticated {
    /// Nothing to open: what is inside can be read.
    pub(super) fn decode(self, pending: &Pending, packet: &[u8], decoded: &mut Decoded) {
        let payload_len = pending.esp_bytes.saturating_sub(self.header_len);
        let payload = packet.get(self.header_len as usize..).unwrap_or_default();
        let icv = packet.get(AH_ICV_AT..).and_then(|icv| icv.first_chunk::<8>());
        if !self.around_ipsec {
            let (len, ends) = (payload_len as usize, Some(pending.ends));
            decoded.inner = inner::walk(self.next_header, payload, len, ends);
        }
        decoded.opened = Some(Opened {
            payload_len,
            pad_len: 0,
            next_header: self.next_header,
        });
        decoded.fingerprint = icv.map_or(0, |icv| u64::from_be_bytes(*icv));
    }
}

/// The contents of a packet, as far as they could be read; by default it stays closed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Decoded {
    /// ICV.
    pub(crate) icv: Icv,
    /// Trailer, when it could be opened.
    pub(crate) opened: Option<Opened>,
    pub(crate) inner: Inner,
    /// The last bytes: the ICV, or random-looking ciphertext. Tells a doubled capture from a replayed number.
    pub(crate) fingerprint: u64,
}

/// Verifies and opens one packet.
pub(crate) fn decode_one(
    cipher: &EspCipher,
    pending: &Pending,
    esn_high: Option<u32>,
    packet: &[u8],
    scratch: &mut Vec<u8>,
) -> Decoded {
    let mut decoded = Decoded::default();
    if !pending.cut {
        decoded.icv = cipher.verify(packet, esn_high);
    }
    open_one(cipher, pending, esn_high, packet, scratch, &mut decoded);
    decoded
}

/// Opens one packet whose ICV was checked, unless there was nothing to check.
pub(super) fn open_one(
    cipher: &EspCipher,
    pending: &Pending,
    esn_high: Option<u32>,
    packet: &[u8],
    scratch: &mut Vec<u8>,
    decoded: &mut Decoded,
) {
    if pending.cut || !pending.opens || decoded.icv == Icv::Failed {
        return;
    }
    for prefix in [inner::PREFIX, usize::MAX] {
        decoded.opened = cipher.open(packet, esn_high, decoded.icv, prefix, scratch);
        let Some(opened) = decoded.opened else { return };
        let (len, ends) = (opened.payload_len as usize, Some(pending.ends));
        decoded.inner = inner::walk(opened.next_header, scratch, len, ends);
        if !decoded.inner.prefix_too_short || prefix == usize::MAX {
            return;
        }
    }
}

/// Tells packets under the same number apart: the end of the ICV. What is left of a cut packet ends wherever headers let it,
/// so that the two sides of a mirror port differ there; there it is what follows the ESP header. Eight bytes of it (an IV, or
/// the first ciphertext), because a tag of eight bytes more must leave as many in the copy.
pub(super) fn fingerprint(packet: &[u8], cut: bool) -> u64 {
    let bytes = if cut {
        packet.get(HEADER_LEN..).and_then(|rest| rest.first_chunk::<8>())
    } else {
        packet.last_chunk::<8>()
    };
    bytes.map_or(0, |b| u64::from_be_bytes(*b))
}

/// Something that is no ESP packet.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Marked {
    /// An IKE message.
    Ike(IkeMark),
    /// A packet that is neither IPsec nor IKE.
    Clear(ClearMark),
}

/// An IKE message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IkeMark {
    pub(crate) tunnel: TunnelIndex,
    /// Index of its exchange.
    pub(crate) exchange: usize,
    pub(crate) time: Timestamp,
    /// SAs of its tunnel, where it is the first of an exchange that makes child SAs; `None` for a further one.
    pub(crate) opens: Option<usize>,
}

/// A packet in clear.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClearMark {
    /// Source and destination.
    pub(crate) ends: (IpAddr, IpAddr),
    /// IP bytes.
    pub(crate) bytes: u32,
    pub(crate) time: Timestamp,
    pub(crate) frame: u64,
}
