//! Capture and keys → analysis, the same for every job.

use crate::command::digest::{CaptureDigest, HashedStream};
use crate::command::options::Input;
use crate::command::output;
use crate::command::packets::PacketSource;
use crate::command::progress::Progress;
use crate::command::sources::NamedCapture;
use rekeyscope::assembly::{self, Asked};
use rekeyscope::pipeline::spi_scan::spis_of;
use rekeyscope::pipeline::{Analyzer, Options};
use rekeyscope::write::key_ring::KeyRing;
use rekeyscope_capture::file::{CaptureReader, EspSecrets};
use rekeyscope_impact::two_points::PointTrace;
use rekeyscope_keylog::{KeyFileInfo, KeyMaterial};
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::diagnostic::Diagnostics;
use rekeyscope_model::error::Error;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_model::spi::Spi;
use rekeyscope_model::text::{Catalogue, Language, Message};
use rekeyscope_report::words::answer_lines;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Reads the keys, then the capture.
pub(crate) fn analyze(input: &Input, options: Options) -> Result<(Analysis, KeyRing), Error> {
    analyze_beside(input, options, None)
}

/// The packets that another capture of the same tunnels saw. Only its own counters, headers and times matter: there are no keys to look for. Where it
/// cannot be read to its end, what was read counts.
pub(crate) fn other_point(
    source: &NamedCapture,
    input: &Input,
    options: &Options,
) -> Result<PointTrace, Error> {
    let other = Input {
        keys: Vec::new(),
        no_keys: true,
        psk_file: Vec::new(),
        wants_digest: false,
        ..input.of(source)
    };
    // The other point may number its tunnels differently and, behind a NAT, see other addresses.
    let options = Options {
        tunnel: None,
        esp_ports: input.esp_port.clone(),
        ..options.clone()
    };
    let mut opened = OpenedCapture::new(&other, None)?;
    let mut analyzer = Analyzer::new(options, KeyMaterial::default());
    if let Err(error) = opened.pass(&mut analyzer, false) {
        output::note(format!("{error}; what was read before that is compared"));
    }
    let mut record = analyzer.finish();
    Ok(assembly::point_trace(
        &mut record,
        opened.reader.info(),
        &source.name.to_string_lossy(),
        opened.reader.pieces(),
    ))
}

/// Analyses a capture, compared with another capture point where there is one.
pub(crate) fn analyze_beside(
    input: &Input,
    options: Options,
    other: Option<&PointTrace>,
) -> Result<(Analysis, KeyRing), Error> {
    let options = Options {
        esp_ports: input.esp_port.clone(),
        ..options
    };
    let digest = CaptureDigest::begin(input)?;
    let mut opened = OpenedCapture::new(input, digest.as_ref().and_then(CaptureDigest::stream))?;
    let mut secrets = opened.in_front()?;
    let mut keys = read_keys(input, &secrets)?;
    let mut analyzer = Analyzer::with_pre_shared_keys(options.clone(), keys.material, keys.pre_shared);
    let can_repeat = input.can_be_read_again();
    opened.pass(&mut analyzer, can_repeat && !input.no_keys)?;
    let between = !input.no_keys && opened.reader.has_secrets();
    if between && can_repeat {
        // Keys between the packets, or behind them, are for all of them.
        secrets.extend(opened.behind()?);
        opened = OpenedCapture::new(input, None)?;
        keys = read_keys(input, &secrets)?;
        analyzer = Analyzer::with_pre_shared_keys(options, keys.material, keys.pre_shared);
        opened.pass(&mut analyzer, false)?;
    }
    let OpenedCapture {
        reader, container, ..
    } = opened;
    let diagnostics = analyzer.diagnostics_mut();
    diagnostics.absorb(container);
    if between && !can_repeat {
        let late = Message::new("oddity-late-secrets");
        if !input.quiet {
            output::note(Catalogue::of(Language::English).say(&late));
        }
        diagnostics.count("late_secrets", "pcapng", None, || late);
    }
    if !input.quiet {
        keys.without_logs.into_iter().for_each(output::note);
    }
    for error in keys.unreadable {
        if !input.quiet {
            output::note(format!("{error}; going on without it"));
        }
        let sentence = || Message::new("oddity-key-file");
        diagnostics.count("key_file_unreadable", "keys", None, sentence);
    }
    let unread = reader
        .pieces()
        .iter()
        .filter(|piece| piece.problem.is_some())
        .count();
    if unread > 0 {
        let sentence = || Message::new("oddity-files-not-read").with("files", unread);
        diagnostics.count("files_not_read", "capture", None, sentence);
    }
    let asked = Asked {
        pieces: reader.pieces().to_vec(),
        sha256: digest.map(|digest| digest.finish(&input.capture)).transpose()?,
        ..input.asked()
    };
    let mut record = analyzer.finish();
    let analysis = assembly::assemble(&record, reader.info(), &asked);
    let analysis = match other {
        Some(other) => {
            let here = assembly::point_trace(&mut record, reader.info(), &asked.path, &asked.pieces);
            assembly::with_two_points(analysis, &here, other)
        }
        None => analysis,
    };
    let analysis = Analysis {
        answer: Some(answer_lines(&analysis)),
        ..analysis
    };
    Ok((analysis, KeyRing::new(&record)))
}

