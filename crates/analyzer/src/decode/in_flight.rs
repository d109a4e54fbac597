//! A batch on its way.

use crate::decode::batch::Batch;
use crate::decode::packet::Decoded;
use rayon::Yield;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::time::Duration;

/// How long a thread that has nothing to help with waits before it looks again: much less than a batch takes.
const MOMENT: Duration = Duration::from_micros(100);

/// A batch that other threads are decoding while the next one is read.
#[derive(Debug)]
pub(crate) struct InFlight(Receiver<(Batch, Vec<Decoded>)>);

impl InFlight {
    /// Begins to decode a batch in the background.
    pub(crate) fn begin(mut batch: Batch) -> InFlight {
        let (sender, receiver) = sync_channel(1);
        rayon::spawn(move || {
            let decoded = batch.decode();
            // Nobody listens when the analysis was given up.
            let _ = sender.send((batch, decoded));
        });
        InFlight(receiver)
    }

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
