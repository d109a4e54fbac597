//! One SA, one direction, while the capture is read.

use crate::esp::cipher::{EspCipher, Icv, wipe_stack};
use crate::esp::null::{NullDetector, NullFormat};
use crate::esp::sequence::nearest;
use crate::ike::exchange::Exchange;
use crate::sa::docket::Docket;
use crate::sa::sequence::SequenceTracker;
use crate::sa::specimen::Lacking;
use crate::sa::step_back::StepsBack;
use crate::sa::tunnel::TunnelIndex;
use crate::sa::whereabouts::OuterPath;
use rekeyscope_keylog::{KeyOrigin, SaLifetime};
use rekeyscope_model::algorithm::{Encryption, Integrity, Transform};
use rekeyscope_model::analysis::{Direction, Encapsulation, IcvCounts, KeyStatus, Lifetime, Mode};
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::{IpsecProtocol, Spi};
use rekeyscope_model::time::Timestamp;
use std::net::IpAddr;
use std::sync::Arc;

pub use rekeyscope_model::lifetime::{LARGEST_LIFETIME_KILOBYTE, LIFETIME_KILOBYTE};

/// A transform with keys, and where they came from.
#[derive(Debug, Clone)]
pub struct AssignedKey {
    /// The keyed cipher.
    pub cipher: Arc<EspCipher>,
    /// The transform of the SA.
    pub transform: Transform,
    /// Encryption key, with salt where the transform has one.
    pub encryption_key: SecretBytes,
    /// Integrity key; empty for an AEAD.
    pub integrity_key: SecretBytes,
    /// Origin of the keys.
    pub origin: KeyOrigin,
}

impl AssignedKey {
    /// Keys a transform; `None` where the keys do not have its lengths.
    pub fn new(
        encryption: Encryption,
        encryption_key: &SecretBytes,
        integrity: Integrity,
        integrity_key: &SecretBytes,
        origin: &KeyOrigin,
    ) -> Option<Self> {
        let cipher = EspCipher::new(
            encryption,
            encryption_key.expose(),
            integrity,
            integrity_key.expose(),
        )?;
        // The round keys: the values below are copied with what their places on the stack held before.
        wipe_stack();
        let key_len = Some(encryption_key.len().saturating_sub(encryption.salt_len()));
        Some(AssignedKey {
            cipher: Arc::new(cipher),
            transform: Transform {
                encryption,
                key_len,
                integrity,
            },
            encryption_key: encryption_key.clone(),
            integrity_key: integrity_key.clone(),
            origin: origin.clone(),
        })
    }

    /// The keys with an ICV that is cut to another length, where peers are known to disagree on it.
    pub(super) fn cut_otherwise(&self) -> Option<Self> {
        let keys = (&self.encryption_key, &self.integrity_key);
        let (encryption, cut) = (
            self.transform.encryption,
            self.transform.integrity.cut_otherwise()?,
        );
        Self::new(encryption, keys.0, cut, keys.1, &self.origin)
    }

    /// Tells whether these are its keys, as far as both hold one.
    pub(super) fn holds(&self, encryption_key: &SecretBytes, integrity_key: &SecretBytes) -> bool {
        let unknown = self.integrity_key.is_empty() || integrity_key.is_empty();
        self.encryption_key == *encryption_key && (unknown || self.integrity_key == *integrity_key)
    }
}

/// NULL encryption that was recognised without a key.
#[derive(Debug, Clone)]
pub struct Clear {
    /// Framing of the packets.
    pub format: NullFormat,
    /// Opens them.
    pub cipher: Arc<EspCipher>,
}

impl Clear {
    /// Packets of this format.
    pub fn new(format: NullFormat) -> Self {
        Clear {
            format,
            cipher: Arc::new(EspCipher::null_unchecked(format)),
        }
    }

    /// The cipher: NULL, or AES-GMAC, which alone has an IV.
    pub fn encryption(&self) -> Encryption {
        if self.format.iv_len == 0 {
            Encryption::Null
        } else {
            Encryption::AesGmac
        }
    }
}

