//! ESP packets wait here until there are enough of them for all cores. Verifying and decrypting needs no state but the
//! key, so it runs in parallel; everything before and after runs in capture order.

use rayon::Yield;
use rayon::prelude::*;
use rekeyscope_capture::file::ReadBlock;
use rekeyscope_capture::framing::UdpPorts;
use rekeyscope_ipsec::esp::cipher::{Check, EspCipher, Icv, OpenError, Opened, verify_many};
use rekeyscope_ipsec::esp::inner::{self, Inner};
use rekeyscope_ipsec::sa::database::SaIndex;
use rekeyscope_ipsec::sa::tunnel::TunnelIndex;
use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::time::Duration;

/// Packets that make a batch: what is known of them, some 450 bytes each, fits into a core's cache. (Four times as many cost 8 % more
/// CPU and 18 MB.)
const FULL_PACKETS: usize = 2_048;
/// Bytes that make a batch.
const FULL_BYTES: usize = 1 << 20;
/// How long a thread that has nothing to help with waits before it looks again: much less than a batch takes.
const MOMENT: Duration = Duration::from_micros(100);
/// Packets that one task takes at a time: some 100 µs of work, far above the cost of handing it over, and enough of them
/// to verify many at once.
const TASK_PACKETS: usize = 256;

/// An ESP packet in the batch.
#[derive(Debug)]
pub(crate) struct Pending {
    /// Its SA.
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
    /// UDP ports around it.
    pub(crate) udp: Option<UdpPorts>,
    /// An AH packet.
    pub(crate) authenticated: Option<Authenticated>,
    /// Key to open it with; `None` where there is none.
    pub(crate) cipher: Option<Arc<EspCipher>>,
    /// How many times ESP is around its ESP.
    pub(crate) nesting: u8,
    /// Upper half of its sequence number, where the SA has extended ones.
    pub(crate) esn_high: Option<u32>,
    /// Check the ICV.
    pub(crate) check: bool,
    /// Its key was proven when it came.
    pub(crate) proven: bool,
    /// What checks it may open it: the key is proven by now, or there is no ICV that could.
    pub(crate) opens: bool,
    place: PacketPlace,
}

/// An IKE message among the packets: what it means to those who count them is done in its place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct IkeMark {
    pub(crate) tunnel: TunnelIndex,
    /// Index of its exchange.
    pub(crate) exchange: usize,
    pub(crate) time: Timestamp,
    pub(crate) part: IkePart,
    /// Packets of the batch before it.
    place: usize,
}

/// Which part of an exchange a message is.
#[derive(Debug, Clone, Copy)]
pub(crate) enum IkePart {
    /// The first of an exchange that makes child SAs: the direction of its sender, as a position in a pair, and how many SAs its
    /// tunnel had.
    Opening { slot: usize, sas: usize },
    /// The first of another one.
    OtherOpening,
    /// A further one.
    Further,
}

impl IkeMark {
    /// A mark that [`Batch::mark`] will give its place.
    pub(crate) fn new(tunnel: TunnelIndex, exchange: usize, time: Timestamp, part: IkePart) -> Self {
        IkeMark {
            tunnel,
            exchange,
            time,
            part,
            place: 0,
        }
    }
}

/// Where the bytes of a packet are.
#[derive(Debug, Clone, Copy, Default)]
struct PacketPlace {
    /// Index of the block that was read; without one they are in the batch's own memory.
    block: Option<u32>,
    start: usize,
    len: usize,
}

/// What the header of an AH packet says (RFC 4302 §2).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Authenticated {
    pub(crate) next_header: u8,
    pub(crate) header_len: u32,
    /// IKE or ESP follows it, whose own SA tells of the payload.
    pub(crate) around_ipsec: bool,
}

/// Where the ICV of an AH packet begins (RFC 4302 §2).
const AH_ICV_AT: usize = 12;

impl Authenticated {
    /// Nothing to open: what is inside can be read.
    fn decode(self, pending: &Pending, packet: &[u8], decoded: &mut Decoded) {
        let payload_len = pending.esp_bytes.saturating_sub(self.header_len);
        let payload = packet.get(self.header_len as usize..).unwrap_or_default();
        let icv = packet.get(AH_ICV_AT..).and_then(|icv| icv.first_chunk::<8>());
        if !self.around_ipsec {
            let (len, ends) = (payload_len as usize, Some(pending.ends));
            inner::walk_into(&mut decoded.inner, self.next_header, payload, len, ends);
        }
        decoded.opened = Some(Opened {
            payload_len,
            pad_len: 0,
            next_header: self.next_header,
        });
        decoded.fingerprint = icv.map_or(0, |icv| u64::from_be_bytes(*icv));
    }
}

