//! An upload beside the download, over a connection of its own.

use crate::headers::Tcp;
use crate::scenario::packets::l2tp;
use crate::scenario::world::World;

const CONNECTION: u16 = 1;

impl World {
    /// The client's next segment passes the capture and arrives. The server, where the capture is, acknowledges every second
    /// one at once.
    pub fn upload_segment(&mut self) {
        let len = self.segment_len;
        let data = Tcp {
            seq: 1_000 + self.uploaded,
            ..Tcp::default()
        };
        let segment = l2tp(&self.tcp_packet(CONNECTION, true, data, len));
        self.esp_up(&segment);
        self.uploaded += len as u32;
        if (self.uploaded / len as u32).is_multiple_of(2) {
            let ack = Tcp {
                seq: 1,
                ack: 1_000 + self.uploaded,
                ..Tcp::default()
            };
            let answer = l2tp(&self.tcp_packet(CONNECTION, false, ack, 0));
            self.esp_down(&answer);
        }
    }
}
