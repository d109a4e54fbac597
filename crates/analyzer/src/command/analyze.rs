//! The main job, as a table of contents.

use crate::command::copies::Copies;
use crate::command::options::{Arguments, Input, OutputFormat};
use crate::command::outputs::Outputs;
use crate::command::{compare as compare_job, output, read, several};
use anyhow::Result;
use rekeyscope::overlay;
use rekeyscope::pipeline::Options;
use rekeyscope::write::key_ring::KeyRing;
use rekeyscope_model::analysis::{Analysis, KeyStatus, Protocol, SecurityAssociation};
use rekeyscope_report::words::underivable::{only_integrity_fits, why_not_derived};
use std::path::PathBuf;
use std::process::ExitCode;

/// Reads the keys and the capture, writes the reports.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let outputs = &arguments.outputs;
    let replacement = arguments.replacement();
    if arguments.wants_index() {
        let reference = compare_job::reference(arguments)?;
        arguments.input.leave_cores();
        let several = arguments.sources.len() > 1;
        return several::run(
            &arguments.sources,
            |source| &source.name,
            (outputs, &replacement),
            |source| {
                let input = Input {
                    beside_others: several,
                    ..arguments.input.of(source)
                };
                let (analysis, _) = analyze(arguments, reference.options.clone(), &input)?;
                Ok(reference.compared(analysis))
            },
        );
    }
    arguments.input.share_cores();
    let places = Outputs::reserve(outputs, &replacement, false)?;
    let copies = Copies::reserve(&arguments.input, &arguments.copies, &replacement)?;
    let reference = compare_job::reference(arguments)?;
    let (analysis, ring) = match analyze(arguments, reference.options.clone(), &arguments.input) {
        Ok(made) => made,
        Err(error) => {
            places.write_failure(&arguments.input.capture, &error)?;
            return Err(error);
        }
    };
    let analysis = reference.compared(analysis);
    let read_whole = read::problems(&analysis).next().is_none();
    let told = copies.write(&arguments.input, &analysis, &ring, &reference.options)?;
    places.write(&analysis)?;
    if !arguments.input.quiet {
        told.into_iter().for_each(output::note);
    }
    // The process ends here: thousands of rekeys need not be given back one by one. The keys are.
    std::mem::forget(analysis);
    Ok(output::status(read_whole))
}

/// One capture with its notes.
fn analyze(arguments: &Arguments, options: Options, input: &Input) -> Result<(Analysis, KeyRing)> {
    let other = input.other_point.as_ref();
    let other = other.map(|source| read::other_point(source, input, &options));
    let other = other.transpose()?;
    let (analysis, ring) = read::analyze_beside(input, options, other.as_ref())?;
    drop(other);
    if let Some(choice) = arguments.tunnel {
        choice.among(&analysis.tunnels).map_err(anyhow::Error::msg)?;
    }
    // An error, so also where notes are not wanted.
    read::problems(&analysis).for_each(output::note);
    let analysis = overlay::with_overlays(analysis, &arguments.overlays.iperf3, &arguments.overlays.overlay)?;
    if !input.quiet {
        let in_report = !arguments.wants_index() && arguments.outputs.on_stdout() == OutputFormat::Text;
        let notes = notes(&analysis, in_report)
            .into_iter()
            .chain(unread_keys(&analysis, input));
        notes.for_each(output::note);
    }
    Ok((analysis, ring))
}

