//! `--force`, the same for every job that writes files.

use clap::Args;

/// `--force`.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ReplaceArgument {
    /// Also replace files that rekeyscope did not write, and links, at the places of outputs. (What it wrote is replaced without
    /// this; what is read in the same run never is)
    #[arg(long)]
    pub(crate) force: bool,
}
