//! The doors through which foreign bytes come in, one function each: the fuzz targets and the mutation run of the tests call
//! the same ones. None of them may panic, whatever the bytes.

mod sealed;
mod whole;

use rekeyscope_capture::file::{Frame, LinkType};
use rekeyscope_capture::framing::{Framing, UdpPorts};
use rekeyscope_ipsec::esp::inner;
use rekeyscope_ipsec::ike::timeline::{MessageContext, Timeline};
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::time::Timestamp;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

/// A door takes any bytes.
pub(crate) type Door = fn(&[u8]);

/// All doors, by the names of their fuzz targets.
pub(crate) const DOORS: [(&str, Door); 12] = [
    ("framing", framing),
    ("ike", ike),
    ("inner", inner),
    ("key_log", key_log),
    ("capture", capture),
    ("esp", sealed::esp),
    ("ike_sealed", sealed::ike),
    ("whole", whole::reports),
    ("document", whole::document),
    ("overlay", whole::overlay),
    ("psk", whole::pre_shared_key),
    ("copies", whole::copies),
];

/// The door of this name.
pub(crate) fn door(name: &str) -> Door {
    let found = DOORS.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("no door {name}")).1
}

const PEERS: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
    IpAddr::V4(Ipv4Addr::new(198, 51, 100, 7)),
];

/// Two bytes of link type, then a frame.
fn framing(data: &[u8]) {
    let Some((link_type, frame)) = data.split_first_chunk::<2>() else {
        return;
    };
    let frame = Frame {
        number: 1,
        time: Timestamp(0),
        link_type: LinkType(u16::from_le_bytes(*link_type)),
        original_len: frame.len() as u32,
        data: frame,
        block: None,
    };
    let (mut framing, mut diagnostics) = (Framing::default(), Diagnostics::default());
    let _ = framing.decode(&frame, &mut diagnostics);
    framing.finish(&mut diagnostics);
}

/// One IKE message, in both directions.
fn ike(message: &[u8]) {
    let mut timeline = Timeline::new(Vec::new());
    let mut diagnostics = Diagnostics::default();
    for (frame, [src, dst]) in [PEERS, [PEERS[1], PEERS[0]]].into_iter().enumerate() {
        let context = MessageContext {
            frame: frame as u64 + 1,
            time: Timestamp(frame as i64 * 1_000_000_000),
            src,
            dst,
            outer: (src, dst),
            udp: UdpPorts { src: 500, dst: 500 },
            ip_packets: 1,
        };
        timeline.push(context, message, &mut diagnostics);
    }
}

/// One byte of next header, then a decrypted payload.
fn inner(data: &[u8]) {
    if let Some((&next_header, payload)) = data.split_first() {
        let prefix = &payload[..payload.len().min(inner::PREFIX)];
        let _ = inner::walk(next_header, prefix, payload.len(), Some((PEERS[0], PEERS[1])));
    }
}

/// A key file of any format.
fn key_log(data: &[u8]) {
    KeyMaterial::default().read_bytes(Path::new("fuzzed"), data);
}

/// A capture from its first byte to the document.
fn capture(data: &[u8]) {
    whole::analysed(data, KeyMaterial::default());
}
