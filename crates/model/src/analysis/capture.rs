//! The capture, the program that read it, and its oddities.

use crate::analysis::names::CaptureFormat;
use crate::analysis::plain_data::plain_data;
use crate::text::Message;
use crate::time::Timestamp;

plain_data! {
    /// The program that made the document.
    pub struct Generator {
        /// `rekeyscope`.
        pub name: String,
        /// Version of the program.
        pub version: String,
    }
    /// The capture file.
    pub struct Capture {
        /// Path as given by the user; `-` for standard input.
        pub path: String,
        /// Container.
        pub format: CaptureFormat,
        /// Names of the link types of its interfaces, in order of appearance.
        pub link_types: Vec<String>,
        /// Packets read.
        pub packets: u64,
        /// Bytes on the wire of those packets (not the file's size).
        pub bytes: u64,
        /// Earliest packet.
        pub first_time: Option<Timestamp>,
        /// Latest packet.
        pub last_time: Option<Timestamp>,
        /// Seconds between them.
        pub duration_s: Option<f64>,
        /// The file ends in the middle of a record.
        pub truncated_file: bool,
        /// Packets that hold fewer bytes than were on the wire (snap length).
        pub cut_packets: u64,
        /// Packets that the capture program says it dropped; `null` where the format does not say.
        pub dropped_reported: Option<u64>,
        /// IP packets that the file holds again and that count once: the same SA, sequence number and ICV, or (IKE and what else
        /// is not ESP or AH) the same content close in time. `duplicate` and `duplicate_fragment` in `diagnostics` say which.
        pub duplicates: u64,
        /// Packets with a time before their predecessor's.
        pub time_regressions: u64,
        /// Packets that carry IKE.
        pub ike_packets: u64,
        /// Packets that carry ESP.
        pub esp_packets: u64,
        /// Packets larger than any link: the network card merged or split them later.
        pub offload_suspected: bool,
        /// The files, where several were read as one capture, in the order of reading; absent where it is one.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub files: Vec<CaptureFile>,
        /// SHA-256 of the file's bytes as stored, of several files one after another, in hex; absent where tables (`--parquet`) were
        /// not asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub sha256: Option<String>,
    }
    /// One of several files that were read as one capture.
    pub struct CaptureFile {
        /// Path as given by the user, or as found.
        pub path: String,
        /// Number of its first packet among those of all files; `null` where none was read.
        pub first_frame: Option<u64>,
        /// Packets read.
        pub packets: u64,
        /// Time of its first packet.
        pub first_time: Option<Timestamp>,
        /// Time of its last packet.
        pub last_time: Option<Timestamp>,
        /// The file ends in the middle of a record, or is damaged.
        pub truncated_file: bool,
        /// Why it, or the rest of it, could not be read; `null` where it was.
        pub problem: Option<String>,
    }
    /// An oddity, counted.
    pub struct DiagnosticEntry {
        /// Identifier.
        pub kind: String,
        /// Protocol layer.
        pub layer: String,
        /// Number of times.
        pub count: u64,
        /// First frame.
        pub first_frame: Option<u64>,
        /// In words.
        pub sentence: String,
        /// The sentence as message identifiers and arguments, from which it is said in another language; empty where it has none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub messages: Vec<Message>,
    }
}

impl Capture {
    /// Half of the ESP packets or more were cut (snap length), so that no key can be checked on them.
    pub fn is_cut(&self) -> bool {
        self.cut_packets > 0 && 2 * self.cut_packets >= self.esp_packets
    }
}