/// What the parallel part found out about a packet.
#[derive(Debug, Clone)]
pub(crate) struct Decoded {
    /// ICV.
    pub(crate) icv: Icv,
    /// Trailer, when it could be opened.
    pub(crate) opened: Option<Opened>,
    /// What is inside, when it could be opened.
    pub(crate) inner: Inner,
    /// The last bytes: the ICV, or random-looking ciphertext. Tells a doubled capture from a replayed number.
    pub(crate) fingerprint: u64,
}

impl Decoded {
    /// A packet that stays closed.
    fn sealed() -> Decoded {
        Decoded {
            icv: Icv::Unchecked,
            opened: None,
            inner: Inner::default(),
            fingerprint: 0,
        }
    }
}

/// A batch that other threads are decoding while the next one is read.
#[derive(Debug)]
pub(crate) struct InFlight(Receiver<(Batch, Vec<Decoded>)>);

impl InFlight {
    /// Waits for the results, and helps meanwhile where this is one of the decoding threads; `None` when the decoding thread died.
    pub(crate) fn wait(self) -> Option<(Batch, Vec<Decoded>)> {
        loop {
            let landed = match rayon::yield_now() {
                Some(Yield::Executed) => self.0.try_recv().map_err(|e| e == TryRecvError::Disconnected),
                Some(Yield::Idle) => self
                    .0
                    .recv_timeout(MOMENT)
                    .map_err(|e| e == RecvTimeoutError::Disconnected),
                None => self.0.recv().map_err(|_| true),
            };
            match landed {
                Ok(landed) => return Some(landed),
                Err(died) if died => return None,
                Err(_) => {}
            }
        }
    }
}

/// The waiting packets.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    packets: Vec<Pending>,
    /// IKE messages in capture order.
    marks: Vec<IkeMark>,
    /// The blocks in which packets lie.
    blocks: Vec<ReadBlock>,
    /// Bytes of those in blocks.
    in_blocks: usize,
    /// Bytes of packets that lie in no block: they came in fragments, or inside others.
    arena: Vec<u8>,
    /// Memory for results, used again: gigabytes of pages would be asked for and given back.
    results: Vec<Decoded>,
}

impl Batch {
    /// Adds a packet; the reader may go on, as `block`, in which its frame was read, is kept. What lies in no block is copied.
    /// Returns true when the batch is full.
    pub(crate) fn push(&mut self, mut pending: Pending, packet: &[u8], block: Option<&ReadBlock>) -> bool {
        let len = packet.len();
        let place = block.and_then(|block| Some((block, block.place_of(packet)?)));
        pending.place = match place {
            Some((block, place)) => {
                if !self.blocks.last().is_some_and(|last| last.is(block)) {
                    self.blocks.push(block.clone());
                }
                self.in_blocks += len;
                let block = Some((self.blocks.len() - 1) as u32);
                PacketPlace {
                    block,
                    start: place.start,
                    len,
                }
            }
            None => {
                let (block, start) = (None, self.arena.len());
                self.arena.extend_from_slice(packet);
                PacketPlace { block, start, len }
            }
        };
        self.packets.push(pending);
        self.packets.len() >= FULL_PACKETS || self.in_blocks + self.arena.len() >= FULL_BYTES
    }

    /// Adds an IKE message behind the packets that are there. Returns true when the batch is full.
    pub(crate) fn mark(&mut self, mark: IkeMark) -> bool {
        let place = self.packets.len();
        self.marks.push(IkeMark { place, ..mark });
        self.marks.len() >= FULL_PACKETS
    }

    /// The IKE messages right before each packet, and behind the last one.
    pub(crate) fn marks(&self) -> impl Iterator<Item = &[IkeMark]> {
        let mut rest = &self.marks[..];
        (0..=self.packets.len()).map(move |place| {
            let due = rest.iter().take_while(|mark| mark.place == place).count();
            let (now, later) = rest.split_at(due);
            rest = later;
            now
        })
    }

    /// Gives the packets of an SA that wait without a key one. `esn_high`: upper half of a sequence number.
    pub(crate) fn assign(
        &mut self,
        sa: SaIndex,
        cipher: &Arc<EspCipher>,
        esn_high: impl Fn(u32) -> Option<u32>,
    ) {
        for pending in self.packets.iter_mut().filter(|p| p.sa == sa) {
            pending.cipher = Some(cipher.clone());
            pending.esn_high = esn_high(pending.sequence);
            pending.opens = true;
        }
    }

