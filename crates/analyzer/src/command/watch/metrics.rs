//! Where metrics go: a file for node_exporter, and a port.

use crate::command::options::WatchArguments;
use crate::command::output::{self, Reserved};
use crate::command::replace::Replacement;
use anyhow::{Context, Result};
use rekeyscope_model::watch::WatchTotals;
use rekeyscope_report::formats::metrics::{self, MetricsFormat};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The file is written this often; it is read every 15 s and more seldom.
const EVERY: Duration = Duration::from_secs(5);
/// A client that asks slower than this is not answered.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest request that is read.
const LONGEST_REQUEST: u64 = 8 << 10;

/// The places.
pub(super) struct MetricsPlaces {
    file: Option<PathBuf>,
    written: Option<Instant>,
    /// The page that the port answers with.
    page: Option<Arc<Mutex<String>>>,
    replacement: Replacement,
}

impl MetricsPlaces {
    pub(super) fn open(arguments: &WatchArguments, replacement: Replacement) -> Result<Self> {
        let mut places = MetricsPlaces {
            file: arguments.metrics_file.clone(),
            written: None,
            page: None,
            replacement,
        };
        if let Some(address) = arguments.metrics_listen {
            let listener = TcpListener::bind(address).with_context(|| {
                format!(
                    "cannot answer at {address}: is another program there? give --metrics-listen another port"
                )
            })?;
            let page = Arc::new(Mutex::new(String::new()));
            places.page = Some(Arc::clone(&page));
            if !arguments.input.quiet {
                let address = listener.local_addr().unwrap_or(address);
                output::complain(&format!("metrics at http://{address}/metrics"));
            }
            std::thread::spawn(move || serve(&listener, &page));
        }
        places.update(&WatchTotals::default())?;
        Ok(places)
    }

    /// Brings them up to date.
    #[allow(clippy::disallowed_methods)] // how often a file is written
    pub(super) fn update(&mut self, totals: &WatchTotals) -> Result<()> {
        if let Some(page) = &self.page {
            *page.lock().unwrap_or_else(PoisonError::into_inner) =
                metrics::render(totals, MetricsFormat::OpenMetrics);
        }
        if self.file.is_some() && self.written.is_none_or(|written| written.elapsed() >= EVERY) {
            self.write(totals)?;
            self.written = Some(Instant::now());
        }
        Ok(())
    }

    /// The last state.
    pub(super) fn finish(self, totals: &WatchTotals) -> Result<()> {
        self.write(totals)
    }

    fn write(&self, totals: &WatchTotals) -> Result<()> {
        if let Some(file) = &self.file {
            let text = metrics::render(totals, MetricsFormat::Prometheus);
            Reserved::new(file, &self.replacement)?.write(text.as_bytes())?;
        }
        Ok(())
    }
}

/// One client after another: a scrape is a single question, so that a server of a library would be more code than this.
fn serve(listener: &TcpListener, page: &Mutex<String>) {
    for client in listener.incoming().flatten() {
        let _ = answer(client, page);
    }
}

fn answer(mut client: TcpStream, page: &Mutex<String>) -> io::Result<()> {
    client.set_read_timeout(Some(PATIENCE))?;
    client.set_write_timeout(Some(PATIENCE))?;
    let mut lines = BufReader::new(client.try_clone()?.take(LONGEST_REQUEST)).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    for header in lines {
        if header?.is_empty() {
            break;
        }
    }
    let mut words = request.split_whitespace();
    let (status, body) = match (words.next(), words.next()) {
        (Some("GET" | "HEAD"), Some("/metrics")) => (
            "200 OK",
            page.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        ),
        _ => ("404 Not Found", "metrics are at /metrics\n".to_string()),
    };
    let length = body.len();
    let body = if request.starts_with("HEAD") { "" } else { &body };
    write!(
        client,
        "HTTP/1.1 {status}\r\nContent-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )?;
    client.flush()
}
