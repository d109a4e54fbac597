//! `--force`, the same for every job that writes files.

use clap::Args;

/// `--force`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ReplaceArgument {
    /// Also replace captures (pcap and pcapng, also packed) at the places of outputs. (Other files are replaced without this; what
    /// is read in the same run never is)
    #[arg(long)]
    pub(crate) force: bool,
}