    /// True without packets and messages.
    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty() && self.marks.is_empty()
    }

    /// The bytes of a packet.
    #[inline]
    pub(crate) fn bytes(&self, pending: &Pending) -> &[u8] {
        let PacketPlace { block, start, len } = pending.place;
        match block {
            Some(block) => {
                let block = self.blocks.get(block as usize);
                block.map_or(&[], |block| block.get(start..start + len))
            }
            None => self.arena.get(start..start + len).unwrap_or_default(),
        }
    }

    /// The packets in capture order.
    pub(crate) fn packets(&self) -> &[Pending] {
        &self.packets
    }

    /// Decodes all packets on all cores; results in capture order, to be given back by [`Batch::clear`].
    pub(crate) fn decode(&mut self) -> Vec<Decoded> {
        let mut results = std::mem::take(&mut self.results);
        results.resize_with(self.packets.len(), Decoded::sealed);
        results
            .par_chunks_mut(TASK_PACKETS)
            .zip(self.packets.par_chunks(TASK_PACKETS))
            .for_each_init(Vec::new, |scratch, (results, packets)| {
                results.iter_mut().for_each(|result| *result = Decoded::sealed());
                self.verify_task(packets, results);
                for (result, pending) in results.iter_mut().zip(packets) {
                    let packet = self.bytes(pending);
                    if let Some(authenticated) = pending.authenticated {
                        authenticated.decode(pending, packet, result);
                        continue;
                    }
                    if let Some(cipher) = &pending.cipher {
                        open_one(cipher, pending, pending.esn_high, packet, scratch, result);
                    }
                    result.fingerprint = fingerprint(packet, pending.cut);
                }
            });
        results
    }

    /// Checks the ICVs of one task's packets.
    fn verify_task(&self, packets: &[Pending], results: &mut [Decoded]) {
        let mut checks: Vec<Check<'_>> = packets
            .iter()
            .filter_map(|pending| {
                Some(Check {
                    cipher: pending.cipher_to_check()?,
                    packet: self.bytes(pending),
                    esn_high: pending.esn_high,
                    icv: Icv::Unchecked,
                })
            })
            .collect();
        verify_many(&mut checks);
        let checked = results
            .iter_mut()
            .zip(packets)
            .filter(|(_, pending)| pending.cipher_to_check().is_some());
        for ((result, _), check) in checked.zip(checks) {
            result.icv = check.icv;
        }
    }

    /// Decodes in the background.
    pub(crate) fn dispatch(mut self) -> InFlight {
        let (sender, receiver) = sync_channel(1);
        rayon::spawn(move || {
            let decoded = self.decode();
            // Nobody listens when the analysis was given up.
            let _ = sender.send((self, decoded));
        });
        InFlight(receiver)
    }

    /// Empties the batch and keeps its memory, and that of its results.
    pub(crate) fn clear(&mut self, results: Vec<Decoded>) {
        self.results = results;
        self.packets.clear();
        self.marks.clear();
        self.blocks.clear();
        self.in_blocks = 0;
        self.arena.clear();
    }
}

impl Pending {
    /// A packet that [`Batch::push`] will give its place.
    #[allow(clippy::too_many_arguments)] // plain data, named at the one call
    pub(crate) fn new(
        sa: SaIndex,
        frame: u64,
        time: Timestamp,
        outer_bytes: u32,
        esp_bytes: u32,
        ends: (IpAddr, IpAddr),
        cut: bool,
        sequence: u32,
    ) -> Self {
        Pending {
            sa,
            frame,
            time,
            outer_bytes,
            esp_bytes,
            ends,
            cut,
            sequence,
            fragments: 1,
            largest_fragment: outer_bytes,
            udp: None,
            authenticated: None,
            cipher: None,
            nesting: 0,
            esn_high: None,
            check: true,
            proven: false,
            opens: false,
            place: PacketPlace::default(),
        }
    }

    /// Whether to check its ICV: it is whole, and somebody asked for it or the key has yet to be proven.
    fn wants_check(&self) -> bool {
        !self.cut && (self.check || !self.proven)
    }

    /// The key to check it with.
    fn cipher_to_check(&self) -> Option<&EspCipher> {
        self.cipher.as_deref().filter(|_| self.wants_check())
    }
}

