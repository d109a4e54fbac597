//! What a program does about tables that was built without the feature `parquet`: it says so before it reads anything.

use crate::command::options::{CompactArguments, OutputArguments};
use crate::command::replace::Replacement;
use anyhow::{Result, bail};
use rekeyscope_model::analysis::Analysis;
use std::process::ExitCode;

const NOT_BUILT: &str =
    "this program was built without Parquet (cargo build --release --features parquet has it)";

/// None.
pub(crate) struct FleetTables;

impl FleetTables {
    pub(crate) fn reserve(arguments: &OutputArguments, _: &Replacement) -> Result<Option<Self>> {
        if arguments.parquet.is_some() {
            bail!("--parquet: {NOT_BUILT}");
        }
        Ok(None)
    }

    pub(crate) fn write(self, _: &Analysis) -> Result<()> {
        bail!(NOT_BUILT)
    }
}

pub(crate) fn compact(_: &CompactArguments) -> Result<ExitCode> {
    bail!(NOT_BUILT)
}
