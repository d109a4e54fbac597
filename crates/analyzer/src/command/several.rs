//! Several captures or documents in one run: a report of each, and an index with a line per capture.

use crate::command::options::{OutputArguments, OutputFormat};
use crate::command::output::{self, Reserved};
use crate::command::outputs::{Outputs, folder, json_of, text_options};
use anyhow::Result;
use rekeyscope_model::analysis::Analysis;
use rekeyscope_report::formats::index::{self, Entry};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The name of the index in its folder; no report is called so.
const INDEX: &str = "index";

/// Reads every input with `read`, writes its reports, then the index. An input that cannot be read is told, stands in
/// the index, and does not keep the others from being read: the exit status is 1 then.
pub(crate) fn run(
    inputs: &[PathBuf],
    outputs: &OutputArguments,
    read: impl Fn(&Path) -> Result<Analysis>,
) -> Result<ExitCode> {
    let index = outputs.html.as_deref().filter(|p| p.as_os_str() != "-");
    let folders = [&outputs.json, &outputs.csv, &outputs.svg, &outputs.png];
    let folders = folders.into_iter().flatten().map(PathBuf::as_path).chain(index);
    folders.filter(|p| p.as_os_str() != "-").try_for_each(folder)?;
    let index = index
        .map(|dir| Reserved::new(&dir.join(format!("{INDEX}.html"))))
        .transpose()?;
    let language = outputs.lang.language();
    let mut names = HashSet::from([INDEX.to_string()]);
    let mut status = ExitCode::SUCCESS;
    let mut entries = Vec::new();
    // Documents go out one by one: all of them at once may not fit into memory.
    let as_array = outputs.on_stdout() == OutputFormat::Json;
    let mut before = "[\n";
    for input in inputs {
        let name = unused(&mut names, &index::file_name(input));
        let places = Outputs::reserve(&outputs.of_one(&name), true)?;
        match read(input) {
            Ok(analysis) => {
                if as_array {
                    output::to_stdout(before.as_bytes())?;
                    output::to_stdout(json_of(&analysis)?.trim_ascii_end())?;
                    before = ",\n";
                }
                places.write(&analysis)?;
                entries.push(Entry::new(&analysis, &format!("{name}.html"), language));
            }
            Err(error) => {
                output::complain(&error.to_string());
                entries.push(Entry::unreadable(
                    &input.to_string_lossy(),
                    &error.to_string(),
                    language,
                ));
                status = ExitCode::FAILURE;
            }
        }
    }
    if let Some(file) = index {
        file.write(index::html(&entries, language).as_bytes())?;
    }
    let text = match outputs.on_stdout() {
        OutputFormat::Json if before.starts_with(',') => "\n]\n".into(),
        OutputFormat::Json => "[]\n".into(),
        OutputFormat::Text => index::text(&entries, text_options(language)),
        OutputFormat::Html => index::html(&entries, language),
        OutputFormat::Csv => index::csv(&entries),
        OutputFormat::Markdown => index::markdown(&entries, language),
    };
    output::to_stdout(text.as_bytes())?;
    Ok(status)
}

/// The name, or the name with the first number that makes it new.
fn unused(names: &mut HashSet<String>, name: &str) -> String {
    let numbered = (2..).map(|n| format!("{name}-{n}"));
    let free = std::iter::once(name.to_string())
        .chain(numbered)
        .find(|n| !names.contains(&n.to_lowercase()));
    let free = free.unwrap_or_default();
    // Some file systems do not tell upper from lower case.
    names.insert(free.to_lowercase());
    free
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_apart() {
        let mut names = HashSet::from([INDEX.to_string()]);
        let given = ["trace", "Trace", "index", "trace"].map(|n| unused(&mut names, n));
        assert_eq!(given, ["trace", "Trace-2", "index-2", "trace-3"]);
    }
}