/// Why files of joined captures were not read, also of the other point.
pub(crate) fn problems(analysis: &Analysis) -> impl Iterator<Item = String> {
    let other = analysis.two_points.iter().flat_map(|points| &points.files);
    let files = analysis.capture.files.iter().chain(other);
    files.filter_map(|file| file.problem.clone())
}

/// A capture that was opened, and what its container said so far.
struct OpenedCapture {
    reader: PacketSource,
    container: Diagnostics,
    /// Bytes to read, where known.
    size: Option<u64>,
    shows_progress: bool,
}

impl OpenedCapture {
    fn new(input: &Input, hashed: Option<HashedStream>) -> Result<Self, Error> {
        let mut reader = PacketSource::open(input, hashed)?;
        if input.can_be_read_again() && rayon::current_num_threads() > 1 {
            reader.read_ahead();
        }
        Ok(OpenedCapture {
            reader,
            container: Diagnostics::default(),
            size: input.size(),
            shows_progress: !input.beside_others,
        })
    }

    /// The keys before the first packet.
    fn in_front(&mut self) -> Result<Vec<EspSecrets>, Error> {
        self.reader.look_ahead(&mut self.container)?;
        Ok(self.reader.take_secrets())
    }

    /// Hands the packets over, where `until_secrets` until keys come up.
    fn pass(&mut self, analyzer: &mut Analyzer, until_secrets: bool) -> Result<(), Error> {
        let mut progress = Progress::new(self.size, self.shows_progress);
        while !(until_secrets && self.reader.has_secrets())
            && let Some(frame) = self.reader.next_frame(&mut self.container)?
        {
            analyzer.push(&frame);
            progress.tick(|| self.reader.position());
        }
        Ok(())
    }

    /// The keys from here to the end.
    fn behind(&mut self) -> Result<Vec<EspSecrets>, Error> {
        while self.reader.next_frame(&mut self.container)?.is_some() {}
        Ok(self.reader.take_secrets())
    }
}

/// Keys of a capture.
pub(crate) struct CaptureKeys {
    pub(crate) material: KeyMaterial,
    pub(crate) pre_shared: Vec<SecretBytes>,
    /// Errors of files that nobody asked for: those only are left out.
    pub(crate) unreadable: Vec<Error>,
    /// Sentences about folders that were named and hold no key log.
    pub(crate) without_logs: Vec<String>,
}

