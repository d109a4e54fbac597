//! Options, validated once.

use clap::{Parser, ValueHint};
use rekeyscope::analyzer::{Options, Verify};
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  rekeyscope trace.pcapng                        the verdict, with keys found beside the capture
  rekeyscope trace.pcapng --keys router.log      keys from a router's log or a Wireshark table
  rekeyscope trace.pcapng --html report.html     a report to hand on, one offline file
  rekeyscope trace.pcapng --json - | jq '.impact[0]'
  tcpdump -r big.pcap -w - esp or udp port 500 | rekeyscope - --keys esp_sa

Keys are found without asking beside the capture as <stem>.keylog, <stem>.keys, <stem>.esp_sa, keys.esp_sa,
keys.ikev1, keys.ikev2, esp_sa, ikev1_decryption_table, ikev2_decryption_table. Every key is proven by the
ICV of packets before it is used. Without keys the verdict comes from outer bytes and says so.

Exit status: 0 analysed (also when the file is cut or keys are missing or wrong), 1 capture or key file not
readable or output not writable, 2 usage.";

/// What did the IPsec rekeys in a capture cost?
///
/// Decrypts ESP, finds IKE Quick Mode and CREATE_CHILD_SA rekeys, relates each to throughput, and says how much the
/// rekeys cost, with an interval.
#[derive(Debug, Parser)]
#[command(version, after_help = EXAMPLES, max_term_width = 110)]
pub(crate) struct Arguments {
    /// Capture: pcap or pcapng, also .gz, .zst, .lz4; - for standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) capture: PathBuf,

    /// Key file, format recognised by content; may be given more than once [default: files beside the capture]
    #[arg(short, long = "keys", value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) keys: Vec<PathBuf>,

    /// Ignore key files beside the capture
    #[arg(long, conflicts_with = "keys")]
    pub(crate) no_keys: bool,

    /// Write the report as one offline HTML file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) html: Option<PathBuf>,

    /// Write the whole analysis as JSON; - for standard output, instead of the report
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) json: Option<PathBuf>,

    /// Write tables of SAs, rekeys and series as CSV files into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) csv: Option<PathBuf>,

    /// Rate that the tunnel should reach: how much of the difference do the rekeys explain?
    #[arg(long, value_name = "MBIT/S", value_parser = positive)]
    pub(crate) reference_mbps: Option<f64>,

    /// Effect of interest: a loss below this many percent of throughput does not matter
    #[arg(long, value_name = "PERCENT", default_value = "3", value_parser = positive)]
    pub(crate) interest: f64,

    /// Which ICVs to check: all, sample:N (every N-th sequence number), first:K (of each SA)
    #[arg(long, value_name = "WHICH", default_value = "all", value_parser = verify)]
    pub(crate) verify: Verify,

    /// Seed of the placebo draws
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,

    /// Do not write notes to standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

impl Arguments {
    /// What the analysis needs to know.
    pub(crate) fn options(&self) -> Options {
        Options {
            verify: self.verify,
            seed: self.seed,
            interest: self.interest / 100.0,
            reference_bps: self.reference_mbps.map(|m| m * 1e6),
            ..Options::default()
        }
    }

    /// True when the capture comes from standard input.
    pub(crate) fn reads_stdin(&self) -> bool {
        self.capture.as_os_str() == "-"
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err("expected a number above 0".into()),
    }
}

fn verify(text: &str) -> Result<Verify, String> {
    let count = |n: &str| n.parse::<u64>().ok().filter(|n| *n > 0);
    match text.split_once(':') {
        None if text == "all" => Some(Verify::All),
        Some(("sample", n)) => count(n).map(Verify::Sample),
        Some(("first", n)) => count(n).map(Verify::First),
        _ => None,
    }
    .ok_or_else(|| "expected all, sample:N or first:K".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_options_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn verify_values() {
        assert_eq!(verify("all"), Ok(Verify::All));
        assert_eq!(verify("sample:10"), Ok(Verify::Sample(10)));
        assert_eq!(verify("first:3"), Ok(Verify::First(3)));
        assert!(verify("sample:0").is_err() && verify("most").is_err());
    }
}
