//! Capture and keys → analysis, the same for every job.

use crate::command::options::Input;
use crate::command::output;
use crate::command::progress::Progress;
use rekeyscope::assembly::{self, Asked};
use rekeyscope::pipeline::spi_scan::spis_of;
use rekeyscope::pipeline::{Analyzer, Options};
use rekeyscope::write::key_ring::KeyRing;
use rekeyscope_capture::file::CaptureReader;
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::error::Error;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::text::Message;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// Reads the keys, then the capture.
pub(crate) fn analyze(input: &Input, options: Options) -> Result<(Analysis, KeyRing), Error> {
    let options = Options {
        esp_ports: input.esp_port.clone(),
        ..options
    };
    let (keys, pre_shared_keys, unreadable) = read_keys(input)?;
    let mut reader = open(&input.capture, input.reads_stdin())?;
    let size = std::fs::metadata(&input.capture)
        .ok()
        .filter(std::fs::Metadata::is_file)
        .map(|m| m.len());
    let mut progress = Progress::new(size, std::io::stderr().is_terminal());
    let mut analyzer = Analyzer::with_pre_shared_keys(options, keys, pre_shared_keys);
    let mut container = Default::default();
    while let Some(frame) = reader.next_frame(&mut container)? {
        analyzer.push(&frame);
        progress.tick(|| reader.position());
    }
    progress.finish();
    analyzer.diagnostics_mut().absorb(container);
    for error in unreadable {
        if !input.quiet {
            output::complain(&format!("{error}; going on without it"));
        }
        let sentence = || Message::new("oddity-key-file");
        analyzer
            .diagnostics_mut()
            .count("key_file_unreadable", "keys", None, sentence);
    }
    let asked = Asked {
        path: input.capture.to_string_lossy().into_owned(),
        no_keys: input.no_keys,
        psk_files: input.psk_file.iter().map(|f| f.display().to_string()).collect(),
    };
    let record = analyzer.finish();
    let analysis = assembly::assemble(&record, reader.info(), &asked);
    Ok((analysis, KeyRing::new(&record)))
}

/// The keys, and what kept files from being read that nobody asked for: those only are left out.
fn read_keys(input: &Input) -> Result<(KeyMaterial, Vec<SecretBytes>, Vec<Error>), Error> {
    let beside = match () {
        () if input.no_keys || !input.keys.is_empty() || input.reads_stdin() => Vec::new(),
        () => rekeyscope_keylog::find_beside(&input.capture),
    };
    let read_into = |keys: &mut KeyMaterial| {
        input.keys.iter().try_for_each(|file| keys.read(file))?;
        Ok(beside.iter().filter_map(|file| keys.read(file).err()).collect())
    };
    let mut keys = KeyMaterial::default();
    let mut unreadable = read_into(&mut keys)?;
    if keys.overflowed() && is_file(&input.capture) {
        // A log of years: only the SPIs of the capture say which rows matter.
        keys = KeyMaterial::only_for(spis_of(CaptureReader::open(&input.capture)?)?);
        unreadable = read_into(&mut keys)?;
    }
    let psks: Result<Vec<_>, _> = input
        .psk_file
        .iter()
        .map(|f| rekeyscope_keylog::read_pre_shared_key(f))
        .collect();
    let psks = psks?;
    Ok((keys, psks, unreadable))
}

/// A pipe can be read only once.
fn is_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|m| m.is_file())
}

/// One sentence for all files with keys in them that other users of the machine can read.
pub(crate) fn warn_of_others(input: &Input, analysis: &Analysis) {
    let with_keys = analysis
        .key_files
        .iter()
        .filter(|f| f.esp_keys + f.ike_keys > 0)
        .map(|f| PathBuf::from(&f.path));
    let open: Vec<String> = with_keys
        .chain(input.psk_file.clone())
        .filter(|file| others_have_access(file))
        .map(|file| file.display().to_string())
        .collect();
    let (shown, rest) = open.split_at(open.len().min(3));
    let more = if rest.is_empty() { "" } else { " and others" };
    if !shown.is_empty() {
        output::complain(&format!(
            "other users of this machine can read the keys in {}{more}: chmod 600 keeps them private",
            shown.join(", ")
        ));
    }
}

/// Whether group or others have any right to a regular file. (A pipe of the shell is nobody else's.)
#[cfg(unix)]
fn others_have_access(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o077 != 0)
}

/// Access lists are not looked into.
#[cfg(not(unix))]
fn others_have_access(_: &Path) -> bool {
    false
}

fn open(path: &Path, stdin: bool) -> Result<CaptureReader, Error> {
    if stdin {
        CaptureReader::from_stream(Box::new(std::io::stdin()), "-")
    } else {
        CaptureReader::open(path)
    }
}