/// Packet and byte counts of an SA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Packets.
    pub packets: u64,
    /// Sum of IP total lengths.
    pub outer_bytes: u64,
    /// From the ESP header to the ICV.
    pub esp_bytes: u64,
    /// Decrypted payload without padding and trailer.
    pub inner_bytes: u64,
    /// Packets that `inner_bytes` covers.
    pub opened: u64,
    /// Padding and trailer bytes of those.
    pub padding_bytes: u64,
    /// Largest decrypted payload.
    pub largest_inner: u64,
    /// IP total lengths of the opened packets.
    pub opened_outer_bytes: u64,
    /// Largest single IP packet among them, without those that a network card merged.
    pub largest_outer: u64,
    /// Bytes of the largest payload before its innermost IP packet (tunnel protocols); negative where that packet's header is
    /// the outer one. `None` while there is none.
    pub headers_of_largest: Option<i64>,
}

/// The context of an SA's packet.
#[derive(Debug, Clone, Copy)]
pub struct SaContext {
    /// Tunnel.
    pub tunnel: TunnelIndex,
    /// Internal direction.
    pub direction: Direction,
    /// Outer source.
    pub src: IpAddr,
    /// Outer destination.
    pub dst: IpAddr,
    /// Encapsulation of the packet.
    pub encapsulation: Encapsulation,
    /// ESP or AH.
    pub protocol: IpsecProtocol,
}

#[cfg(test)]
impl SaContext {
    /// ESP of the first tunnel.
    pub(crate) fn made_up(direction: Direction, src: IpAddr, dst: IpAddr) -> Self {
        SaContext {
            tunnel: 0,
            direction,
            src,
            dst,
            encapsulation: Encapsulation::Esp,
            protocol: IpsecProtocol::Esp,
        }
    }
}

/// One SA, one direction.
#[derive(Debug)]
pub struct Association {
    /// The tunnel.
    pub tunnel: TunnelIndex,
    /// Internal direction (see [`crate::sa::tunnel::Tunnel`]).
    pub direction: Direction,
    /// Outer source, by the name of its end of the tunnel.
    pub src: IpAddr,
    /// Outer destination, by the name of its end of the tunnel.
    pub dst: IpAddr,
    /// ESP or AH.
    pub protocol: IpsecProtocol,
    /// Path of the newest packet, and course of the numbers; ahead of `counters` by what is still in batches.
    pub(super) course: Option<NumberCourse>,
    /// Outer source and destination of its packets, in order of appearance.
    places: Vec<(IpAddr, IpAddr)>,
    /// Inner source and destination of its packets, the first pairs.
    inner_ends: Vec<(IpAddr, IpAddr)>,
    /// An AH SA whose packets are around those of an ESP SA, or inside: that SA tells of their payload and of rekeys.
    pub bundled: bool,
    /// SPI.
    pub spi: Spi,
    /// Encapsulation of its packets.
    pub encapsulation: Encapsulation,
    /// The key that its packets prove; before [`Association::proven`] the likeliest claim, which opens nothing.
    pub key: Option<AssignedKey>,
    /// An ICV fits `key`, and what it proves nothing about, the encryption key, decrypts packets to enough evidence
    /// ([`crate::sa::budget`]).
    pub proven: bool,
    /// `key` has no ICV to check; it decrypts packets to enough evidence to read them.
    pub evident: bool,
    /// Unlabelled bytes hold its integrity key, and no encryption key that enough packets speak for.
    pub integrity: Option<AssignedKey>,
    /// Evidence that the encryption key beside a proven integrity key still lacks, where more packets would tell.
    pub lacking: Option<Lacking>,
    /// The packets to try keys on.
    pub(super) docket: Docket,
    /// The highest sequence number with a good ICV, of an SA with extended ones (RFC 4303 §2.2.1); `None` where they have 32
    /// bits, or nothing is known.
    pub extended: Option<u64>,
    /// Watches for NULL encryption while no key is proven.
    pub null: NullDetector,
    /// NULL encryption was recognised without a key: opens packets, checks no ICV.
    pub clear: Option<Clear>,
    /// The key files' knowledge where no usable key is known.
    pub key_hint: KeyStatus,
    /// Origin of that hint.
    pub hint_origin: Option<KeyOrigin>,
    /// The transform that IKE negotiated.
    pub negotiated: Option<Transform>,
    /// Mode, negotiated or by its packets.
    pub mode: Option<Mode>,
    /// The exchange that names it (index in the timeline).
    pub exchange: Option<usize>,
    /// The volume lifetime that was negotiated, else stated by a text; bytes of decrypted payload.
    pub volume_limit: Option<u64>,
    /// The lifetime that a text without keys states.
    pub stated_lifetime: Option<SaLifetime>,
    /// Time and frame at which the decrypted payload reached that limit; the receiver drops what comes after.
    pub limit_passed: Option<(Timestamp, u64)>,
    /// First packet with something in it for those inside: time and frame.
    pub first_payload: Option<(Timestamp, u64)>,
    /// First and last packet: time and frame.
    pub first: Option<(Timestamp, u64)>,
    /// Last packet.
    pub last: Option<(Timestamp, u64)>,
    /// The longest time between two packets that follow each other.
    pub rest: Option<(Timestamp, Timestamp)>,
    /// Counts.
    pub counters: Counters,
    /// ICV results.
    pub icv: IcvCounts,
    /// Sequence numbers.
    pub sequence: SequenceTracker,
    /// Numbers that stepped back.
    pub steps_back: StepsBack,
    /// Packets handed to the decoder so far; ahead of `counters` by what is still in its batches.
    pub queued: u64,
}

