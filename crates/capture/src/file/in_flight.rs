//! Work on its way: a block that is read, or what whoever reads a capture does with its packets.

use rayon::Yield;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError, sync_channel};
use std::time::Duration;

/// A thread that has nothing to help with looks again after this long: much less than a batch takes.
const MOMENT: Duration = Duration::from_micros(100);

/// Work that other threads do meanwhile.
#[derive(Debug)]
// The lock, which nobody takes, lets other threads look at what holds it.
pub struct InFlight<T>(Mutex<Receiver<T>>);

impl<T: Send + 'static> InFlight<T> {
    /// Begins it in the background.
    pub fn begin(work: impl FnOnce() -> T + Send + 'static) -> InFlight<T> {
        let (sender, receiver) = sync_channel(1);
        rayon::spawn(move || {
            // Nobody listens when the analysis was given up.
            let _ = sender.send(work());
        });
        InFlight(Mutex::new(receiver))
    }

    /// Waits for the results, and helps meanwhile where this is one of the working threads; `None` when the thread that worked died.
    pub fn wait(self) -> Option<T> {
        let receiver = self.0.into_inner().ok()?;
        loop {
            let landed = match rayon::yield_now() {
                Some(Yield::Executed) => receiver.try_recv().map_err(|e| e == TryRecvError::Disconnected),
                Some(Yield::Idle) => receiver
                    .recv_timeout(MOMENT)
                    .map_err(|e| e == RecvTimeoutError::Disconnected),
                None => receiver.recv().map_err(|_| true),
            };
            match landed {
                Ok(landed) => return Some(landed),
                Err(died) if died => return None,
                Err(_) => {}
            }
        }
    }
}
