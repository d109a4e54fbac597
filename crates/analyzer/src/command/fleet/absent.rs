//! Tables in a program that was built without the feature `parquet`: nobody can ask for them there.

use crate::command::options::OutputArguments;
use crate::command::replace::Replacement;
use anyhow::Result;
use rekeyscope_model::analysis::Analysis;
use std::path::Path;

/// None.
pub(crate) enum FleetTables {}

impl FleetTables {
    pub(crate) fn reserve(_: &OutputArguments, _: &Replacement) -> Result<Option<Self>> {
        Ok(None)
    }

    pub(crate) fn write(self, _: &Analysis) -> Result<()> {
        match self {}
    }

    pub(crate) fn write_failure(self, _: &Path, _: &str) -> Result<()> {
        match self {}
    }
}
