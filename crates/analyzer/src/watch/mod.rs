//! A capture that goes on: frames in, events out.
//!
//! ```text
//! frames → Analyzer ── every half second ──→ Record so far → assembly → Analysis → news: what was not said before → WatchEvent
//!             └ once it is large or 30 min old: what is over is left behind                     totals: counters ┘
//! ```
//!
//! There is one truth in the program: what a look says is read from the document that a report of this moment would be made of. An
//! event waits until what it says is settled ([`look::SETTLED`]), so that it is told once and within two seconds.

pub mod kernel;
mod look;
mod news;
mod outage_news;
mod totals;

use crate::assembly::{Asked, assemble};
use crate::pipeline::analyzer::live::RecordSize;
use crate::pipeline::{Analyzer, Options};
use news::News;
use rekeyscope_capture::file::{CaptureInfo, Frame, KeptFrames};
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::time::{NANOS_PER_SECOND, Timestamp};
use rekeyscope_model::watch::{WatchEvent, WatchTotals};
pub use totals::earlier_totals;
use totals::{count, settle};

/// A record that is this much larger than it should be leaves behind what is over at once; before, as soon as no rekey is under way.
const PATIENCE: f64 = 1.25;

/// A capture that is played faster than it was made is looked at before it has gone on for this share of what is remembered, …
const UNSEEN: f64 = 0.25;
/// … but not for fewer packets.
const UNSEEN_PACKETS: u64 = 512;

/// How much a watch remembers: what is over is left behind when the record is larger than this.
#[derive(Debug, Clone, Copy)]
pub struct Retention {
    /// Seconds from its first packet to its last.
    pub seconds: f64,
    /// SAs beside those that stayed the last time.
    pub sas: usize,
    /// IKE exchanges, likewise.
    pub exchanges: usize,
    /// What was in use within so many seconds is not over.
    pub lately_s: f64,
    /// Bytes of frames that are kept since the beginning, to be read once more when a key comes late; from then on a key that comes later
    /// than packets wait for it opens what comes behind it.
    pub kept_bytes: usize,
}

impl Default for Retention {
    /// Half an hour, 1,000 rekeys: what a report at the end can be about. 128 MB are enough for it (`tests/watch/memory`, `tests/bench/days`).
    fn default() -> Self {
        Retention {
            seconds: 1_800.0,
            sas: 2_000,
            exchanges: 8_000,
            lately_s: 60.0,
            // A quarter of those 128 MB; 25 s at 10 Mbit/s.
            kept_bytes: 32 << 20,
        }
    }
}

/// The pipeline, and what was said already.
#[derive(Debug, Default)]
pub struct LiveWatch {
    analyzer: Analyzer,
    retention: Retention,
    news: News,
    totals: WatchTotals,
    /// Frames since the watch began, while they are few enough to be read once more.
    kept: Option<KeptFrames>,
    /// Keys of the analyzer, while frames are kept.
    keys: KeyMaterial,
    /// Packets that were read without the key of their SA, and that no key opens.
    half_read: u64,
    /// Options and pre-shared keys of the analyzer.
    made_with: (Options, Vec<SecretBytes>),
    packets: u64,
    newest: Option<Timestamp>,
    /// The newest frame of the last look, and the packets until then.
    looked: (Option<Timestamp>, u64),
    /// SAs and exchanges that stayed when what was over was left behind: those in use cannot be left behind.
    stayed: RecordSize,
    /// Packets beyond the bounds of tunnels and SAs that the record counted before it was begun anew.
    not_analysed_before: u64,
}

impl LiveWatch {
    /// A watch that will try these keys.
    pub fn new(
        options: Options,
        retention: Retention,
        keys: KeyMaterial,
        pre_shared_keys: Vec<SecretBytes>,
    ) -> Self {
        let made_with = (options.clone(), pre_shared_keys.clone());
        let analyzer = Analyzer::with_pre_shared_keys(options, keys.clone(), pre_shared_keys);
        LiveWatch {
            keys,
            analyzer,
            retention,
            made_with,
            ..LiveWatch::default()
        }
    }

    /// Keys are written while the capture goes on: the first packets of an SA wait for its key for a moment, and what was read without
    /// it is read once more when it comes.
    pub fn keys_grow(&mut self) {
        self.analyzer.keys_grow();
        self.kept = Some(KeptFrames::default());
    }

    /// Begins the counters of the kernel at 0.
    pub fn expect_kernel(&mut self, counters: impl Iterator<Item = String>) {
        for counter in counters {
            self.totals.kernel.entry(counter).or_default();
        }
    }

    /// Takes one frame.
    pub fn push(&mut self, frame: &Frame<'_>) {
        self.packets += 1;
        self.newest = self.newest.max(Some(frame.time));
        if self.looked.0.is_none() {
            self.looked.0 = self.newest;
        }
        if let Some(kept) = &mut self.kept {
            kept.push(frame);
            if kept.size() > self.retention.kept_bytes {
                (self.kept, self.keys) = (None, KeyMaterial::default());
            }
        }
        self.analyzer.push(frame);
    }

    /// The time of the newest frame.
    pub fn newest(&self) -> Option<Timestamp> {
        self.newest
    }

    /// True where a look is due by what has come, however little time has gone by: what is over is left behind at looks only, and memory must
    /// not grow with the load of the machine.
    pub fn is_due(&self) -> bool {
        let (looked, packets) = self.looked;
        let unseen = || {
            looked.zip(self.newest).is_some_and(|(looked, newest)| {
                newest.seconds_since(looked) >= UNSEEN * self.retention.seconds
            })
        };
        self.packets - packets >= UNSEEN_PACKETS && (unseen() || self.holds_more_than(PATIENCE))
    }

