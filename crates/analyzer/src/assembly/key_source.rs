//! Where a key stands, in words.

use crate::pipeline::key_place::key_place;
use crate::pipeline::record::Record;
use rekeyscope_keylog::{KeyOrigin, KeyRoad};

/// File, line and road of a key.
pub(crate) fn key_source(record: &Record, origin: &KeyOrigin) -> String {
    let road = match origin.road {
        KeyRoad::Explicit => "explicit",
        KeyRoad::Mined => "mined",
        KeyRoad::Derived => "derived",
    };
    let (path, block) = record
        .key_files
        .get(origin.file)
        .map_or(("", None), |f| (f.path.as_str(), f.block));
    format!("{} ({road})", key_place(path, block, origin.line))
}
