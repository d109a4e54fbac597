//! Places of metrics: a file for node_exporter, and a port.

use crate::command::options::WatchArguments;
use crate::command::output::{self, Reserved};
use crate::command::replace::Replacement;
use anyhow::{Context, Result, anyhow};
use rekeyscope_model::watch::WatchTotals;
use rekeyscope_report::formats::metrics;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tiny_http::{Header, Method, Response, Server};

/// The file is written this often; it is read every 15 s and more seldom.
const EVERY: Duration = Duration::from_secs(5);
/// Prometheus' text format.
const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

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
            let server = Server::from_listener(listener, None).map_err(|error| anyhow!("{error}"))?;
            std::thread::spawn(move || serve(&server, &page));
        }
        places.update(&WatchTotals::default())?;
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

    /// The last state.
    pub(super) fn finish(self, totals: &WatchTotals) -> Result<()> {
        self.write(totals)
    }

    fn write(&self, totals: &WatchTotals) -> Result<()> {
        if let Some(file) = &self.file {
            let text = metrics::render(totals);
            Reserved::new(file, &self.replacement)?.write(text.as_bytes())?;
        }
        Ok(())
    }
}

/// Answers whoever asks; a client that is slow with its question has a thread of the server for itself.
fn serve(server: &Server, page: &Mutex<String>) {
    let Ok(content_type) = Header::from_bytes("Content-Type", CONTENT_TYPE) else {
        return;
    };
    for request in server.incoming_requests() {
        let path = request.url().split('?').next().unwrap_or_default();
        let reads = matches!(request.method(), Method::Get | Method::Head);
        let response = if path == "/metrics" && reads {
            let text = page.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Response::from_string(text).with_header(content_type.clone())
        } else if path == "/metrics" {
            Response::from_string("metrics are read by GET\n").with_status_code(405)
        } else {
            Response::from_string("metrics are at /metrics\n").with_status_code(404)
        };
        // The client may be gone.
        let _ = request.respond(response);
    }
}