/// Reads the key files, then the keys inside the capture.
pub(crate) fn read_keys(input: &Input, secrets: &[EspSecrets]) -> Result<CaptureKeys, Error> {
    let beside = input.keys_found();
    let read_into = |keys: &mut KeyMaterial| {
        input.keys.iter().try_for_each(|file| keys.read(file))?;
        let unreadable = beside.iter().filter_map(|file| keys.read(file).err()).collect();
        for s in secrets.iter().filter(|_| !input.no_keys) {
            keys.read_block(&input.capture, s.block, s.rows.expose());
        }
        Ok(unreadable)
    };
    let mut keys = KeyMaterial::default();
    let mut unreadable = read_into(&mut keys)?;
    if keys.overflowed() && input.can_be_read_again() {
        // A log of years: only the SPIs of the capture say which rows matter.
        keys = KeyMaterial::only_for(spis(input)?);
        unreadable = read_into(&mut keys)?;
    }
    let psks: Result<Vec<_>, _> = input
        .psk_file
        .iter()
        .map(|f| rekeyscope_keylog::read_pre_shared_key(f))
        .collect();
    let folders = input.keys.iter().filter(|path| path.is_dir());
    let without_logs = folders.filter_map(|folder| without_log(folder, &keys));
    Ok(CaptureKeys {
        without_logs: without_logs.collect(),
        material: keys,
        pre_shared: psks?,
        unreadable,
    })
}

/// Words the warning about a folder in which no file is a key log. Logs in folders below it are not looked for.
fn without_log(folder: &Path, keys: &KeyMaterial) -> Option<String> {
    let is_inside = |file: &KeyFileInfo| file.path.parent() == Some(folder);
    let is_log = keys
        .files
        .iter()
        .any(|file| is_inside(file) && !file.formats.is_empty());
    // Hex that no format knows may be a key.
    let mut places = keys
        .blobs
        .iter()
        .filter_map(|blob| keys.files.get(blob.origin.file));
    if is_log || places.any(is_inside) {
        return None;
    }
    let folder = folder.display();
    Some(format!(
        "no key log is among the files of the folder {folder}: give --keys the folder or the file that has the router's or IKE daemon's log"
    ))
}

/// The SPIs in the capture; a piece that cannot be read has none.
fn spis(input: &Input) -> Result<HashSet<Spi>, Error> {
    if input.pieces.is_empty() {
        return spis_of(CaptureReader::open(&input.capture)?);
    }
    let readers = input.files().filter_map(|file| CaptureReader::open(file).ok());
    Ok(readers
        .filter_map(|reader| spis_of(reader).ok())
        .flatten()
        .collect())
}

/// Warns in one sentence of all files with keys that other users of the machine can read. Only `rekeyscope keys` says it: under every
/// report the same sentence would be read by nobody.
pub(crate) fn warn_of_others(input: &Input, analysis: &Analysis) {
    let with_keys = analysis
        .key_files
        .iter()
        .filter(|f| f.esp_keys.max(f.ike_keys) > 0)
        .map(|f| PathBuf::from(&f.path));
    let mut open: Vec<String> = with_keys
        .chain(input.psk_file.clone())
        .filter(|file| others_have_access(file) && !is_of_a_sample(&input.capture, file))
        .map(|file| file.display().to_string())
        .collect();
    // A capture with several blocks of keys.
    open.dedup();
    let (shown, rest) = open.split_at(open.len().min(3));
    let more = if rest.is_empty() { "" } else { " and others" };
    if !shown.is_empty() {
        output::note(format!(
            "other users of this machine can read the keys in {}{more}: chmod 600 keeps them private",
            shown.join(", ")
        ));
    }
}

/// A file is a sample's beside a capture whose ground truth lies there too (`STEM.truth.json`): that holds the same keys, for
/// everyone to read.
fn is_of_a_sample(capture: &Path, file: &Path) -> bool {
    file.parent() == capture.parent() && capture.with_extension("truth.json").is_file()
}

/// Group or others have a right to a regular file. (A pipe of the shell is nobody else's.)
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
