//! What only who has the keys can say: the fuzzer writes the plaintext, the packets are really encrypted, and so the bytes reach
//! what stands behind the ICV.

use rekeyscope::assembly::{Asked, assemble};
use rekeyscope::pipeline::{Analyzer, Options};
use rekeyscope_capture::file::{CaptureInfo, Frame, LinkType};
use rekeyscope_capture::framing::UdpPorts;
use rekeyscope_ipsec::ike::timeline::{MessageContext, Timeline};
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::algorithm::{Encryption, Integrity};
use rekeyscope_model::analysis::CaptureFormat;
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::time::Timestamp;
use rekeyscope_testkit::carried::{A, B};
use rekeyscope_testkit::esp::Suite;
use rekeyscope_testkit::headers::ipv4;
use rekeyscope_testkit::ike::{Header, seal};
use std::path::Path;

const LINKTYPE_RAW: u16 = 101;
const START: i64 = 1_800_000_000_000_000_000;
/// Most packets of one input, so that none takes long.
const MOST: usize = 400;
/// Next headers that a control byte can choose; 0 stands for the payload's first byte.
const NEXT_HEADERS: [u8; 8] = [4, 17, 6, 41, 50, 59, 47, 0];

/// Takes bytes from the front; zeros where there are none.
struct Script<'a>(&'a [u8]);

impl<'a> Script<'a> {
    fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        first
    }

    fn bytes(&mut self, len: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(len.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// Two bytes of length, at most 2,047, and so many bytes.
    fn text(&mut self) -> &'a [u8] {
        let len = u16::from_le_bytes([self.byte(), self.byte()]) & 0x7ff;
        self.bytes(len.into())
    }
}

fn suite(number: u8, seed: u8) -> Suite {
    let new = |encryption, len, integrity| Suite::new(encryption, len, integrity, seed);
    match number % 8 {
        0 => new(Encryption::AesCbc, 16, Integrity::HmacSha1_96),
        1 => new(Encryption::AesGcm { icv: 16 }, 32, Integrity::None),
        2 => new(Encryption::Null, 0, Integrity::HmacSha256_128),
        3 => new(Encryption::AesCtr, 16, Integrity::AesXcbc96),
        4 => new(Encryption::ChaCha20Poly1305, 32, Integrity::None),
        5 => new(Encryption::TripleDesCbc, 24, Integrity::HmacMd5_96),
        6 => new(Encryption::AesCbc, 32, Integrity::HmacSha512_256),
        _ => new(Encryption::AesGmac, 16, Integrity::None),
    }
}

/// A byte of suite, then packets: control (direction, SA, next header), milliseconds since the last one (the upper half in
/// powers of two), what is done to the sequence number, and the payload.
pub(super) fn esp(data: &[u8]) {
    let mut script = Script(data);
    let number = script.byte();
    let mut rows = String::new();
    for sa in 0..8 {
        rows.push_str(&suite(number, sa).esp_sa_row(spi(sa)));
    }
    let mut material = KeyMaterial::default();
    material.read_bytes(Path::new("fuzzed keys"), rows.as_bytes());
    let options = Options::default();
    let mut analyzer = Analyzer::new(options, material);
    let (mut time, mut sequence) = (Timestamp(START), [0_u64; 8]);
    for frame in 1..=MOST as u64 {
        if script.0.is_empty() {
            break;
        }
        let [control, wait, jump] = [script.byte(), script.byte(), script.byte()];
        let sa = control & 7;
        let sequence = &mut sequence[usize::from(sa)];
        *sequence = match jump {
            0..=199 => *sequence + 1,
            200..=219 => *sequence,
            220..=239 => sequence.saturating_sub(u64::from(jump - 220)),
            _ => *sequence + (1 << (jump - 240)),
        };
        time = time.plus_nanos(i64::from(wait & 15) << (16 + (wait >> 4)));
        let payload = script.text();
        let next = match NEXT_HEADERS[usize::from(control >> 5)] {
            0 => payload.first().copied().unwrap_or(59),
            next => next,
        };
        let mut packet = suite(number, sa).seal(spi(sa), *sequence, false, next, payload);
        if control & 16 != 0 {
            packet[0] ^= 1; // an SPI that nobody has a key for
        }
        let (src, dst) = if control & 1 == 0 { (A, B) } else { (B, A) };
        push(&mut analyzer, frame, time, &ipv4(src, dst, 50, &packet));
    }
    let info = CaptureInfo {
        format: CaptureFormat::Pcap,
        link_types: vec![LinkType(LINKTYPE_RAW)],
        truncated: false,
        dropped_reported: None,
    };
    assemble(&analyzer.finish(), &info, &Asked::of("fuzzed"));
}

