//! `--parquet`: a file per table and capture, named by the capture's content, in Hive partitions. A file appears under its name only
//! when it is complete, and a second run on the same capture replaces it: nothing is lost, nothing is there twice. Equal captures of one
//! gateway share their rows, but for those of the table of captures: each has its own there.

use crate::command::options::OutputArguments;
use crate::command::output::{Reserved, folder};
use crate::command::replace::Replacement;
use anyhow::{Context, Result};
use rekeyscope::write::copies::output_error;
use rekeyscope_model::analysis::Analysis;
use rekeyscope_model::error::Error;
use rekeyscope_model::time::NANOS_PER_SECOND;
use rekeyscope_report::columns::{self, FleetTable, Origin, TABLES};
use sha2::{Digest, Sha256};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The folder of a value that is not known, as Hive has it.
const UNKNOWN: &str = "__HIVE_DEFAULT_PARTITION__";

/// Places of the tables.
pub(crate) struct FleetTables {
    dir: PathBuf,
    gateway: Option<String>,
    replacement: Replacement,
}

impl FleetTables {
    /// Makes the folder, where tables are wanted.
    pub(crate) fn reserve(
        arguments: &OutputArguments,
        replacement: &Replacement,
    ) -> Result<Option<Self>, Error> {
        let Some(dir) = arguments.parquet.clone() else {
            return Ok(None);
        };
        folder(&dir)?;
        let gateway = arguments.gateway.clone();
        let replacement = replacement.clone();
        Ok(Some(FleetTables {
            dir,
            gateway,
            replacement,
        }))
    }

    /// Writes all tables, that of the captures last: a capture in it is complete.
    pub(crate) fn write(self, analysis: &Analysis) -> Result<()> {
        let path = &analysis.capture.path;
        let capture = analysis.capture.sha256.clone().with_context(|| {
            format!(
                "the analysis of {path} does not say the digest of its capture: analyse that with --parquet"
            )
        })?;
        let first = analysis.capture.first_time;
        let origin = Origin {
            capture: Some(capture.clone()),
            day: first.and_then(|time| i32::try_from(time.0.div_euclid(86_400 * NANOS_PER_SECOND)).ok()),
            gateway: self.gateway.clone().unwrap_or_else(|| gateway_of(analysis)),
            uri: uri_of(Path::new(path)),
            problem: analysis
                .capture
                .files
                .iter()
                .find_map(|file| file.problem.clone()),
        };
        let day = first.map_or(UNKNOWN.into(), |time| {
            time.to_string().chars().take(10).collect::<String>()
        });
        for table in TABLES.iter().rev() {
            let name = match table.name {
                CAPTURES => format!("{capture}-{}", short_digest(&origin.uri)),
                _ => capture.clone(),
            };
            let path = self.place(table.name, &day, &origin.gateway, &name);
            if table.is_of(analysis) {
                self.write_one(table, &path, &origin, Some(analysis))?;
            } else {
                without(&path)?;
            }
        }
        without(&self.place_of_a_failure(&origin.uri))
    }

    /// Writes the row of a capture that could not be analysed.
    pub(crate) fn write_failure(self, capture: &Path, problem: &str) -> Result<()> {
        let uri = uri_of(capture);
        let path = self.place_of_a_failure(&uri);
        let origin = Origin {
            capture: None,
            day: None,
            gateway: self.gateway_given().into(),
            uri,
            problem: Some(problem.into()),
        };
        let mut captures = TABLES.iter().filter(|table| table.name == CAPTURES);
        captures.try_for_each(|table| self.write_one(table, &path, &origin, None))
    }

    fn gateway_given(&self) -> &str {
        self.gateway.as_deref().unwrap_or("unknown")
    }

    fn place_of_a_failure(&self, uri: &str) -> PathBuf {
        self.place(CAPTURES, UNKNOWN, self.gateway_given(), &short_digest(uri))
    }

    fn place(&self, table: &str, day: &str, gateway: &str, name: &str) -> PathBuf {
        let folder = self.dir.join(table).join(format!("day={day}"));
        let folder = folder.join(format!("gateway={}", in_a_path(gateway)));
        folder.join(format!("{name}.parquet"))
    }

    fn write_one(
        &self,
        table: &FleetTable,
        path: &Path,
        origin: &Origin,
        analysis: Option<&Analysis>,
    ) -> Result<()> {
        path.parent().map_or(Ok(()), folder)?;
        let failed = |error| output_error(path)(std::io::Error::other(error));
        let place = Reserved::new(path, &self.replacement)?;
        place.fill(|file| columns::write(table, analysis, origin, file).map_err(failed))?;
        Ok(())
    }
}

/// The table with a row for each capture, analysed or not.
const CAPTURES: &str = "captures";

/// The name of a capture from any folder; `-` of standard input.
fn uri_of(path: &Path) -> String {
    let absolute = std::path::absolute(path).ok().filter(|_| path.as_os_str() != "-");
    absolute
        .unwrap_or_else(|| path.into())
        .to_string_lossy()
        .into_owned()
}

/// The begin of the digest of a text that is no name of a file: equal captures have a row each by their URIs.
pub(super) fn short_digest(text: &str) -> String {
    let bytes = Sha256::digest(text);
    bytes.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Removes what an earlier analysis of this capture wrote that this one does not have.
fn without(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => Err(output_error(path)(source).into()),
        _ => Ok(()),
    }
}

/// The responder of the tunnel that the headline speaks of.
fn gateway_of(analysis: &Analysis) -> String {
    let busiest = analysis.impact.first().map_or(0, |impact| impact.tunnel);
    let tunnel = analysis.tunnels.iter().find(|tunnel| tunnel.id == busiest);
    tunnel.map_or("unknown".into(), |tunnel| tunnel.b.to_string())
}

/// A value as Hive writes it into a path: what could mean something there as `%` and two digits.
fn in_a_path(value: &str) -> String {
    if value.is_empty() {
        return UNKNOWN.into();
    }
    let shown = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    let path: String = value.bytes().map(shown).collect();
    // Not the folder above.
    if path.bytes().all(|byte| byte == b'.') {
        path.replace('.', "%2E")
    } else {
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gateway_is_one_folder_whatever_its_name() {
        for (name, folder) in [
            ("tokyo-1", "tokyo-1"),
            ("2001:db8::1", "2001%3Adb8%3A%3A1"),
            ("../../etc", "..%2F..%2Fetc"),
            ("..", "%2E%2E"),
            ("東京", "%E6%9D%B1%E4%BA%AC"),
            ("", UNKNOWN),
        ] {
            assert_eq!(in_a_path(name), folder);
        }
    }
}
