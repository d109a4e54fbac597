//! `--metrics-listen`: the metrics over HTTP, for whoever asks. A client has a thread and a time limit, so that none delays another.

use anyhow::{Context, Result};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Prometheus' text format.
const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Time for a client's question, and for each part of the answer that it takes: Prometheus' default of `scrape_timeout`.
const CLIENT_TIME: Duration = Duration::from_secs(10);
/// Longest question, bytes: as long as other servers take one. Prometheus sends some 500.
const LONGEST_QUESTION: usize = 8 << 10;
/// Headers of a question.
const MOST_HEADERS: usize = 64;
/// Clients at a time; a further one is sent away. A thread takes some 20 kB, so that these stay within 10 MB.
const MOST_CLIENTS: usize = 512;

/// The text that is answered.
pub(super) type SharedPage = Arc<Mutex<String>>;

/// Answers at `address` from now on, with what `page` holds at the time; gives the address with its port.
pub(super) fn listen(address: SocketAddr, page: SharedPage) -> Result<SocketAddr> {
    let listener = TcpListener::bind(address).with_context(|| {
        format!("cannot answer at {address}: is another program there? give --metrics-listen another port")
    })?;
    let bound = listener.local_addr().unwrap_or(address);
    std::thread::Builder::new().spawn(move || {
        for client in listener.incoming() {
            let Ok(client) = client else {
                // No descriptor is free: a client that leaves frees one.
                std::thread::sleep(CLIENT_TIME / 100);
                continue;
            };
            // Each client has the page too.
            if Arc::strong_count(&page) > MOST_CLIENTS {
                continue;
            }
            let page = Arc::clone(&page);
            // The client may be gone, and no thread free: it asks again.
            let _ = std::thread::Builder::new().spawn(move || answer(client, &page));
        }
    })?;
    Ok(bound)
}

fn answer(mut client: TcpStream, page: &SharedPage) -> io::Result<()> {
    client.set_read_timeout(Some(CLIENT_TIME))?;
    client.set_write_timeout(Some(CLIENT_TIME))?;
    let question = question(&mut client)?;
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let is_whole = request.parse(&question).is_ok_and(|status| status.is_complete());
    let path = request.path.unwrap_or_default().split('?').next();
    let (status, text) = match request.method {
        _ if !is_whole => ("400 Bad Request", "this is no question in HTTP/1\n".to_string()),
        _ if path != Some("/metrics") => ("404 Not Found", "metrics are at /metrics\n".to_string()),
        Some("GET" | "HEAD") => (
            "200 OK",
            page.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        ),
        _ => (
            "405 Method Not Allowed\r\nAllow: GET, HEAD",
            "metrics are read by GET\n".to_string(),
        ),
    };
    let length = text.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {CONTENT_TYPE}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    let body = if request.method == Some("HEAD") { "" } else { &text };
    client.write_all((head + body).as_bytes())
}

/// Reads until the headers end, or cannot be such.
#[allow(clippy::disallowed_methods)] // how long a client is waited for
fn question(client: &mut TcpStream) -> io::Result<Vec<u8>> {
    let began = Instant::now();
    let mut question = Vec::new();
    let mut piece = [0; 1024];
    while question.len() < LONGEST_QUESTION && began.elapsed() < CLIENT_TIME {
        let read = client.read(&mut piece)?;
        question.extend_from_slice(piece.get(..read).unwrap_or_default());
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let parsed = httparse::Request::new(&mut headers).parse(&question);
        if read == 0 || parsed != Ok(httparse::Status::Partial) {
            break;
        }
    }
    Ok(question)
}