/// Path and numbers of the packets of an SA, as they come in.
#[derive(Debug, Clone, Copy)]
pub(super) struct NumberCourse {
    pub(super) path: OuterPath,
    first: (Timestamp, u32),
    newest: (Timestamp, u32),
}

/// Default replay window, in packets (RFC 4303 §3.4.3): no receiver takes a packet that is further behind the highest number.
const LATE: i32 = 64;
/// Factor on the rate of a sender, which does not speed up while its peer moves: between an old path and a new one, no more numbers are
/// lost than this many times what it sent before in that time.
const FASTER: f64 = 2.0;

impl NumberCourse {
    pub(super) fn begin(path: OuterPath, time: Timestamp, number: u32) -> Self {
        NumberCourse {
            path,
            first: (time, number),
            newest: (time, number),
        }
    }

    /// Distance of a number ahead of the highest one. An SA with extended numbers wraps.
    fn ahead(&self, number: u32) -> i32 {
        number.wrapping_sub(self.newest.1) as i32
    }

    /// Takes in a packet on `path`; false for a late one, whose path says nothing new.
    pub(super) fn advance(&mut self, path: &OuterPath, time: Timestamp, number: u32) -> bool {
        let newer = self.ahead(number) > 0;
        if newer {
            (self.path, self.newest) = (*path, (time, number));
        }
        newer
    }

    /// Tells whether a number continues those before. A new SA begins at 1.
    pub(super) fn goes_on(&self, number: u32) -> bool {
        let ahead = self.ahead(number);
        ahead > 0 || ahead > -LATE && number > LATE.unsigned_abs()
    }

    /// Tells whether a number continues those before so closely that both are of one SA, though the receiver may be another.
    pub(super) fn goes_on_closely(&self, time: Timestamp, number: u32) -> bool {
        let span = self.newest.0.seconds_since(self.first.0);
        let sent = f64::from(self.newest.1.wrapping_sub(self.first.1));
        let rate = if span > 0.0 { sent / span } else { 0.0 };
        let lost = FASTER * rate * time.seconds_since(self.newest.0);
        self.goes_on(number) && f64::from(self.ahead(number)) <= lost.max(f64::from(LATE))
    }
}

impl Association {
    /// Notes the time and the frame of a packet. The earliest and the latest count: a file may be out of order.
    pub fn see(&mut self, seen: (Timestamp, u64)) {
        let nanos = |rest: (Timestamp, Timestamp)| rest.1.nanos_since(rest.0);
        let rest = self.last.map(|last| (last.0, seen.0));
        if rest.map(nanos) > self.rest.map(nanos) {
            self.rest = rest;
        }
        self.first = Some(self.first.map_or(seen, |first| first.min(seen)));
        self.last = Some(self.last.map_or(seen, |last| last.max(seen)));
    }

