//! A container's statements about itself.

use crate::file::link_type::LinkType;
use rekeyscope_model::analysis::CaptureFormat;

/// Most link types that [`CaptureInfo`] lists.
pub(super) const MOST_LINK_TYPES: usize = 64;

/// Statements of the container about itself; complete once the reader has returned `None`.
#[derive(Debug, Clone)]
pub struct CaptureInfo {
    /// Container.
    pub format: CaptureFormat,
    /// Link types in order of appearance, each once; the first 64, and no real capture has more than a few.
    pub link_types: Vec<LinkType>,
    /// The data ends in the middle of a record, or is damaged from some place on.
    pub truncated: bool,
    /// Sum of the drop counters over the interfaces (ISB `isb_ifdrop` + `isb_osdrop`, or the sum of `epb_dropcount` where
    /// that is larger: the same loss told twice); `None` where none was given.
    pub dropped_reported: Option<u64>,
}

impl CaptureInfo {
    pub(crate) fn of(format: CaptureFormat) -> CaptureInfo {
        CaptureInfo {
            format,
            link_types: Vec::new(),
            truncated: false,
            dropped_reported: None,
        }
    }

    pub(crate) fn note_link_type(&mut self, link_type: LinkType) {
        if self.link_types.len() < MOST_LINK_TYPES && !self.link_types.contains(&link_type) {
            self.link_types.push(link_type);
        }
    }
}