    /// The counter of oddities, for the reader of the capture.
    pub fn diagnostics_mut(&mut self) -> &mut Diagnostics {
        self.analyzer.diagnostics_mut()
    }

    /// Takes `keys` in place of those that it has: files grow. What was read without them is read once more, where it was kept.
    pub fn replace_keys(&mut self, keys: KeyMaterial) {
        if self.kept.is_some() {
            self.keys = keys.clone();
        }
        let unread = self.analyzer.has_unread();
        self.analyzer.replace_keys(keys);
        if unread {
            self.read_again();
        }
    }

    /// Reads what was kept with the keys of now.
    fn read_again(&mut self) {
        let Some(kept) = &self.kept else { return };
        let (options, pre_shared_keys) = self.made_with.clone();
        self.analyzer = Analyzer::with_pre_shared_keys(options, self.keys.clone(), pre_shared_keys);
        self.analyzer.keys_grow();
        kept.frames().for_each(|frame| self.analyzer.push(&frame));
        self.half_read = self.analyzer.half_read();
    }

    /// Events that an earlier run said: they count, and are not said again.
    pub fn remember(&mut self, events: &[WatchEvent]) {
        events.iter().for_each(|event| self.news.remember(event));
        self.totals = earlier_totals(events);
    }

    /// Counters since the beginning.
    pub fn totals(&self) -> &WatchTotals {
        &self.totals
    }

    /// Counts an event that did not come from packets.
    pub fn take(&mut self, event: &WatchEvent) {
        count(&mut self.totals, event);
    }

    /// What happened since the last look; nothing came from the newest frame to `now`. `info` is what the container said.
    pub fn look(&mut self, now: Timestamp, info: &CaptureInfo) -> Vec<WatchEvent> {
        self.looked = (self.newest, self.packets);
        if self.analyzer.awaits_keys_at(now) {
            return Vec::new();
        }
        // A key came while packets of its SA were on their way to be read without it.
        if self.kept.is_some() && self.analyzer.half_read() > self.half_read {
            self.read_again();
            if self.analyzer.awaits_keys_at(now) {
                return Vec::new();
            }
        }
        let analysis = assemble(self.analyzer.so_far(now), info, &Asked::default());
        let events = self.news.of(&analysis, now, false, self.kept.is_some());
        self.account(&analysis, now, &events);
        if self.is_larger_than(PATIENCE) || self.is_larger_than(1.0) && is_quiet(&analysis, now) {
            (self.kept, self.keys) = (None, KeyMaterial::default());
            self.analyzer.leave_behind(self.lately(now));
            self.stayed = self.analyzer.size();
            self.not_analysed_before = self.totals.not_analysed;
        }
        events
    }

    /// The end: what was not said, settled or not, and the document of what was not left behind.
    pub fn finish(mut self, info: &CaptureInfo, asked: &Asked) -> (Vec<WatchEvent>, Analysis, WatchTotals) {
        let record = std::mem::take(&mut self.analyzer).finish();
        let analysis = assemble(&record, info, asked);
        let now = record.totals.last_time.unwrap_or_default();
        let events = self.news.of(&analysis, now, true, self.kept.is_some());
        self.account(&analysis, self.newest.unwrap_or_default(), &events);
        (events, analysis, self.totals)
    }

    /// Counts the events of a look, and what holds at it.
    fn account(&mut self, analysis: &Analysis, now: Timestamp, events: &[WatchEvent]) {
        let lately = self.lately(now);
        let totals = &mut self.totals;
        events.iter().for_each(|event| count(totals, event));
        let settled = self.news.settled.drain(..);
        settled.for_each(|rekey| settle(totals, rekey));
        totals::observe(totals, analysis, lately);
        (totals.packets, totals.last_packet) = (self.packets, self.newest);
        totals.not_analysed = self.not_analysed_before + totals::not_analysed(analysis);
    }

    fn lately(&self, now: Timestamp) -> Timestamp {
        now.plus_seconds(-self.retention.lately_s)
    }

    /// `share`: of what should be remembered.
    fn is_larger_than(&self, share: f64) -> bool {
        self.analyzer.size().seconds > share * self.retention.seconds || self.holds_more_than(share)
    }

    /// Tells whether so many SAs or exchanges came since some were left behind; those that stayed then are in use.
    fn holds_more_than(&self, share: f64) -> bool {
        let (size, most, stayed) = (self.analyzer.size(), &self.retention, &self.stayed);
        let exceeds =
            |now: usize, stayed: usize, most: usize| now.saturating_sub(stayed) as f64 > share * most as f64;
        exceeds(size.associations, stayed.associations, most.sas)
            || exceeds(size.exchanges, stayed.exchanges, most.exchanges)
    }
}

/// Tells whether no rekey, attempt or outage is under way.
fn is_quiet(analysis: &Analysis, now: Timestamp) -> bool {
    let over = |time: Timestamp| now.nanos_since(time) > 10 * NANOS_PER_SECOND;
    let rekeys = analysis.rekeys.iter().rev().take(64);
    let mut switches = rekeys.flat_map(|r| r.started.into_iter().chain(r.switched.values()));
    switches.all(over)
        && analysis.attempts.iter().rev().take(64).all(|a| over(a.last_time))
        && analysis.outages.iter().all(|o| !o.at_least)
}