fn spi(sa: u8) -> u32 {
    0xc0de_0000 + 2 * u32::from(sa)
}

fn push(analyzer: &mut Analyzer, number: u64, time: Timestamp, data: &[u8]) {
    analyzer.push(&Frame {
        number,
        time,
        link_type: LinkType(LINKTYPE_RAW),
        original_len: data.len() as u32,
        data,
        block: None,
    });
}

/// IKE messages of either version, encrypted with keys that are known: control (direction, version, response, a piece of a
/// message), exchange type, message ID, first payload, and the payload chain.
pub(super) fn ike(data: &[u8]) {
    let mut script = Script(data);
    let mut timeline = Timeline::new(keys());
    let mut diagnostics = Diagnostics::default();
    for frame in 1..=MOST as u64 {
        if script.0.is_empty() {
            break;
        }
        let control = script.byte();
        let from_initiator = control & 1 == 0;
        let header = Header {
            version: 1 + (control >> 1 & 1),
            exchange_type: script.byte(),
            message_id: script.byte().into(),
            first: script.byte(),
            ..Header::default()
        };
        let message = if header.version == 1 {
            ikev1(header, script.text())
        } else {
            ikev2(header, control, script.text())
        };
        let [src, dst] = if from_initiator {
            super::PEERS
        } else {
            [super::PEERS[1], super::PEERS[0]]
        };
        let context = MessageContext {
            frame,
            time: Timestamp(START + frame as i64 * 20_000_000),
            src,
            dst,
            outer: (src, dst),
            udp: UdpPorts { src: 500, dst: 500 },
            ip_packets: 1,
        };
        timeline.push(context, &message, &mut diagnostics);
    }
}

const KEY: [u8; 16] = [0x5c; 16];

/// Of the IKE SA between the SPIs 01… and 02…, in both versions.
fn keys() -> Vec<rekeyscope_keylog::IkeKey> {
    let (i, r, key, mac) = ("01".repeat(8), "02".repeat(8), "5c".repeat(16), "5c".repeat(20));
    let rows =
        format!("{i},{r},{key},{key},\"AES-CBC-128 [RFC3602]\",{mac},{mac},\"HMAC_SHA1_96 [RFC2404]\"\n");
    let mut material = KeyMaterial::default();
    material.read_bytes(Path::new("ikev2 keys"), rows.as_bytes());
    material.read_bytes(Path::new("ikev1 keys"), format!("{i},{key}\n").as_bytes());
    assert_eq!(material.ike.len(), 2);
    material.ike
}

/// Phase 1 is in clear; what comes later is encrypted, but for the first block (its IV is of a phase 1 that nobody saw).
fn ikev1(header: Header, payloads: &[u8]) -> Vec<u8> {
    if matches!(header.exchange_type, 2 | 4) {
        return header.message(payloads);
    }
    let mut body = [&[0; 16], payloads].concat();
    Suite::cipher(Encryption::AesCbc, KEY.to_vec()).encrypt_padded(&[4; 16], &mut body);
    Header { flags: 1, ..header }.message(&body)
}

fn ikev2(header: Header, control: u8, payloads: &[u8]) -> Vec<u8> {
    let of_initiator = if control & 1 == 0 { 0x08 } else { 0 };
    let of_response = if control & 4 != 0 { 0x20 } else { 0 };
    let header = Header {
        flags: of_initiator | of_response,
        ..header
    };
    if header.exchange_type == 34 {
        return header.message(payloads); // IKE_SA_INIT is in clear
    }
    let suite = Suite {
        integrity: Integrity::HmacSha1_96,
        integrity_key: vec![0x5c; 20],
        ..Suite::cipher(Encryption::AesCbc, KEY.to_vec())
    };
    let is_piece = control & 8 != 0;
    let fields: &[u8] = if is_piece {
        &[0, control >> 6, 0, 1 + (control >> 4 & 3)]
    } else {
        &[]
    };
    let (kind, first) = (if is_piece { 53 } else { 46 }, header.first);
    seal(
        Header {
            first: kind,
            ..header
        },
        &suite,
        [0x11; 16],
        fields,
        first,
        payloads,
    )
}
