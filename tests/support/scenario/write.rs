//! The capture and its keys as files.

use super::ikev2::{SK_A, SK_E};
use super::packets::keys_of;
use super::{IKE_KEY, World};
use std::path::Path;

impl World {
    /// Writes the capture (nanosecond pcap) and its keys; returns the key files.
    pub fn write(mut self, folder: &Path, with_ike_key: bool) -> Vec<std::path::PathBuf> {
        // Packets of the two ends are stamped in order of time.
        self.frames.sort_by_key(|f| f.0);
        let mut pcap = Vec::from(0xa1b2_3c4du32.to_le_bytes());
        pcap.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0]);
        for (time, frame) in &self.frames {
            pcap.extend(((time / 1_000_000_000) as u32).to_le_bytes());
            pcap.extend(((time % 1_000_000_000) as u32).to_le_bytes());
            let len = (frame.len() as u32).to_le_bytes();
            pcap.extend(len);
            pcap.extend(len);
            pcap.extend(frame);
        }
        std::fs::write(folder.join("trace.pcap"), pcap).unwrap();
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<String>();
        let mut rows = String::new();
        for &spi in &self.spis {
            let (encryption, integrity) = keys_of(spi);
            rows.push_str(&format!(
                "\"IPv4\",\"*\",\"*\",\"0x{spi:08x}\",\"AES-CBC [RFC3602]\",\"0x{}\",\"HMAC-SHA-1-96 [RFC2404]\",\"0x{}\"\n",
                hex(&encryption),
                hex(&integrity)
            ));
        }
        let mut files = vec![folder.join("keys.esp_sa")];
        std::fs::write(&files[0], rows).unwrap();
        if with_ike_key {
            let rows: String = self
                .cookies
                .iter()
                .map(|c| format!("{},{}\n", hex(c), hex(&IKE_KEY)))
                .collect();
            files.push(folder.join("keys.ikev1"));
            std::fs::write(&files[1], rows).unwrap();
            let row = format!(
                "{},{},{},{},\"AES-CBC-128 [RFC3602]\",{},{},\"HMAC_SHA1_96 [RFC2404]\"\n",
                hex(&self.cookie),
                hex(b"responds"),
                hex(&SK_E[0]),
                hex(&SK_E[1]),
                hex(&SK_A[0]),
                hex(&SK_A[1])
            );
            files.push(folder.join("keys.ikev2"));
            std::fs::write(&files[2], row).unwrap();
        }
        files
    }
}
