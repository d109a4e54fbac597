//! The interface of a format of keys.

use crate::lines::outer::LogLine;
use crate::material::sink::Sink;

/// A text format of keys. One value reads one file, line by line.
pub(crate) trait KeyFormat {
    /// Recognises and reads a line; true when it belongs to this format, then no later format in the table sees it.
    fn line(&mut self, line: &LogLine<'_>, sink: &mut Sink<'_>) -> bool;
    /// The file ends.
    fn finish(&mut self, _sink: &mut Sink<'_>) {}
    /// The name of what was read where the table's does not fit, asked at the end of the file.
    fn special_name(&self) -> Option<&'static str> {
        None
    }
}
