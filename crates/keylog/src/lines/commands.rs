//! Commands that a console echoes between what they print.

/// Beginnings of commands that print keys, or that people type beside those.
const COMMANDS: [&[u8]; 32] = [
    b"show ",
    b"ip xfrm",
    b"ip -",
    b"ip x",
    b"sudo ",
    b"setkey ",
    b"journalctl",
    b"tail ",
    b"cat ",
    b"grep ",
    b"less ",
    b"more ",
    b"zcat ",
    b"docker ",
    b"kubectl ",
    b"swanctl ",
    b"ipsec ",
    b"vppctl",
    b"diag ",
    b"diagnose ",
    b"get ",
    b"/ip ",
    b"/log ",
    b"no ",
    b"syslog ",
    b"console ",
    b"administrator",
    b"exit",
    b"logread",
    b"adb ",
    b"tshark ",
    b"tcpdump ",
];
/// Longest prompt.
const LONGEST_PROMPT: usize = 80;

/// The command that is typed behind a prompt; the line itself where there is none.
fn after_prompt(line: &[u8]) -> &[u8] {
    let reach = line.get(..line.len().min(LONGEST_PROMPT)).unwrap_or_default();
    let prompt = reach
        .iter()
        .position(|b| matches!(b, b'#' | b'>' | b'$' | b'%' | b']'));
    let rest = prompt
        .and_then(|at| line.get(at + 1..))
        .map(<[u8]>::trim_ascii_start);
    rest.filter(|rest| begins_command(rest))
        .unwrap_or_else(|| line.trim_ascii_start())
}

/// Tells whether the line is a command with or without a prompt before it.
pub(crate) fn is_command(line: &[u8]) -> bool {
    begins_command(after_prompt(line)) && !holds_a_key(line)
}

fn begins_command(text: &[u8]) -> bool {
    // Most lines begin with a digit or a sign.
    text.first().is_some_and(|b| b.is_ascii_lowercase() || *b == b'/')
        && COMMANDS.iter().any(|command| text.starts_with(command))
}

/// A command that gives a key is more than an echo: `ip xfrm state add …`, `tshark -o 'uat:esp_sa:…'`.
fn holds_a_key(line: &[u8]) -> bool {
    line.split(|b| !b.is_ascii_hexdigit())
        .any(|digits| digits.len() >= 32)
}
