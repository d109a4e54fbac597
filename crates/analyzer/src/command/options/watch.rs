//! Options of `rekeyscope watch`.

use crate::command::options::help::{INPUT, OUTPUT};
use crate::command::options::input::Input;
use crate::command::options::outputs::{OutputArguments, all_different};
use crate::command::options::refusal::refuse_if;
use clap::{Args, ValueHint};
use rekeyscope::pipeline::{Options, TunnelChoice};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// `rekeyscope watch`.
#[derive(Debug, Clone, Args)]
pub(crate) struct WatchArguments {
    #[command(flatten)]
    pub(crate) input: Input,

    /// Print the lines as JSON, one object each
    ///
    /// The report at the end goes to files only then.
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) json_lines: bool,

    /// Append each line as JSON to this file too
    ///
    /// What stands in it already is counted and not said again.
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) events: Option<PathBuf>,

    /// Write metrics to this file every few seconds
    ///
    /// They are for node_exporter's textfile collector, which reads names that end in .prom.
    #[arg(long, help_heading = OUTPUT, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) metrics_file: Option<PathBuf>,

    /// Answer GET /metrics at this port
    ///
    /// The answer is Prometheus' text. The port is one of 127.0.0.1; ADDRESS:PORT names another.
    #[arg(long, help_heading = OUTPUT, value_name = "PORT", value_parser = listener)]
    pub(crate) metrics_listen: Option<SocketAddr>,

    /// Tell what this machine's kernel drops, from /proc/net/xfrm_stat or FILE
    #[arg(long, help_heading = INPUT, value_name = "FILE", num_args = 0..=1, default_missing_value = "/proc/net/xfrm_stat", require_equals = true)]
    pub(crate) xfrm_stat: Option<PathBuf>,

    /// Follow one of several tunnels alone: its number in the report, or the address of one of its ends
    #[arg(long, help_heading = INPUT, value_name = "NUMBER|ADDRESS")]
    pub(crate) tunnel: Option<TunnelChoice>,

    /// The report at the end: of the last hour, or of all where it was shorter
    #[command(flatten)]
    pub(crate) outputs: OutputArguments,
}

impl WatchArguments {
    pub(super) fn must_make_sense(&self) -> Result<(), clap::Error> {
        self.outputs.one_at_most_on_stdout()?;
        refuse_if(
            self.outputs.parquet.is_some(),
            "--parquet names tables by the whole capture, which a watch never has: analyse the capture afterwards",
        )?;
        let own = [&self.events, &self.metrics_file]
            .into_iter()
            .filter_map(|p| p.as_deref());
        all_different(self.outputs.files().chain(own))
    }

    pub(crate) fn options(&self) -> Options {
        Options {
            tunnel: self.tunnel,
            esp_ports: self.input.esp_port.clone(),
            ..Options::default()
        }
    }
}

/// A port alone is one of this machine's own.
fn listener(text: &str) -> Result<SocketAddr, String> {
    let alone = text.parse().map(|port: u16| (Ipv4Addr::LOCALHOST, port).into());
    alone
        .or_else(|_| text.parse())
        .map_err(|_| "give a port, or ADDRESS:PORT, for example 9747 or 192.0.2.1:9747".to_string())
}
