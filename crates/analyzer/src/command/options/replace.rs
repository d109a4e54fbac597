//! `--force`, the same for every job that writes files.

use crate::command::options::help::OUTPUT;
use clap::Args;

/// `--force`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ReplaceArgument {
    /// Let an output replace a capture (pcap or pcapng, also packed). Other files are replaced without this, and what the same run reads
    /// never is
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) force: bool,
}
