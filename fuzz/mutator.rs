//! Changes that keep the shape of what they change: a capture whose lengths and IP checksums fit again, a document that is still
//! JSON. Every second change is libFuzzer's own, which keeps nothing.

use serde_json::Value;

/// The doors whose input ends with a capture, and how much stands before it.
fn capture_at(door: &str, data: &[u8]) -> Option<usize> {
    match door {
        "capture" => Some(0),
        "whole" | "copies" => {
            let len = u16::from_le_bytes(*data.first_chunk()?);
            Some(2 + usize::from(len)).filter(|at| *at < data.len())
        }
        _ => None,
    }
}

/// Another input for a target.
pub fn mutate(door: &str, data: &mut [u8], len: usize, most: usize, seed: u32) -> usize {
    let mut random = Random(u64::from(seed) << 1 | 1);
    let shaped = if random.below(2) == 0 {
        None
    } else if door == "document" {
        document(&data[..len], &mut random)
    } else {
        capture_at(door, &data[..len]).and_then(|at| capture(&data[..len], at, &mut random))
    };
    match shaped {
        Some(bytes) if bytes.len() <= most => {
            data[..bytes.len()].copy_from_slice(&bytes);
            bytes.len()
        }
        _ => libfuzzer_sys::fuzzer_mutate(data, len, most),
    }
}

/// xorshift64*
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % end.max(1)
    }
}

/// The records of a little-endian pcap.
fn records(pcap: &[u8]) -> Option<Vec<Vec<u8>>> {
    matches!(
        pcap.first_chunk()?,
        [0xd4, 0xc3, 0xb2, 0xa1] | [0x4d, 0x3c, 0xb2, 0xa1]
    )
    .then_some(())?;
    let (mut records, mut rest) = (Vec::new(), pcap.get(24..)?);
    while let Some(len) = rest.get(8..12) {
        let len = u32::from_le_bytes(len.try_into().ok()?) as usize;
        let record = rest.get(..16usize.checked_add(len)?);
        records.push(record.unwrap_or(rest).to_vec());
        rest = record.map_or(&[], |r| &rest[r.len()..]);
    }
    Some(records).filter(|r| !r.is_empty())
}

/// One record is changed, doubled, left out, moved, or gets another time.
fn capture(data: &[u8], at: usize, random: &mut Random) -> Option<Vec<u8>> {
    let mut records = records(&data[at..])?;
    let (one, other) = (random.below(records.len()), random.below(records.len()));
    match random.below(8) {
        0 => records.insert(other, records[one].clone()),
        1 => drop(records.remove(one)),
        2 => records.swap(one, other),
        3 => {
            let step = [1, 1_000, 1_000_000, 0x1000_0000][random.below(4)];
            let word = if random.below(2) == 0 { 0..4 } else { 4..8 };
            let time = records[one].get_mut(word)?;
            let value = u32::from_le_bytes((&*time).try_into().ok()?);
            time.copy_from_slice(&value.wrapping_add(step).to_le_bytes());
        }
        _ => {
            let mut packet = records[one].get(16..)?.to_vec();
            let len = packet.len();
            // Behind Ethernet and IP most of the time: the addresses stay.
            let from = if random.below(4) == 0 { 0 } else { 34.min(len) };
            packet.resize(len + 64, 0);
            let changed = libfuzzer_sys::fuzzer_mutate(&mut packet[from..], len - from, len + 64 - from);
            packet.truncate(from + changed);
            fit(&mut packet);
            records[one].truncate(16);
            for field in [8..12, 12..16] {
                records[one][field].copy_from_slice(&(packet.len() as u32).to_le_bytes());
            }
            records[one].extend(packet);
        }
    }
    Some([data.get(..at + 24)?, &records.concat()].concat())
}

/// Total length, checksum and UDP length of IPv4 in Ethernet say what is there.
fn fit(frame: &mut [u8]) {
    let Some(ip) = frame.get_mut(14..).filter(|ip| ip.len() >= 20 && ip[0] == 0x45) else {
        return;
    };
    let len = ip.len() as u16;
    ip[2..4].copy_from_slice(&len.to_be_bytes());
    ip[10..12].fill(0);
    let sum = rekeyscope_testkit::headers::checksum(&ip[..20]);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    if ip[9] == 17 && ip.len() >= 28 {
        ip[24..26].copy_from_slice(&(len - 20).to_be_bytes());
    }
}

/// One value of the document becomes another, or goes, or comes twice.
fn document(data: &[u8], random: &mut Random) -> Option<Vec<u8>> {
    let mut document: Value = serde_json::from_slice(data).ok()?;
    let mut place = &mut document;
    // Down to a leaf, or not quite.
    loop {
        let stop = random.below(6) == 0;
        let is_leaf = match &*place {
            Value::Array(list) => list.is_empty(),
            Value::Object(map) => map.is_empty(),
            _ => true,
        };
        if is_leaf || stop {
            break;
        }
        place = match place {
            Value::Array(list) => {
                let at = random.below(list.len());
                &mut list[at]
            }
            Value::Object(map) => {
                let at = random.below(map.len());
                map.values_mut().nth(at)?
            }
            _ => return None,
        };
    }
    match (place, random.below(3)) {
        (Value::Array(list), 0) if !list.is_empty() => drop(list.remove(random.below(list.len()))),
        (Value::Array(list), 1) if !list.is_empty() => list.push(list[random.below(list.len())].clone()),
        (Value::Array(list), _) => list.clear(),
        (place, _) => *place = another(random),
    }
    serde_json::to_vec(&document).ok()
}

fn another(random: &mut Random) -> Value {
    let values = [
        Value::Null,
        0.into(),
        1.into(),
        (-1).into(),
        u32::MAX.into(),
        i64::MAX.into(),
        i64::MIN.into(),
        u64::MAX.into(),
        1e308.into(),
        (-1e308).into(),
        5e-324.into(),
        0.5.into(),
        "".into(),
        "a_to_b".into(),
        "\u{202e}<b>`|".into(),
        true.into(),
    ];
    values[random.below(values.len())].clone()
}
