//! ESP packets wait here until there are enough of them for all cores.

use crate::decode::packet::{Decoded, Marked, PacketPlace, Pending, fingerprint, open_one};
use rayon::prelude::*;
use rekeyscope_capture::file::ReadBlock;
use rekeyscope_ipsec::esp::cipher::{Check, EspCipher, Icv, verify_many, wipe_stack};
use rekeyscope_ipsec::sa::database::SaIndex;
use std::sync::Arc;
use zeroize::Zeroize;

/// Packets that make a batch: what is known of them, some 450 bytes each, fits into a core's cache. (Four times as many cost 8 % more
/// CPU and 18 MB.)
const FULL_PACKETS: usize = 2_048;
/// Bytes that make a batch.
const FULL_BYTES: usize = 1 << 20;
/// Packets that one task takes at a time: some 100 µs of work, far above the cost of handing it over, and enough of them
/// to verify many at once.
const TASK_PACKETS: usize = 256;

/// The waiting packets.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    packets: Vec<Pending>,
    /// The keys of the packets, most of them once: owners are counted beside what the other threads read of a key, so that one owner more for
    /// each packet would take it out of their caches.
    ciphers: Vec<Arc<EspCipher>>,
    /// Other packets in capture order, each with the number of packets before it.
    marks: Vec<(usize, Marked)>,
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
    /// Adds a packet with the key that opens it; the reader may go on, as `block`, in which its frame was read, is kept. What lies in no
    /// block is copied. Returns true when the batch is full.
    pub(crate) fn push(
        &mut self,
        mut pending: Pending,
        packet: &[u8],
        cipher: Option<&Arc<EspCipher>>,
        block: Option<&ReadBlock>,
    ) -> bool {
        pending.cipher = cipher.map(|cipher| keep(&mut self.ciphers, cipher));
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
        self.packets.len() >= FULL_PACKETS || self.held_bytes() >= FULL_BYTES
    }

    /// Adds what is no ESP behind the packets that are there. Returns true when the batch is full.
    pub(crate) fn mark(&mut self, of: Marked) -> bool {
        self.marks.push((self.packets.len(), of));
        self.marks.len() >= FULL_PACKETS
    }

    /// The marks right before each packet, and behind the last one.
    pub(crate) fn marks(&self) -> impl Iterator<Item = &[(usize, Marked)]> {
        let mut rest = &self.marks[..];
        (0..=self.packets.len()).map(move |place| {
            let due = rest.iter().take_while(|mark| mark.0 == place).count();
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
        let cipher = keep(&mut self.ciphers, cipher);
        for pending in self.packets.iter_mut().filter(|p| p.sa == sa) {
            pending.cipher = Some(cipher);
            pending.esn_high = esn_high(pending.sequence);
            pending.opens = true;
        }
    }

    /// True without packets and messages.
    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty() && self.marks.is_empty()
    }

    /// Bytes of the packets that wait.
    pub(crate) fn held_bytes(&self) -> usize {
        self.in_blocks + self.arena.len()
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

    /// The key of a packet.
    #[inline]
    fn cipher(&self, pending: &Pending) -> Option<&EspCipher> {
        let cipher = self.ciphers.get(pending.cipher? as usize);
        cipher.map(|cipher| &**cipher)
    }

    /// The key to check the ICV of a packet with.
    fn cipher_to_check(&self, pending: &Pending) -> Option<&EspCipher> {
        self.cipher(pending).filter(|_| !pending.cut)
    }

    /// The packets in capture order.
    pub(crate) fn packets(&self) -> &[Pending] {
        &self.packets
    }

    /// Decodes all packets on all cores; results in capture order, to be given back by [`Batch::clear`].
    pub(crate) fn decode(&mut self) -> Vec<Decoded> {
        let mut results = std::mem::take(&mut self.results);
        results.resize_with(self.packets.len(), Decoded::default);
        let task = |scratch: &mut Vec<u8>, (results, packets): (&mut [Decoded], &[Pending])| {
            self.decode_task(packets, results, scratch);
            let has_key = |p: &Pending| p.cipher.is_some() || p.authenticated.is_some();
            if packets.iter().any(has_key) {
                wipe_stack();
            }
        };
        if self.packets.len() <= TASK_PACKETS {
            task(&mut Vec::new(), (&mut results, &self.packets));
        } else {
            results
                .par_chunks_mut(TASK_PACKETS)
                .zip(self.packets.par_chunks(TASK_PACKETS))
                .for_each_init(Vec::new, task);
        }
        results
    }

    /// Decodes one task's packets. Not inlined: what it leaves on the stack has to lie below its caller, who wipes it.
    #[inline(never)]
    fn decode_task(&self, packets: &[Pending], results: &mut [Decoded], scratch: &mut Vec<u8>) {
        results.iter_mut().for_each(|result| *result = Decoded::default());
        self.verify_task(packets, results);
        for (result, pending) in results.iter_mut().zip(packets) {
            let packet = self.bytes(pending);
            if let Some(authenticated) = pending.authenticated {
                authenticated.decode(pending, packet, result);
                continue;
            }
            if let Some(cipher) = self.cipher(pending) {
                open_one(cipher, pending, pending.esn_high, packet, scratch, result);
            }
            result.fingerprint = fingerprint(packet, pending.cut);
            // Damaged on the way it keeps its ICV: it is no copy of the whole packet.
            if result.icv == Icv::Failed {
                result.fingerprint ^= 1;
            }
        }
    }

    /// Checks the ICVs of one task's packets.
    fn verify_task(&self, packets: &[Pending], results: &mut [Decoded]) {
        let mut checks = Vec::with_capacity(packets.len());
        checks.extend(packets.iter().filter_map(|pending| {
            Some(Check {
                cipher: self.cipher_to_check(pending)?,
                packet: self.bytes(pending),
                esn_high: pending.esn_high,
                icv: Icv::Unchecked,
            })
        }));
        verify_many(&mut checks);
        let checked = results
            .iter_mut()
            .zip(packets)
            .filter(|(_, pending)| self.cipher_to_check(pending).is_some());
        for ((result, _), check) in checked.zip(checks) {
            result.icv = check.icv;
        }
    }

    /// Empties the batch and keeps its memory, and that of its results.
    pub(crate) fn clear(&mut self, results: Vec<Decoded>) {
        self.results = results;
        self.packets.clear();
        self.ciphers.clear();
        self.marks.clear();
        self.blocks.clear();
        self.in_blocks = 0;
        self.arena.clear();
    }
}

impl Drop for Batch {
    /// Results were written between one packet's decryption and the next, so that what they do not use may hold what that left on the stack.
    fn drop(&mut self) {
        self.results.clear();
        self.results.spare_capacity_mut().zeroize();
    }
}

/// The place of a key among `ciphers`, where it goes if it is not one of the last few: the directions of a transfer take turns.
fn keep(ciphers: &mut Vec<Arc<EspCipher>>, cipher: &Arc<EspCipher>) -> u32 {
    const FEW: usize = 4;
    let mut last = ciphers.iter().enumerate().rev().take(FEW);
    let known = last.find(|(_, known)| Arc::ptr_eq(known, cipher));
    let place = known.map(|(place, _)| place).unwrap_or_else(|| {
        ciphers.push(cipher.clone());
        ciphers.len() - 1
    });
    place as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::packet::decode_one;
    use rekeyscope_capture::framing::Datagram;
    use rekeyscope_model::algorithm::{Encryption, Integrity};
    use rekeyscope_model::time::Timestamp;
    use rekeyscope_testkit::esp::hmac_sha1_96;
    use std::net::IpAddr;

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

    /// Whole and cut packets, keys of two SAs, one with another transform, packets without a key.
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
            let bytes = packet(&keys[number % 2], number);
            let mut datagram = Datagram::bare(number as u64, Timestamp::default(), (end, end), &bytes);
            datagram.cut = cut;
            let mut pending = Pending::of(&datagram, sa, (end, end), number as u32);
            let cipher = match number % 7 {
                0 => None,
                1 => Some(&md5),
                _ => Some(&sha1[number % 2]),
            };
            pending.opens = number % 2 == 0;
            batch.push(pending, &bytes, cipher, None);
        }
        let mut seen = [0; 3];
        let decoded = batch.decode();
        for (decoded, pending) in decoded.iter().zip(batch.packets()) {
            let alone = match batch.cipher(pending) {
                Some(cipher) => decode_one(cipher, pending, None, batch.bytes(pending), &mut Vec::new()),
                None => Decoded::default(),
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
