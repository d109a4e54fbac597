//! **Synthetic** frames through the whole pipeline.

use crate::support::assert_answer_is_short;
use rekeyscope::assembly::{Asked, assemble};
use rekeyscope::pipeline::{Analyzer, Options};
use rekeyscope_capture::file::{CaptureInfo, Frame, LinkType};
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::analysis::Analysis;

/// Frames of one link type, 1 ms apart, fed to the analyzer.
pub(crate) fn analyze_frames(link_type: u16, frames: &[Vec<u8>], keys: &str) -> Analysis {
    analyze_with(Options::default(), link_type, frames, keys)
}

pub(crate) fn analyze_with(options: Options, link_type: u16, frames: &[Vec<u8>], keys: &str) -> Analysis {
    let mut material = KeyMaterial::default();
    material.read_bytes("synthetic keys".as_ref(), keys.as_bytes());
    let mut analyzer = Analyzer::new(options, material);
    for (index, frame) in frames.iter().enumerate() {
        analyzer.push(&Frame {
            number: index as u64 + 1,
            time: rekeyscope_model::time::Timestamp(1_800_000_000_000_000_000 + index as i64 * 1_000_000),
            link_type: LinkType(link_type),
            original_len: frame.len() as u32,
            data: frame,
            block: None,
        });
    }
    let info = CaptureInfo {
        format: rekeyscope_model::analysis::CaptureFormat::Pcap,
        link_types: vec![LinkType(link_type)],
        truncated: false,
        dropped_reported: None,
    };
    let analysis = assemble(&analyzer.finish(), &info, &Asked::of("synthetic.pcap"));
    assert_answer_is_short(&analysis);
    analysis
}

/// How often a diagnostic of this kind and layer was counted.
pub(crate) fn counted(analysis: &Analysis, kind: &str, layer: &str) -> u64 {
    analysis
        .diagnostics
        .iter()
        .filter(|d| d.kind == kind && d.layer == layer)
        .map(|d| d.count)
        .sum()
}
