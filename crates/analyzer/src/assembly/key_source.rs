//! Where a key stands, in words.

use crate::pipeline::record::{Record, place};
use rekeyscope_keylog::{KeyOrigin, KeyRoad};

/// File, line and road of a key.
pub(crate) fn key_source(record: &Record, origin: &KeyOrigin) -> String {
    let road = match origin.road {
        KeyRoad::Explicit => "explicit",
        KeyRoad::Mined => "mined",
        KeyRoad::Derived => "derived",
    };
    format!("{} ({road})", place(record, origin))
}
