//! `-h` shows one screen of what people use every day, `--help` everything, grouped.

use clap::Command;
use std::ffi::OsString;

/// Files that are read, and what is chosen in them.
pub(super) const INPUT: &str = "Input";
/// Options in this group say where keys come from.
pub(super) const KEYS: &str = "Keys";
/// Options in this group say what is written, and where.
pub(super) const OUTPUT: &str = "Output";
/// Options in this group say how a report is worded and drawn.
pub(super) const REPORT: &str = "Report";
/// Options in this group say how packets are read and counted.
pub(super) const METHOD: &str = "Method";

/// The main job in [`EVERYDAY`].
const MAIN: &str = "rekeyscope";

/// The options that README and docs use most, for each job that has more than ten: `-h` shows these, in this order.
pub(super) const EVERYDAY: [(&str, &str); 5] = [
    (
        MAIN,
        "keys html json csv format write_inner also_from verbose lang quiet",
    ),
    ("keys", "keys psk_file export claims join lang quiet"),
    ("compare", "keys html json csv each lang quiet"),
    ("report", "html json csv svg format verbose lang quiet"),
    (
        "watch",
        "keys json_lines events metrics_file metrics_listen html json lang quiet",
    ),
];

/// `-h` is one list without groups, because a screen has 24 lines.
const ONE_SCREEN: &str = "\
{about-with-newline}
{usage-heading} {usage}

Options:
{options}{after-help}";

/// Examples end `rekeyscope --help`.
pub(super) const EXAMPLES: &str = "\
Examples:
  rekeyscope trace.pcapng                      the answer; finds keys beside it
  rekeyscope trace.pcapng --keys router.log    keys from a log or a table
  rekeyscope trace.pcapng --html report.html   one offline file to hand on
  rekeyscope *.pcapng --html reports/          a report each, and an index page
  rekeyscope ring_*.pcapng                     what dumpcap -b cut, as one again
  rekeyscope trace.pcapng --format markdown    for a ticket
  rekeyscope trace.pcapng --iperf3 run.json --overlay cpu.csv --html report.html
  rekeyscope report analysis.json --svg plots  what --json wrote, rendered again
  rekeyscope trace.pcapng --json - | jq .answer
  tcpdump -r big.pcap -w - esp or port 500 or 4500 | rekeyscope - -k esp_sa
  rekeyscope trace.pcapng --tunnel 203.0.113.7 one client of several
  rekeyscope trace.pcapng --also-from far.pcapng
                                               what was lost on the way
  rekeyscope trace.pcapng --write-inner in.pcapng --annotate notes.pcapng
  rekeyscope keys trace.pcapng -k router.log   which SAs have a key
  rekeyscope keys trace.pcapng --export wireshark DIR
  rekeyscope overhead --suite aes128gcm16 --encap l2tp,natt --mtu 1454
  rekeyscope compare short.pcapng long.pcapng saved.json
                                               what a rekey costs
  tcpdump -i wan0 -U -w - esp or udp port 500 or 4500 | rekeyscope watch -
                                               each rekey as it happens
  rekeyscope wireshark trace.pcapng            Wireshark with these keys

Keys are found without asking beside the capture as <stem>.keylog, <stem>.keys,
<stem>.esp_sa, keys.esp_sa, keys.ikev1, keys.ikev2, esp_sa,
ikev1_decryption_table, ikev2_decryption_table. Every key is proven by the ICV
of packets before it is used. Without keys the verdict comes from ESP bytes (SPI
to ICV) and says so.

Exit status:
  0  The analysis is made, also of a file that is cut, and without keys or with
     keys that are empty, malformed or of another run: notes and report say so.
  1  A capture or a file named with --keys cannot be read, or an output cannot
     be written. What can be read of several captures or pieces is analysed.
  2  The command line makes no sense.";

/// The command as the words ask to have it explained: `-h` is about one screen, everything else is in full.
pub(super) fn laid_out(command: Command, words: &[OsString]) -> Command {
    if words.iter().any(asks_briefly) {
        in_brief(command)
    } else {
        command
    }
}

/// `-h`, also behind other letters (`-qh`).
fn asks_briefly(word: &OsString) -> bool {
    let letters = word.to_str().and_then(|word| word.strip_prefix('-'));
    letters.is_some_and(|letters| !letters.starts_with('-') && letters.contains('h'))
}

/// Every job with its everyday options alone, and where the others are.
fn in_brief(command: Command) -> Command {
    let jobs: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    let more = format!(
        "Commands: {}\nMore: {MAIN} COMMAND -h; all options and examples: {MAIN} --help",
        jobs.join(", ")
    );
    let command = with_everyday(command, &more);
    command.mut_subcommands(|job| {
        let more = format!("All options: {MAIN} {} --help", job.get_name());
        with_everyday(job, &more)
    })
}

/// Shows the everyday options alone, each on a line, and then `more`; a job with few options as it is.
fn with_everyday(command: Command, more: &str) -> Command {
    let Some((_, options)) = EVERYDAY.iter().find(|(name, _)| *name == command.get_name()) else {
        return command;
    };
    let shown = command.mut_args(|argument| {
        let place = options.split(' ').position(|id| argument.get_id() == id);
        let argument = argument
            .hide_short_help(place.is_none())
            .hide_possible_values(true);
        match place {
            Some(place) => argument.display_order(place),
            None => argument,
        }
    });
    shown.help_template(ONE_SCREEN).after_help(more.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letter_asks_briefly_and_the_word_does_not() {
        let asks = |word: &str| asks_briefly(&word.into());
        assert!(asks("-h") && asks("-qh"));
        assert!(!asks("--help") && !asks("trace.pcapng") && !asks("-") && !asks("-q"));
    }
}