/// Sentences for a person besides the report. `in_report`: it is on the terminal and says itself that ESP or keys are missing.
fn notes(analysis: &Analysis, in_report: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let path = &analysis.capture.path;
    let cut = analysis.capture.files.iter().filter(|file| file.truncated_file);
    let cut: Vec<&str> = cut.map(|file| file.path.as_str()).collect();
    let damaged = analysis.diagnostics.iter().any(|d| d.kind == "damaged");
    if let [first, more @ ..] = cut.as_slice() {
        let more = if more.is_empty() { "" } else { " and others" };
        notes.push(format!(
            "{first}{more}: cut off or damaged; everything before that was analysed, and the other files of {path}"
        ));
    } else if damaged {
        notes.push(format!(
            "{path} is damaged: everything before the damage was analysed; repair it or capture again if the rest matters"
        ));
    } else if analysis.capture.truncated_file {
        notes.push(format!(
            "{path} ends in the middle of a record: everything before the cut was analysed; copy the file again if \
             the rest matters"
        ));
    }
    notes.extend(analysis.key_files.iter().flat_map(|f| f.problems.iter().cloned()));
    let points = analysis.two_points.iter().filter(|points| points.clock.is_none());
    notes.extend(points.map(|points| points.sentence.clone()));
    let used: Vec<_> = analysis
        .security_associations
        .iter()
        .filter(|sa| sa.packets > 0)
        .collect();
    if used.is_empty() {
        let sentence = format!(
            "no ESP packets in {path}: capture where ESP (IP protocol 50) or UDP 4500 passes, together with UDP 500"
        );
        notes.extend((!in_report).then_some(sentence));
        return notes;
    }
    if used.iter().all(|sa| sa.protocol == Protocol::Ah) {
        notes.push(format!(
            "no ESP packets in {path}, but AH (RFC 4302): nothing in it is encrypted, it was read without keys, and its ICVs \
             are not checked"
        ));
        return notes;
    }
    if analysis.capture.is_cut() {
        notes.push(format!(
            "{} of {} packets in {path} are cut by the snap length: cut ESP packets can be neither checked nor decrypted, \
             their rates are ESP bytes; capture whole packets (tcpdump -s 0)",
            analysis.capture.cut_packets, analysis.capture.packets
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
    let half = used.iter().filter(|sa| only_integrity_fits(sa)).count();
    if half > 0 {
        notes.push(format!(
            "of the keys given for {half} of {} SAs the integrity key fits (their ICVs do) and the encryption key does not: it \
             is of another run, or was copied wrongly; those SAs count as without keys",
            used.len()
        ));
    }
    let missing = used
        .iter()
        .filter(|sa| sa.key.status != KeyStatus::Verified && sa.inner_bytes.is_none())
        .count();
    let misfits = misfits + half;
    if missing > misfits {
        let sentence = format!(
            "no key for {} of {} SAs: {}give them with --keys FILE (a Wireshark esp_sa table, or the router's log after \
             'syslog debug on' and 'ipsec ike log 1 key-info'); until then their rates are ESP bytes (SPI to ICV)",
            missing - misfits,
            used.len(),
            if strangers(analysis) {
                "the key files are of another run (they name none of these SPIs); "
            } else {
                ""
            },
        );
        notes.extend((!in_report).then_some(sentence));
        notes.extend(why_not_derived(analysis));
    }
    notes
}

/// Key files beside the capture are left alone where others are named; they may be those that fit.
fn unread_keys(analysis: &Analysis, input: &Input) -> Option<String> {
    let missing = |sa: &SecurityAssociation| sa.packets > 0 && sa.key.status != KeyStatus::Verified;
    if input.keys.is_empty() || !analysis.security_associations.iter().any(missing) {
        return None;
    }
    let given: Vec<PathBuf> = input.keys_given().collect();
    let unread = input
        .keys_beside()
        .into_iter()
        .find(|file| !given.contains(file))?;
    Some(format!(
        "{0} beside the capture was not read, because --keys names other files: add --keys {0} to read it, too",
        unread.display()
    ))
}

/// The key files hold ESP keys, and none for an SA of this capture.
fn strangers(analysis: &Analysis) -> bool {
    analysis.key_files.iter().any(|f| f.esp_keys > 0)
        && analysis
            .security_associations
            .iter()
            .all(|sa| sa.key.status == KeyStatus::Missing)
}
