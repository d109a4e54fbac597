//! Places of metrics: a file for node_exporter, and a port.

use super::listener::{self, SharedPage};
use crate::command::options::WatchArguments;
use crate::command::output::{self, Reserved};
use crate::command::replace::Replacement;
use anyhow::Result;
use rekeyscope_model::watch::WatchTotals;
use rekeyscope_report::formats::metrics;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The file is written this often; it is read every 15 s and more seldom.
const EVERY: Duration = Duration::from_secs(5);

/// The places.
pub(super) struct MetricsPlaces {
    file: Option<PathBuf>,
    written: Option<Instant>,
    /// The page that the port answers with.
    page: Option<SharedPage>,
    replacement: Replacement,
}

impl MetricsPlaces {
    /// The first page has what an earlier run counted: Prometheus would take the way from 0 to it for failures of now.
    pub(super) fn open(
        arguments: &WatchArguments,
        replacement: Replacement,
        earlier: &WatchTotals,
    ) -> Result<Self> {
        let mut places = MetricsPlaces {
            file: arguments.metrics_file.clone(),
            written: None,
            page: None,
            replacement,
        };
        if let Some(address) = arguments.metrics_listen {
            let page: SharedPage = Arc::new(Mutex::new(metrics::render(earlier)));
            let address = listener::listen(address, Arc::clone(&page))?;
            places.page = Some(page);
            if !arguments.input.quiet {
                output::complain(&format!("metrics at http://{address}/metrics"));
            }
        }
        places.update(earlier)?;
        Ok(places)
    }

    /// Brings them up to date.
    #[allow(clippy::disallowed_methods)] // how often a file is written
    pub(super) fn update(&mut self, totals: &WatchTotals) -> Result<()> {
        if let Some(page) = &self.page {
            *page.lock().unwrap_or_else(PoisonError::into_inner) = metrics::render(totals);
        }
        if self.file.is_some() && self.written.is_none_or(|written| written.elapsed() >= EVERY) {
            self.write(totals)?;
            self.written = Some(Instant::now());
        }
        Ok(())
    }

    /// Writes the file, where there is one.
    pub(super) fn write(&self, totals: &WatchTotals) -> Result<()> {
        if let Some(file) = &self.file {
            let text = metrics::render(totals);
            Reserved::new(file, &self.replacement)?.write(text.as_bytes())?;
        }
        Ok(())
    }
}
