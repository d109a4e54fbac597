//! The main job, as a table of contents.

use crate::cli::Arguments;
use crate::copies_job::Copies;
use crate::output::{self, Reserved};
use crate::read;
use anyhow::Result;
use rekeyscope::analysis::{Analysis, KeyStatus};
use rekeyscope::error::Error;
use rekeyscope::report;
use rekeyscope::underivable::why_not_derived;
use std::path::{Path, PathBuf};

/// Columns of a report that goes into a file or a pipe.
const PIPED_WIDTH: usize = 80;

/// Reads the keys and the capture, writes the reports.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let outputs = Outputs::reserve(arguments)?;
    let copies = Copies::reserve(&arguments.input, &arguments.copies)?;
    let (analysis, ring) = read::analyze(&arguments.input, arguments.options())?;
    if let Some(choice) = arguments.tunnel {
        choice.among(&analysis.tunnels).map_err(anyhow::Error::msg)?;
    }
    let told = copies.write(&arguments.input, &analysis, &ring)?;
    outputs.write(&analysis)?;
    if !arguments.input.quiet {
        told.iter().for_each(|sentence| output::complain(sentence));
        notes(&analysis).iter().for_each(|note| output::complain(note));
        read::warn_of_others(&arguments.input, &analysis);
    }
    Ok(())
}

/// What a person should know besides the report.
fn notes(analysis: &Analysis) -> Vec<String> {
    let mut notes = Vec::new();
    let path = &analysis.capture.path;
    if analysis.capture.truncated_file {
        notes.push(format!(
            "{path} ends in the middle of a record: everything before the cut was analysed; copy the file again if \
             the rest matters"
        ));
    }
    notes.extend(analysis.key_files.iter().flat_map(|f| f.problems.iter().cloned()));
    let used: Vec<_> = analysis
        .security_associations
        .iter()
        .filter(|sa| sa.packets > 0)
        .collect();
    if used.is_empty() {
        notes.push(format!(
            "no ESP packets in {path}: capture where ESP (IP protocol 50) or UDP 4500 passes, together with UDP 500"
        ));
        return notes;
    }
    let misfits = used
        .iter()
        .filter(|sa| sa.icv.failed > 0 && sa.icv.verified == 0)
        .count();
    if misfits > 0 {
        notes.push(format!(
            "the keys given for {misfits} of {} SAs do not fit (their ICVs fail): they are of another run, or were \
             copied wrongly; those SAs count as without keys",
            used.len()
        ));
    }
    let missing = used
        .iter()
        .filter(|sa| sa.key.status != KeyStatus::Verified)
        .count();
    let c = &analysis.capture;
    if missing > misfits && 2 * c.cut_packets > c.esp_packets {
        notes.push(format!(
            "{} of {} packets are cut by the snap length: no key can check or open them, so rates are outer bytes; capture \
             whole packets (tcpdump -s 0) to see inside",
            c.cut_packets, c.packets
        ));
    } else if missing > misfits {
        notes.push(format!(
            "no key for {} of {} SAs: {}give them with --keys FILE (a Wireshark esp_sa table, or the router's log after \
             'syslog debug on' and 'ipsec ike log <gateway> key-info'); until then their rates are outer bytes",
            missing - misfits,
            used.len(),
            if strangers(analysis) { "the key files are of another run (they name none of these SPIs); " } else { "" },
        ));
        notes.extend(why_not_derived(analysis));
    }
    notes
}

/// The key files hold ESP keys, and none for an SA of this capture.
fn strangers(analysis: &Analysis) -> bool {
    analysis.key_files.iter().any(|f| f.esp_keys > 0)
        && analysis
            .security_associations
            .iter()
            .all(|sa| sa.key.status == KeyStatus::Missing)
}

/// Where the results go.
struct Outputs {
    json: Option<Target>,
    html: Option<Target>,
    csv: Option<PathBuf>,
    text: bool,
}

pub(crate) enum Target {
    Stdout,
    File(Reserved),
}

impl Target {
    pub(crate) fn new(path: &Path) -> Result<Self, Error> {
        if path.as_os_str() == "-" {
            Ok(Target::Stdout)
        } else {
            Reserved::new(path).map(Target::File)
        }
    }

    pub(crate) fn write(self, bytes: &[u8]) -> Result<()> {
        match self {
            Target::Stdout => output::to_stdout(bytes),
            Target::File(file) => Ok(file.write(bytes)?),
        }
    }
}

impl Outputs {
    fn reserve(arguments: &Arguments) -> Result<Self, Error> {
        let target = |path: &Option<PathBuf>| path.as_deref().map(Target::new).transpose();
        let files = [&arguments.json, &arguments.html];
        files
            .into_iter()
            .flatten()
            .try_for_each(|path| arguments.input.spare(path))?;
        let (json, html) = (target(&arguments.json)?, target(&arguments.html)?);
        if let Some(dir) = &arguments.csv {
            std::fs::create_dir_all(dir).map_err(|source| Error::Output {
                path: dir.clone(),
                source,
            })?;
        }
        let text = !matches!(json, Some(Target::Stdout)) && !matches!(html, Some(Target::Stdout));
        Ok(Outputs {
            json,
            html,
            csv: arguments.csv.clone(),
            text,
        })
    }

    fn write(self, analysis: &Analysis) -> Result<()> {
        if self.text {
            output::to_stdout(report::text::render(analysis, text_options()).as_bytes())?;
        }
        if let Some(json) = self.json {
            let mut bytes = serde_json::to_vec_pretty(analysis)?;
            bytes.push(b'\n');
            json.write(&bytes)?;
        }
        if let Some(html) = self.html {
            html.write(report::html::render(analysis).as_bytes())?;
        }
        if let Some(dir) = self.csv {
            for (name, bytes) in report::csv::render(analysis) {
                Reserved::new(&dir.join(name))?.write(&bytes)?;
            }
        }
        Ok(())
    }
}

pub(crate) fn text_options() -> report::text::TextOptions {
    let terminal = console::Term::stdout();
    let width = if terminal.is_term() {
        usize::from(terminal.size().1)
    } else {
        PIPED_WIDTH
    };
    let plain = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
    report::text::TextOptions {
        width,
        color: terminal.is_term() && !plain,
    }
}