    /// Pairs of outer addresses kept, a bound on memory (0.5 KB): as many as an end has during one SA.
    const MOST_PLACES: usize = 16;
    /// Pairs of inner addresses kept, a bound on memory (136 bytes): a tunnel of hosts has one, one of networks some.
    const MOST_INNER_ENDS: usize = 4;

    /// Tells whether a packet came, perhaps one that still waits in a batch.
    pub fn was_seen(&self) -> bool {
        self.course.is_some()
    }

    /// Path of its newest packet.
    pub fn path(&self) -> Option<&OuterPath> {
        self.course.as_ref().map(|course| &course.path)
    }

    /// Outer sources and destinations of the packets, several if an end moved; the names of the ends if no packet was seen.
    pub fn places(&self) -> impl Iterator<Item = (IpAddr, IpAddr)> + '_ {
        let unseen = self.places.is_empty().then_some((self.src, self.dst));
        self.places.iter().copied().chain(unseen)
    }

    pub(super) fn take_place(&mut self, place: (IpAddr, IpAddr)) {
        if self.places.len() < Self::MOST_PLACES && !self.places.contains(&place) {
            self.places.push(place);
        }
    }

    /// First pairs of inner source and destination of the opened packets, at most four.
    pub fn inner_ends(&self) -> &[(IpAddr, IpAddr)] {
        &self.inner_ends
    }

    /// Tells whether it carries packets between the same inner addresses as another one, one there and one back.
    pub fn answers(&self, other: &Association) -> bool {
        let mut ends = self.inner_ends.iter();
        ends.any(|(from, to)| other.inner_ends.contains(&(*to, *from)))
    }

    /// Tells whether it carries packets between the same inner addresses as another one, the same way.
    pub fn shares_ends(&self, other: &Association) -> bool {
        let mut ends = self.inner_ends.iter();
        ends.any(|ends| other.inner_ends.contains(ends))
    }

    /// Times of its first packet and of its last.
    pub fn used(&self) -> Option<(Timestamp, Timestamp)> {
        Some((self.first?.0, self.last?.0))
    }

    /// Tells whether [`Association::inner_ends`] may lack pairs.
    pub fn carries_more_inner_ends(&self) -> bool {
        self.inner_ends.len() == Self::MOST_INNER_ENDS
    }

    /// Notes the inner source and destination of an opened packet.
    #[inline]
    pub fn carry(&mut self, ends: (IpAddr, IpAddr)) {
        if self.inner_ends.last() != Some(&ends)
            && self.inner_ends.len() < Self::MOST_INNER_ENDS
            && !self.inner_ends.contains(&ends)
        {
            self.inner_ends.push(ends);
        }
    }

    /// An SA that no packet has used yet.
    pub fn new(context: SaContext, spi: Spi) -> Self {
        Association {
            tunnel: context.tunnel,
            direction: context.direction,
            src: context.src,
            dst: context.dst,
            protocol: context.protocol,
            course: None,
            places: Vec::new(),
            inner_ends: Vec::new(),
            bundled: false,
            spi,
            encapsulation: context.encapsulation,
            key: None,
            proven: false,
            evident: false,
            integrity: None,
            lacking: None,
            docket: Docket::default(),
            extended: None,
            null: NullDetector::default(),
            clear: None,
            key_hint: KeyStatus::Missing,
            hint_origin: None,
            negotiated: None,
            mode: None,
            exchange: None,
            volume_limit: None,
            stated_lifetime: None,
            limit_passed: None,
            first_payload: None,
            first: None,
            last: None,
            rest: None,
            counters: Counters::default(),
            icv: IcvCounts::default(),
            sequence: SequenceTracker::default(),
            steps_back: StepsBack::default(),
            queued: 0,
        }
    }

    /// Sequence numbers that never came. An SA begins at 1 (RFC 4303 §3.3.3); where the capture holds its negotiation, what is
    /// missing before its first packet counts too.
    pub fn missing(&self) -> u64 {
        let between = self.sequence.summary().missing;
        match self.exchange {
            Some(_) => between.saturating_add(self.sequence.missing_at_start()),
            None => between,
        }
    }

    /// Counts the ICV result of a packet.
    pub fn count_icv(&mut self, icv: Icv) {
        match icv {
            Icv::Verified => self.icv.verified += 1,
            Icv::Failed => self.icv.failed += 1,
            Icv::Unchecked => self.icv.unchecked += 1,
        }
    }

    /// Tells whether there is a cipher that may open its packets.
    pub fn opens(&self) -> bool {
        self.proven || self.evident || self.clear.is_some()
    }

    /// The cipher that opens its packets: its key, else nothing but the knowledge that there is no encryption.
    pub fn cipher(&self) -> Option<&Arc<EspCipher>> {
        match (&self.clear, &self.key) {
            (_, Some(key)) if self.proven || self.evident => Some(&key.cipher),
            (Some(clear), _) => Some(&clear.cipher),
            _ => None,
        }
    }

    /// The cipher that checks its ICVs: also a key that opens nothing yet.
    pub fn checker(&self) -> Option<&Arc<EspCipher>> {
        let claimed = || self.integrity.as_ref().or(self.key.as_ref());
        self.cipher().or_else(|| claimed().map(|key| &key.cipher))
    }

    /// The upper half of the sequence number of a packet with this lower half, where the SA has extended ones.
    pub fn esn_high(&self, sequence: u32) -> Option<u32> {
        self.extended
            .map(|highest| (nearest(highest, sequence) >> 32) as u32)
    }

    /// The whole sequence number of a packet. An SA whose key is unknown may have extended ones: 32 bits must not wrap
    /// (RFC 4303 §3.3.3), so a wrap shows it. A new SA under the same SPI begins at 1, which is not a wrap.
    pub fn whole_sequence(&self, sequence: u32) -> u64 {
        match (self.extended, self.proven) {
            (Some(highest), _) => nearest(highest, sequence),
            (None, true) => u64::from(sequence),
            (None, false) => nearest(self.sequence.highest().unwrap_or(0), sequence),
        }
    }

    /// Tells whether a single packet is all that speaks for the encryption key.
    pub fn rests_on_one_packet(&self) -> bool {
        let stated =
            |key: &AssignedKey| !key.transform.encryption.is_aead() && !key.encryption_key.is_empty();
        self.proven && self.counters.packets == 1 && self.key.as_ref().is_some_and(stated)
    }

    /// Trust in its key.
    pub fn key_status(&self) -> KeyStatus {
        match &self.key {
            Some(_) if self.proven => KeyStatus::Verified,
            Some(_) if self.key_hint == KeyStatus::Conflict => KeyStatus::Conflict,
            Some(key)
                if self.counters.packets == 0 && key.origin.road == rekeyscope_keylog::KeyRoad::Derived =>
            {
                KeyStatus::Derived
            }
            Some(_) => KeyStatus::Unverified,
            None if self.clear.is_some() || self.protocol == IpsecProtocol::Ah => KeyStatus::Unverified,
            None if self.integrity.is_some() && self.key_hint == KeyStatus::Missing => KeyStatus::Unverified,
            None => self.key_hint,
        }
    }

    /// The lifetime that the exchange which made the SA negotiated, else the one that a text states.
    pub fn lifetime(&self, exchanges: &[Exchange]) -> Option<Lifetime> {
        let negotiated = self
            .exchange
            .and_then(|exchange| exchanges.get(exchange)?.lifetime);
        negotiated.or_else(|| Some(self.stated_lifetime.as_ref()?.lifetime))
    }

    /// Sets the volume limit by a lifetime; one of 0 kB is none.
    pub fn limit_volume(&mut self, lifetime: Option<Lifetime>) {
        let kilobytes = lifetime.and_then(|lifetime| lifetime.kilobytes);
        self.volume_limit = kilobytes
            .filter(|kilobytes| *kilobytes > 0)
            .map(|kilobytes| kilobytes.saturating_mul(LIFETIME_KILOBYTE));
    }

    /// The transform as far as it is known: proven, else negotiated.
    pub fn transform(&self) -> Option<Transform> {
        match &self.key {
            Some(key) if self.proven => Some(key.transform),
            _ => self
                .negotiated
                .or(self.key.as_ref().map(|k| k.transform))
                .filter(|_| self.clear.is_none()),
        }
    }
}
