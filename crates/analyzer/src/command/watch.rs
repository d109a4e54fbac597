//! `rekeyscope watch`: a capture that goes on.
//!
//! The main thread reads frames, another one looks twice a second, also where nothing comes; what both share is behind one lock.
//! A third one waits for the signal that ends the watch with its report.

mod events;
mod key_files;
mod listener;
mod metrics;
mod ring_buffer;

use crate::command::options::WatchArguments;
use crate::command::outputs::Outputs;
use crate::command::packets::PacketSource;
use crate::command::replace::Replacement;
use crate::command::{output, read, temporary};
use anyhow::Result;
use events::EventLines;
use key_files::GrowingKeys;
use metrics::MetricsPlaces;
use rekeyscope::assembly::Asked;
use rekeyscope::watch::kernel::{self, KernelCounters};
use rekeyscope::watch::{LiveWatch, Retention, earlier_totals};
use rekeyscope_capture::file::{CaptureInfo, CaptureReader};
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::time::Timestamp;
use ring_buffer::RingBuffer;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Between two looks, …
const LOOK: Duration = Duration::from_millis(400);
/// … and at most this share of the time is spent on them.
const SHARE_OF_LOOKS: u32 = 5;

/// Follows the capture to its end, or until it is told to end.
pub(crate) fn run(arguments: WatchArguments) -> Result<ExitCode> {
    temporary::leave_signals_to_others();
    let input = &arguments.input;
    input.share_cores();
    let read = input.everything_read();
    let replacement = Replacement::new(&read, arguments.outputs.replace.force);
    let silent = arguments.json_lines && arguments.outputs.format.is_none();
    let outputs = Outputs::reserve(&arguments.outputs, &replacement, silent)?;
    let lines = EventLines::open(&arguments, &read)?;
    let places = MetricsPlaces::open(&arguments, replacement, &earlier_totals(&lines.earlier))?;
    let mut container = Diagnostics::default();
    let mut reader = if input.capture.is_dir() {
        let files = Box::new(RingBuffer::new(&input.capture));
        PacketSource::One(CaptureReader::from_stream(
            files,
            &input.capture.to_string_lossy(),
        )?)
    } else {
        PacketSource::open(input, None)?
    };
    reader.look_ahead(&mut container)?;
    let secrets = reader.take_secrets();
    let keys = read::read_keys(input, &secrets)?;
    if !input.quiet {
        keys.without_logs
            .iter()
            .for_each(|sentence| output::complain(sentence));
    }
    for error in &keys.unreadable {
        output::complain(&format!("{error}; going on without it"));
    }
    let mut watch = LiveWatch::new(
        arguments.options(),
        Retention::default(),
        keys.material,
        keys.pre_shared,
    );
    watch.remember(&lines.earlier);
    let growing = GrowingKeys::new(input.clone(), secrets);
    if growing.may_grow() {
        watch.keys_grow();
    }
    let kernel = arguments.xfrm_stat.clone().map(KernelFile::new).transpose()?;
    watch.expect_kernel(kernel.iter().flat_map(|file| file.before.keys().cloned()));
    let running = Running {
        watch,
        info: reader.info().clone(),
        asked: input.asked(),
        arrived: now(),
        next_look: now() + LOOK,
        keys: growing,
        kernel,
        lines,
        places,
        outputs,
    };
    let shared = Arc::new(Mutex::new(Some(running)));
    look_in_the_background(&shared);
    end_at_a_signal(&shared);
    loop {
        let frame = match reader.next_frame(&mut container) {
            Ok(Some(frame)) => frame,
            Ok(None) => return end(&shared, Some(container), ExitCode::SUCCESS),
            Err(error) => {
                output::complain(&error.to_string());
                return end(&shared, Some(container), ExitCode::FAILURE);
            }
        };
        let mut lock = lock(&shared);
        let Some(running) = lock.as_mut() else { continue };
        running.watch.push(&frame);
        running.arrived = now();
        if running.arrived >= running.next_look || running.watch.is_due() {
            running.info = reader.info().clone();
            if reader.has_secrets() {
                running.keys.met(reader.take_secrets());
            }
            running.look(true)?;
        }
    }
}

/// The state that the threads share, until one of them ends the watch.
type Shared = Arc<Mutex<Option<Running>>>;

struct Running {
    watch: LiveWatch,
    info: CaptureInfo,
    asked: Asked,
    /// Time at which the newest frame came.
    arrived: Instant,
    next_look: Instant,
    keys: GrowingKeys,
    kernel: Option<KernelFile>,
    lines: EventLines,
    places: MetricsPlaces,
    outputs: Outputs,
}

