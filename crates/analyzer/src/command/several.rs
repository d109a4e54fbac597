//! Several captures or documents in one run: a report of each, and an index with a line per capture.

use crate::command::options::{OutputArguments, OutputFormat};
use crate::command::output::{self, Reserved};
use crate::command::outputs::{self, Outputs, json_of, text_options};
use crate::command::replace::Replacement;
use anyhow::Result;
use rekeyscope_model::analysis::Analysis;
use rekeyscope_report::formats::index::{self, Entry};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The name of the index in its folder; no report is called so.
const INDEX: &str = "index";

/// Reads every input with `read`, as many at a time as there are cores, writes its reports, then the index. An input that cannot be
/// read is told, stands in the index, and does not keep the others from being read: the exit status is 1 then.
pub(crate) fn run<I: Sync>(
    inputs: &[I],
    name_of: impl Fn(&I) -> &Path,
    (outputs, replacement): (&OutputArguments, &Replacement),
    read: impl Fn(&I) -> Result<Analysis> + Sync,
) -> Result<ExitCode> {
    let index = outputs.html.as_deref().filter(|p| p.as_os_str() != "-");
    let folders = [&outputs.json, &outputs.csv, &outputs.svg, &outputs.png];
    let folders = folders.into_iter().flatten().map(PathBuf::as_path).chain(index);
    let mut folders = folders.filter(|p| p.as_os_str() != "-");
    folders.try_for_each(output::folder)?;
    let index = index
        .map(|dir| Reserved::new(&dir.join(format!("{INDEX}.html")), replacement))
        .transpose()?;
    let language = outputs.lang.language();
    let mut taken = HashSet::from([INDEX.to_string()]);
    let name = |input: &I| unused(&mut taken, &index::file_name(name_of(input)));
    let names: Vec<String> = inputs.iter().map(name).collect();
    // All of them first: hours of work must not end at the last name.
    names
        .iter()
        .try_for_each(|name| outputs::permit(&outputs.of_one(name), replacement))?;
    let mut names = names.into_iter();
    let mut status = ExitCode::SUCCESS;
    let mut entries = Vec::new();
    // Documents go out one by one: all of them at once may not fit into memory.
    let as_array = outputs.on_stdout() == OutputFormat::Json;
    let mut before = "[\n";
    let reserve = |_: &I| {
        let name = names.next().unwrap_or_default();
        Outputs::reserve(&outputs.of_one(&name), replacement, true).map(|places| (name, places))
    };
    in_parallel(inputs, reserve, &read, |input, (name, places), analysis| {
        match analysis {
            Ok(analysis) => {
                if as_array {
                    output::to_stdout(before.as_bytes())?;
                    output::to_stdout(json_of(&analysis)?.trim_ascii_end())?;
                    before = ",\n";
                }
                if analysis.capture.files.iter().any(|file| file.problem.is_some()) {
                    status = ExitCode::FAILURE;
                }
                places.write(&analysis)?;
                entries.push(Entry::new(&analysis, &format!("{name}.html"), language));
            }
            Err(error) => {
                output::complain(&error.to_string());
                places.write_failure(name_of(input), &error)?;
                let path = name_of(input).to_string_lossy();
                entries.push(Entry::unreadable(&path, &error.to_string(), language));
                status = ExitCode::FAILURE;
            }
        }
        Ok(())
    })?;
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

/// Works on as many inputs at a time as there are cores, and takes what comes of them in the order of the inputs. What is
/// `prepared` for one is made before it is begun. With one core no thread is needed, and a system may have none.
fn in_parallel<I: Sync, P, T: Send>(
    inputs: &[I],
    mut prepare: impl FnMut(&I) -> Result<P>,
    work: &(impl Fn(&I) -> Result<T> + Sync),
    mut take: impl FnMut(&I, P, Result<T>) -> Result<()>,
) -> Result<()> {
    let most = rayon::current_num_threads();
    if most == 1 {
        return inputs.iter().try_for_each(|input| {
            let prepared = prepare(input)?;
            take(input, prepared, work(input))
        });
    }
    for inputs in inputs.chunks(most) {
        let prepared: Vec<P> = inputs.iter().map(&mut prepare).collect::<Result<_>>()?;
        let work_on = |input| (work(input), output::take_notes());
        let made: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = inputs
                .iter()
                .map(|input| scope.spawn(move || work_on(input)))
                .collect();
            threads.into_iter().map(|thread| thread.join()).collect()
        });
        for ((input, prepared), made) in inputs.iter().zip(prepared).zip(made) {
            let (made, notes) = made.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            notes.into_iter().for_each(output::note);
            take(input, prepared, made)?;
        }
    }
    Ok(())
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
