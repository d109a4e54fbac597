//! `rekeyscope keys`: which SA has a key, what is missing; and the keys as tables of other programs.

use crate::command::options::{Export, KeysArguments};
use crate::command::output::{self, Reserved};
use crate::command::replace::Replacement;
use crate::command::{outputs, read};
use anyhow::Result;
use rekeyscope::pipeline::Options;
use rekeyscope::write::export::{claims, tcpdump, wireshark};
use rekeyscope::write::key_ring::KeyRing;
use rekeyscope_keylog::KeyMaterial;
use rekeyscope_model::error::Error;
use rekeyscope_model::secret::SecretBytes;
use rekeyscope_report::formats;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Prints the report and writes the exports.
pub(crate) fn run(arguments: &KeysArguments) -> Result<ExitCode> {
    if arguments.claims {
        return write_claims(arguments);
    }
    arguments.input.share_cores();
    let read = arguments.input.everything_read();
    // The former table is kept beside the new one (`keep_former`): nothing is lost.
    let replacement = Replacement::new(&read, true);
    let exports = reserve(arguments, &replacement)?;
    let (analysis, ring) = read::analyze(&arguments.input, Options::default())?;
    let problems: Vec<String> = read::problems(&analysis).collect();
    let read_whole = problems.is_empty();
    problems.into_iter().for_each(output::note);
    let mut told = Vec::new();
    let shows_rows = exports.iter().any(|place| place.export == Export::WiresharkRows);
    let writes_keys = exports.len() > usize::from(shows_rows);
    for place in exports {
        told.extend(place.write(&ring, &replacement)?);
    }
    if shows_rows {
        // The report, which says so, is not shown.
        let problems = analysis.key_files.iter().flat_map(|file| &file.problems);
        told.extend(problems.take(claims::MOST_PROBLEMS).cloned());
    } else {
        let text = formats::keys::render(
            &analysis,
            ring.mining,
            outputs::text_options(arguments.lang.language()),
        );
        output::to_stdout(text.as_bytes())?;
    }
    if !arguments.input.quiet {
        told.into_iter().for_each(output::note);
        if cfg!(windows) && writes_keys {
            output::note(RIGHTS_OF_THE_FOLDER.into());
        }
        read::warn_of_others(&arguments.input, &analysis);
    }
    Ok(output::status(read_whole))
}

fn reserve<'a>(arguments: &'a KeysArguments, replacement: &Replacement) -> Result<Vec<ExportPlace<'a>>> {
    let exports = arguments.exports()?.into_iter();
    let places = exports.map(|export| ExportPlace::reserve(export, replacement));
    Ok(places.collect::<Result<_, Error>>()?)
}

/// Windows alone needs this advice; the other systems get files that only their owner can read.
const RIGHTS_OF_THE_FOLDER: &str = "on Windows the exported keys are as readable as their folder is: below your user folder that is you and the \
     administrators; elsewhere 'icacls FILE /inheritance:r /grant:r %USERNAME%:F' makes it so";

/// The keys that files name, without a capture: for programs that have the capture themselves.
fn write_claims(arguments: &KeysArguments) -> Result<ExitCode> {
    let files = arguments.files();
    let replacement = Replacement::new(&files, true);
    let exports = reserve(arguments, &replacement)?;
    let mut material = KeyMaterial::default();
    files.iter().try_for_each(|file| material.read(file))?;
    let mut told = Vec::new();
    for place in exports {
        told.extend(place.write_tables(&claims::tables(&material), &replacement)?);
    }
    if !arguments.input.quiet {
        told.into_iter().for_each(output::note);
    }
    Ok(ExitCode::SUCCESS)
}

/// An export with its files, made sure of before the work starts.
struct ExportPlace<'a> {
    export: Export<'a>,
    files: Vec<(PathBuf, Reserved)>,
}

impl<'a> ExportPlace<'a> {
    fn reserve(export: Export<'a>, replacement: &Replacement) -> Result<Self, Error> {
        let paths = match export {
            Export::Wireshark(folder) => wireshark::NAMES.map(|name| folder.join(name)).to_vec(),
            Export::WiresharkRows => Vec::new(),
            Export::Tcpdump(path) => vec![path.to_path_buf()],
        };
        paths.iter().try_for_each(|path| replacement.permits(path))?;
        if let Export::Wireshark(folder) = export {
            output::private_folder(folder)?;
        }
        let reserve = |path: PathBuf| {
            let place = Reserved::secret(&path, replacement)?;
            Ok((path, place))
        };
        let files = paths.into_iter().map(reserve).collect::<Result<_, Error>>()?;
        Ok(ExportPlace { export, files })
    }

    /// Writes, and says what a person should know.
    fn write(self, ring: &KeyRing, replacement: &Replacement) -> Result<Vec<String>> {
        if let Export::Tcpdump(path) = self.export {
            let made = tcpdump::secrets_file(ring);
            let mut told = vec![format!("wrote {} SAs to {}", made.rows, path.display())];
            told.extend(self.write_files(&[&made.text], replacement)?);
            told.extend(made.notes);
            return Ok(told);
        }
        self.write_tables(&wireshark::tables(ring), replacement)
    }

    /// Writes the tables of Wireshark.
    fn write_tables(self, made: &wireshark::Tables, replacement: &Replacement) -> Result<Vec<String>> {
        let texts = made.texts();
        let mut told = Vec::new();
        if let Export::Wireshark(folder) = self.export {
            let plural = |n| if n == 1 { "" } else { "s" };
            told.push(format!(
                "wrote {} SA{} and {} IKE SA{} to the tables in {}",
                made.esp_rows,
                plural(made.esp_rows),
                made.ike_rows,
                plural(made.ike_rows),
                folder.display()
            ));
            told.extend(self.write_files(&texts, replacement)?);
        } else {
            texts
                .iter()
                .try_for_each(|text| output::to_stdout(text.expose()))?;
        }
        told.extend(made.notes.iter().cloned());
        Ok(told)
    }

    fn write_files(self, texts: &[&SecretBytes], replacement: &Replacement) -> Result<Vec<String>, Error> {
        let mut told = Vec::new();
        for ((path, place), text) in self.files.into_iter().zip(texts) {
            if text.is_empty() && std::fs::metadata(&path).is_ok_and(|m| m.len() > 0) {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                told.push(format!(
                    "{name} was left as it is: there is nothing to put into it"
                ));
                continue;
            }
            told.extend(keep_former(&path, text, replacement)?);
            place.write(text.expose())?;
        }
        Ok(told)
    }
}

/// `NAME.before`, or `NAME.before.2`, `.3`, …: what an earlier export kept is never overwritten.
fn free_name(path: &Path) -> PathBuf {
    let numbered = |n: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(if n == 1 {
            ".before".to_owned()
        } else {
            format!(".before.{n}")
        });
        PathBuf::from(name)
    };
    (1..)
        .map(numbered)
        .find(|name| !name.exists())
        .unwrap_or_else(|| numbered(1))
}

/// A table of the user's own, with other rows, stays beside the new one.
fn keep_former(path: &Path, new: &SecretBytes, replacement: &Replacement) -> Result<Option<String>, Error> {
    let Ok(former) = std::fs::read(path).map(SecretBytes::new) else {
        return Ok(None);
    };
    if former.is_empty() || former == *new {
        return Ok(None);
    }
    let kept = free_name(path);
    Reserved::secret(&kept, replacement)?.write(former.expose())?;
    Ok(Some(format!(
        "{} had other rows: they are kept in {}",
        path.display(),
        kept.display()
    )))
}
