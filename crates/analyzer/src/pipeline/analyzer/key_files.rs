//! The key files as the document lists them.

use crate::pipeline::record::key_place;
use rekeyscope_keylog::{KeyFileInfo, KeyMaterial};
use rekeyscope_model::analysis::KeyFile;

/// One entry for each file, in the order of the files.
pub(super) fn key_files(keys: &KeyMaterial) -> Vec<KeyFile> {
    let describe = |(index, file): (usize, &KeyFileInfo)| KeyFile {
        path: file.path.display().to_string(),
        block: file.block,
        formats: file.formats.iter().map(|f| (*f).to_string()).collect(),
        esp_keys: keys
            .esp
            .iter()
            .filter(|k| k.origin.file == index && k.defect.is_none())
            .count() as u64,
        ike_keys: keys.ike.iter().filter(|k| k.origin.file == index).count() as u64,
        problems: keys
            .problems
            .iter()
            .filter(|p| p.file == index)
            .map(|p| {
                let place = key_place(&file.path.to_string_lossy(), file.block, p.line);
                format!("{place}: {}", p.sentence)
            })
            .collect(),
    };
    keys.files.iter().enumerate().map(describe).collect()
}
