//! Framing of a line of hex: the rows of one value are framed alike.

use crate::lines::outer::{LogLine, Tag};

/// Time and tag of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowFraming {
    moment: Option<u64>,
    /// A collector's time.
    collected: Option<u64>,
    tag: Tag,
}

impl RowFraming {
    pub(super) fn of(line: &LogLine<'_>) -> RowFraming {
        RowFraming {
            moment: line.moment,
            collected: line.collected(),
            tag: line.tag,
        }
    }

    /// Tells whether it has a tag.
    pub(super) fn is_tagged(&self) -> bool {
        self.tag != Tag::None
    }

    /// The same time (to the second, which is what routers print) or none, and the same tag.
    pub(super) fn is_of(&self, line: &LogLine<'_>) -> bool {
        self.has_time_of(line) && self.tag == line.tag
    }

    /// The same time or none, and no tag.
    pub(super) fn may_lack_its_tag(&self, line: &LogLine<'_>) -> bool {
        self.has_time_of(line) && line.tag == Tag::None
    }

    /// The router's time decides; a collector's clock may have gone on between two lines of one message.
    fn has_time_of(&self, line: &LogLine<'_>) -> bool {
        match line.moment {
            Some(moment) => self.moment == Some(moment),
            None => line.collected().is_none_or(|time| self.collected == Some(time)),
        }
    }
}