/// Verifies and opens one packet.
pub(crate) fn decode_one(
    cipher: &EspCipher,
    pending: &Pending,
    esn_high: Option<u32>,
    packet: &[u8],
    scratch: &mut Vec<u8>,
) -> Decoded {
    let mut decoded = Decoded::sealed();
    if pending.wants_check() {
        decoded.icv = cipher.verify(packet, esn_high);
    }
    open_one(cipher, pending, esn_high, packet, scratch, &mut decoded);
    decoded
}

/// Opens one packet whose ICV was checked, unless there was nothing to check.
fn open_one(
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
        decoded.opened = open(cipher, decoded.icv, esn_high, packet, prefix, scratch).ok();
        let Some(opened) = decoded.opened else { return };
        let (len, ends) = (opened.payload_len as usize, Some(pending.ends));
        inner::walk_into(&mut decoded.inner, opened.next_header, scratch, len, ends);
        if !decoded.inner.prefix_too_short || prefix == usize::MAX {
            return;
        }
        decoded.inner = Inner::default();
    }
}

/// Behind a good ICV the sender may have put anything into the padding (RFC 4303 §2.4); otherwise it has to make sense.
pub(crate) fn open(
    cipher: &EspCipher,
    icv: Icv,
    esn_high: Option<u32>,
    packet: &[u8],
    prefix: usize,
    out: &mut Vec<u8>,
) -> Result<Opened, OpenError> {
    match icv {
        Icv::Verified => cipher.open_verified(packet, esn_high, prefix, out),
        _ => cipher.open(packet, esn_high, prefix, out),
    }
}

/// SPI and sequence number (RFC 4303 §2).
const ESP_HEADER: usize = 8;

/// Tells packets under the same number apart: the end of the ICV. What is left of a cut packet ends wherever headers let it,
/// so that the two sides of a mirror port differ there; there it is what follows the ESP header. Eight bytes of it (an IV, or
/// the first ciphertext), because a tag of eight bytes more must leave as many in the copy.
fn fingerprint(packet: &[u8], cut: bool) -> u64 {
    let bytes = if cut {
        packet.get(ESP_HEADER..).and_then(|rest| rest.first_chunk::<8>())
    } else {
        packet.last_chunk::<8>()
    };
    bytes.map_or(0, |b| u64::from_be_bytes(*b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::algorithm::{Encryption, Integrity};
    use rekeyscope_testkit::esp::hmac_sha1_96;

    /// A synthetic packet with NULL encryption; every fifth has a bad ICV, every ninth is too short for one.
    fn packet(key: &[u8], number: usize) -> Vec<u8> {
        if number.is_multiple_of(9) {
            return vec![number as u8; number % 12];
        }
        let mut packet = vec![number as u8; 8 + number % 1_400 / 4 * 4];
        packet.extend([1, 2, 2, 59]);
        packet.extend(hmac_sha1_96(key, &packet));
        if number.is_multiple_of(5) {
            packet[4] ^= 1;
        }
        packet
    }

    /// Whole and cut packets, keys of two SAs, one with another transform, packets without a key, checks on and off.
    #[test]
    fn a_batch_says_what_its_packets_say_one_by_one() {
        let keys = [[1; 20], [2; 20]];
        let sha1 = keys.map(|key| {
            Arc::new(EspCipher::new(Encryption::Null, &[], Integrity::HmacSha1_96, &key).unwrap())
        });
        let md5 = Arc::new(EspCipher::new(Encryption::Null, &[], Integrity::HmacMd5_96, &[1; 16]).unwrap());
        let end = IpAddr::from([192, 0, 2, 1]);
        let mut batch = Batch::default();
        for number in 0..2 * TASK_PACKETS + 17 {
            let sa = SaIndex::default();
            let cut = number % 11 == 3;
            let mut pending = Pending::new(
                sa,
                number as u64,
                Timestamp::default(),
                0,
                0,
                (end, end),
                cut,
                number as u32,
            );
            pending.cipher = match number % 7 {
                0 => None,
                1 => Some(md5.clone()),
                _ => Some(sha1[number % 2].clone()),
            };
            pending.check = number % 13 != 0;
            pending.opens = number % 2 == 0;
            batch.push(pending, &packet(&keys[number % 2], number), None);
        }
        let mut seen = [0; 3];
        let decoded = batch.decode();
        for (decoded, pending) in decoded.iter().zip(batch.packets()) {
            let alone = match &pending.cipher {
                Some(cipher) => decode_one(cipher, pending, None, batch.bytes(pending), &mut Vec::new()),
                None => Decoded::sealed(),
            };
            assert_eq!(
                (decoded.icv, decoded.opened),
                (alone.icv, alone.opened),
                "{pending:?}"
            );
            seen[decoded.icv as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 20), "{seen:?}");
    }
}
