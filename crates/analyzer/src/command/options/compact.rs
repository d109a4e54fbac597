//! Options of `rekeyscope compact`.

use crate::command::options::outputs::ReplaceArgument;
use clap::{Args, ValueHint};
use std::path::PathBuf;

/// `rekeyscope compact`.
#[derive(Debug, Args)]
pub(crate) struct CompactArguments {
    /// Folder that --parquet wrote to: a file per table and capture. Those that were put together are removed from it
    #[arg(value_name = "FROM", value_hint = ValueHint::DirPath)]
    pub(crate) from: PathBuf,

    /// Folder for the new files: TABLE/month=YYYY-MM/part-….parquet, with day and gateway as columns. Another than FROM
    #[arg(value_name = "INTO", value_hint = ValueHint::DirPath)]
    pub(crate) into: PathBuf,

    #[command(flatten)]
    pub(crate) replace: ReplaceArgument,

    /// Write no notes to standard error
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
