//! A progress bar on standard error, for captures that take longer than a second, on a terminal only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};
use std::time::{Duration, Instant};

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// Frames between two looks at the clock.
const STRIDE: u64 = 16_384;

/// A bar that appears late, and goes when this is dropped.
pub(crate) struct Progress {
    total: Option<u64>,
    began: Instant,
    frames: u64,
    bar: Option<ProgressBar>,
    wanted: bool,
}

impl Progress {
    /// `total`: bytes to read, where known.
    #[allow(clippy::disallowed_methods)] // the clock drives the bar only, never the analysis
    pub(crate) fn new(total: Option<u64>, wanted: bool) -> Self {
        Progress {
            total,
            began: Instant::now(),
            frames: 0,
            bar: None,
            wanted,
        }
    }

    /// One more frame; `position` is asked for rarely.
    pub(crate) fn tick(&mut self, position: impl FnOnce() -> u64) {
        self.frames += 1;
        if !self.wanted || !self.frames.is_multiple_of(STRIDE) {
            return;
        }
        if self.bar.is_none() && self.began.elapsed() > PATIENCE {
            self.bar = Some(new_bar(self.total));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(position());
        }
    }
}

fn new_bar(total: Option<u64>) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    let bar = bar.with_finish(ProgressFinish::AndClear);
    let template = match total {
        Some(_) => "{bar:30} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left",
        None => "{spinner} {bytes} {bytes_per_sec}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}
