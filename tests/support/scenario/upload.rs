//! An upload beside the download, over a connection of its own.

use super::packets::{Tcp, l2tp, tcp_packet_of};
use super::{CLIENT, SERVER, World};

const CONNECTION: u16 = 1;

/// What the client has sent, in bytes; the server, where the capture is, acknowledges every second segment at once.
#[derive(Debug, Default)]
pub(super) struct Uploaded {
    bytes: u32,
}

impl World {
    /// The client's next segment passes the capture and arrives.
    pub fn upload_segment(&mut self) {
        let len = self.segment_len;
        let header = |seq, ack, len| Tcp {
            seq,
            ack,
            window: 0xffff,
            len,
        };
        let data = l2tp(&tcp_packet_of(
            CONNECTION,
            true,
            header(1_000 + self.uploaded.bytes, 1, len),
        ));
        let mut sa = self.up;
        self.esp(&mut sa, CLIENT, SERVER, &data);
        self.up = sa;
        self.uploaded.bytes += len as u32;
        if (self.uploaded.bytes / len as u32).is_multiple_of(2) {
            let ack = header(1, 1_000 + self.uploaded.bytes, 0);
            self.esp_down(&l2tp(&tcp_packet_of(CONNECTION, false, ack)));
        }
    }
}