impl Running {
    /// Looks, and says what is new. `busy`: a frame has come just now.
    fn look(&mut self, busy: bool) -> Result<()> {
        let began = now();
        if let Some(keys) = self.keys.grown() {
            self.watch.replace_keys(keys);
        }
        let mut news = Vec::new();
        if let Some(newest) = self.watch.newest() {
            // The capture's clock, as it goes on while nothing comes.
            let silence = if busy {
                Duration::ZERO
            } else {
                self.arrived.elapsed()
            };
            let at = newest.plus_nanos(i64::try_from(silence.as_nanos()).unwrap_or(i64::MAX));
            news = self.watch.look(at, &self.info);
            for event in self.kernel.iter_mut().flat_map(|file| file.grown(at)) {
                self.watch.take(&event);
                news.push(event);
            }
        }
        // Whoever reads a line finds it counted.
        self.places.update(self.watch.totals())?;
        self.lines.say(&news)?;
        self.lines.show_summary(self.watch.totals());
        self.next_look = began + LOOK.max(SHARE_OF_LOOKS * began.elapsed());
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        let (news, analysis, totals) = self.watch.finish(&self.info, &self.asked);
        self.lines.say(&news)?;
        self.lines.end_summary();
        self.places.write(&totals)?;
        self.outputs.write(&analysis)
    }
}

/// The kernel's counters, and what they were at the last look.
struct KernelFile {
    path: PathBuf,
    before: KernelCounters,
}

impl KernelFile {
    fn new(path: PathBuf) -> Result<Self> {
        let text = std::fs::read_to_string(&path).map_err(|error| {
            anyhow::anyhow!(
                "{}: {error}: the kernel needs CONFIG_XFRM_STATISTICS for it",
                path.display()
            )
        })?;
        let before = kernel::read(&text);
        Ok(KernelFile { path, before })
    }

    fn grown(&mut self, at: Timestamp) -> Vec<rekeyscope_model::watch::WatchEvent> {
        let Ok(text) = std::fs::read_to_string(&self.path) else {
            return Vec::new();
        };
        let counters = kernel::read(&text);
        let grown = kernel::grown(&self.before, &counters, at);
        self.before = counters;
        grown
    }
}

#[allow(clippy::disallowed_methods)] // when to look; what is seen depends on the frames' own times
fn now() -> Instant {
    Instant::now()
}

fn lock(shared: &Shared) -> MutexGuard<'_, Option<Running>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Looks while no frame comes. A system without threads looks when the next one does.
fn look_in_the_background(shared: &Shared) {
    let shared = Arc::clone(shared);
    let _ = std::thread::Builder::new().spawn(move || {
        loop {
            std::thread::sleep(LOOK / 4);
            let mut lock = lock(&shared);
            let Some(running) = lock.as_mut() else { return };
            if now() >= running.next_look
                && let Err(error) = running.look(false)
            {
                leave(&error);
            }
        }
    });
}

/// An interrupt or a request to end is the end of the capture.
#[cfg(unix)]
fn end_at_a_signal(shared: &Shared) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let shared = Arc::clone(shared);
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM]) else {
        return;
    };
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            end_with_the_report(&shared);
        }
    });
}

#[cfg(windows)]
fn end_at_a_signal(shared: &Shared) {
    let shared = Arc::clone(shared);
    // A failure means that there is no console, so no interrupt can come.
    let _ = crate::command::windows::at_interrupt(move || end_with_the_report(&shared));
}

/// The system ends the program; the events are in their file.
#[cfg(not(any(unix, windows)))]
fn end_at_a_signal(_: &Shared) {}

/// The signal is the end of the capture and of the program.
#[cfg(any(unix, windows))]
fn end_with_the_report(shared: &Shared) -> ! {
    match end(shared, None, ExitCode::SUCCESS) {
        Ok(_) => {
            output::say_notes();
            std::process::exit(0);
        }
        Err(error) => leave(&error),
    }
}

/// Ends the watch, unless another thread does so already: that one ends the program.
fn end(shared: &Shared, container: Option<Diagnostics>, status: ExitCode) -> Result<ExitCode> {
    let running = lock(shared).take();
    let Some(mut running) = running else {
        loop {
            std::thread::park();
        }
    };
    if let Some(container) = container {
        running.watch.diagnostics_mut().absorb(container);
    }
    running.finish()?;
    Ok(status)
}

fn leave(error: &anyhow::Error) -> ! {
    if output::is_broken_pipe(error) {
        std::process::exit(0);
    }
    output::complain(&error.to_string());
    std::process::exit(1);
}
