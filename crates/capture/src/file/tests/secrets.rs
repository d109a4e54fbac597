//! Keys inside a capture: which blocks are kept, how many, and that they do not stay in the buffer.

use super::*;

const BLOCK: u32 = 10;
const ESP: u32 = 0x4553_5053;
const TLS: u32 = 0x544c_534b;

fn secrets(file: &mut Pcapng, kind: u32, claimed: usize, bytes: &[u8]) {
    let mut body = Vec::new();
    file.order.u32(&mut body, kind);
    file.order.u32(&mut body, claimed as u32);
    body.extend(bytes);
    file.block(BLOCK, &body);
}

fn reader(file: &Pcapng) -> CaptureReader {
    CaptureReader::from_stream(Box::new(io::Cursor::new(file.bytes.clone())), "-").unwrap()
}

#[test]
fn esp_secrets_are_kept_and_numbered_among_all_blocks() {
    let packets = containers::packets(2);
    for order in Order::BOTH {
        let mut file = Pcapng::new(order);
        file.interface(1, 0, &[]);
        secrets(&mut file, TLS, 3, b"tls");
        secrets(&mut file, ESP, 5, b"first");
        file.enhanced(0, 0, &packets[0], &[]);
        secrets(&mut file, ESP, 6, b"second");
        secrets(&mut file, ESP, 0, b"");
        file.enhanced(0, 0, &packets[1], &[]);
        let (mut reader, mut diagnostics) = (reader(&file), Diagnostics::default());
        let told = |reader: &mut CaptureReader| -> Vec<(u64, Vec<u8>)> {
            let taken = reader.take_secrets();
            taken
                .iter()
                .map(|s| (s.block, s.rows.expose().to_vec()))
                .collect()
        };
        assert!(!reader.has_secrets());
        reader.look_ahead(&mut diagnostics).unwrap();
        assert!(reader.has_secrets());
        assert_eq!(told(&mut reader), [(2, b"first".to_vec())]);
        for number in 1..=2 {
            let frame = reader.next_frame(&mut diagnostics).unwrap().unwrap();
            assert_eq!(
                (frame.number, frame.data),
                (number, &packets[number as usize - 1].data[..])
            );
        }
        assert!(reader.next_frame(&mut diagnostics).unwrap().is_none());
        assert_eq!(told(&mut reader), [(3, b"second".to_vec()), (4, Vec::new())]);
        assert_eq!(diagnostics.iter().count(), 0);
        let held = reader.buffer.lent(0, file.bytes.len());
        let is_wiped = |text: &[u8]| !held.windows(text.len()).any(|window| window == text);
        assert!(is_wiped(b"first") && is_wiped(b"second"));
    }
}

#[test]
fn esp_secrets_longer_than_their_block_are_left_out() {
    let packets = containers::packets(1);
    for order in Order::BOTH {
        let mut file = Pcapng::new(order);
        file.interface(1, 0, &[]);
        secrets(&mut file, ESP, 9, b"12345678");
        secrets(&mut file, ESP, usize::MAX, b"12345678");
        secrets(&mut file, TLS, 9, b"12345678");
        file.block(BLOCK, b"");
        secrets(&mut file, ESP, 8, b"12345678");
        file.enhanced(0, 0, &packets[0], &[]);
        let (mut reader, mut diagnostics) = (reader(&file), Diagnostics::default());
        assert!(reader.next_frame(&mut diagnostics).unwrap().is_some());
        assert_eq!(reader.take_secrets().len(), 1);
        let counted: Vec<_> = diagnostics.iter().map(|d| (d.kind, d.count)).collect();
        assert_eq!(counted, [("bad_secrets", 2)]);
    }
}

#[test]
fn secrets_are_bounded_in_number_and_bytes() {
    let kept = |blocks: usize, bytes: usize| {
        let mut file = Pcapng::new(Order::Little);
        let rows = vec![b'x'; bytes];
        (0..blocks).for_each(|_| secrets(&mut file, ESP, bytes, &rows));
        let (mut reader, mut diagnostics) = (reader(&file), Diagnostics::default());
        reader.look_ahead(&mut diagnostics).unwrap();
        let told = diagnostics.iter().map(|d| (d.kind, d.count)).next();
        (reader.take_secrets().len(), told)
    };
    assert_eq!(kept(1_000, 1), (1_000, None));
    assert_eq!(kept(1_003, 1), (1_000, Some(("too_many_secrets", 3))));
    assert_eq!(kept(3, 15 << 20), (2, Some(("too_many_secrets", 1))));
}
