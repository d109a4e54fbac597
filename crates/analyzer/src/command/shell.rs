//! `rekeyscope completions` and `rekeyscope man`, both made from the options themselves.

use crate::command::options::CommandLine;
use crate::command::output;
use anyhow::Result;
use clap_complete::Shell;

/// The completion script.
pub(crate) fn completions(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::full(), "rekeyscope", &mut script);
    output::to_stdout(&script)
}

/// The manual page (troff), with a section per subcommand.
pub(crate) fn manual() -> Result<()> {
    let mut page = Vec::new();
    let command = CommandLine::full();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for sub in command.get_subcommands().filter(|s| !s.is_hide_set()) {
        let name = format!("rekeyscope {}", sub.get_name());
        let sub = sub.clone().bin_name(name.clone());
        let man = clap_mangen::Man::new(sub);
        page.extend(format!(".SH \"{}\"\n", name.to_uppercase()).into_bytes());
        man.render_description_section(&mut page)?;
        man.render_synopsis_section(&mut page)?;
        man.render_options_section(&mut page)?;
    }
    output::to_stdout(&page)
}
