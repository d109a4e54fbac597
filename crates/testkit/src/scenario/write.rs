//! The capture and its keys as files.

use crate::containers::{Order, PcapKind, pcap};
use crate::esp::Suite;
use crate::scenario::ikev1::IKE_KEY;
use crate::scenario::ikev2::{SK_A, SK_E};
use crate::scenario::world::World;
use std::path::Path;

impl World {
    /// Writes the capture (nanosecond pcap) and its keys; returns the key files.
    pub fn write(mut self, folder: &Path, with_ike_key: bool) -> Vec<std::path::PathBuf> {
        // Packets of the two ends are stamped in order of time.
        self.frames.sort_by_key(|frame| frame.time);
        if self.backwards {
            self.frames.reverse();
        }
        let (file, _) = pcap(PcapKind::Nanos, Order::Little, 1, &self.frames);
        std::fs::write(folder.join("trace.pcap"), file).unwrap();
        let rows: String = self
            .spis
            .iter()
            .map(|&spi| Suite::of_spi(spi).esp_sa_row(spi))
            .collect();
        let mut files = vec![folder.join("keys.esp_sa")];
        std::fs::write(&files[0], rows).unwrap();
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        if with_ike_key {
            let rows: String = self
                .cookies
                .iter()
                .map(|c| format!("{},{}\n", hex(c), hex(&IKE_KEY)))
                .collect();
            files.push(folder.join("keys.ikev1"));
            std::fs::write(&files[1], rows).unwrap();
            let row = |cookie: &[u8; 8]| {
                format!(
                    "{},{},{},{},\"AES-CBC-128 [RFC3602]\",{},{},\"HMAC_SHA1_96 [RFC2404]\"\n",
                    hex(cookie),
                    hex(b"responds"),
                    hex(&SK_E[0]),
                    hex(&SK_E[1]),
                    hex(&SK_A[0]),
                    hex(&SK_A[1])
                )
            };
            let row: String = self.cookies.iter().map(row).collect();
            files.push(folder.join("keys.ikev2"));
            std::fs::write(&files[2], row).unwrap();
        }
        files
    }
}
