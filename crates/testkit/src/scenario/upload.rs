//! An upload beside the download, over a connection of its own.

use crate::headers::Tcp;
use crate::scenario::packets::l2tp;
use crate::scenario::world::World;

const CONNECTION: u16 = 1;

impl World {
    /// The client's next segment passes the capture and arrives. The server, where the capture is, acknowledges every second
    /// one at once.
    pub fn upload_segment(&mut self) {
        self.upload_at(self.uploaded);
        self.uploaded += self.segment_len as u32;
        if (self.uploaded / self.segment_len as u32).is_multiple_of(2) {
            self.acknowledge_upload(self.uploaded);
        }
    }

    /// The client's segment behind so many bytes passes the capture.
    pub fn upload_at(&mut self, offset: u32) {
        let data = Tcp {
            seq: 1_000 + offset,
            ..Tcp::default()
        };
        let segment = l2tp(&self.tcp_packet(CONNECTION, true, data, self.segment_len));
        self.esp_up(&segment);
    }

    /// The server acknowledges so many bytes of the client.
    pub fn acknowledge_upload(&mut self, bytes: u32) {
        let ack = Tcp {
            seq: 1,
            ack: 1_000 + bytes,
            ..Tcp::default()
        };
        let answer = l2tp(&self.tcp_packet(CONNECTION, false, ack, 0));
        self.esp_down(&answer);
    }
}
