//! Quoting: `> ` of mails, `| ` of tables, `# ` of comments, fences and bullets of Markdown, blanks before every line.

use crate::lines::outer::is_command;
use crate::lines::text::Text;
use crate::lines::unwrap::characters::characters;
use crate::lines::unwrap::framed::Begins;

/// Marks that stand before every line, or before none.
const MARKS: [&[u8]; 10] = [
    b"* ", b"- ", b"+ ", b"+", b"// ", b"; ", b";; ", b"% ", b"! ", b"REM ",
];

/// The quoted lines, as far as they are quoted.
pub(super) fn quoting(text: &Text) -> Option<Text> {
    let mark = MARKS.into_iter().find(|mark| {
        let marked = |line: &[u8]| line.starts_with(mark) || line == mark.trim_ascii_end();
        text.begins_with(marked) && most(text.count(marked))
    });
    let indent = text
        .filled()
        .map(|line| {
            line.bytes
                .iter()
                .take_while(|b| matches!(b, b' ' | b'\t'))
                .count()
        })
        .min()?;
    // One mark of each line is the mail's where every line is quoted: a line that a terminal broke may begin with another.
    let (quoted, lines) = text.count(|line| line.starts_with(b">"));
    let is_mail = quoted == lines;
    text.map(|line| {
        let mut rest = line;
        if is_mail {
            let inside = rest.strip_prefix(b">")?;
            return Some(inside.strip_prefix(b" ").unwrap_or(inside).to_vec());
        }
        if let Some(mark) = mark {
            rest = rest
                .strip_prefix(mark)
                .or_else(|| rest.strip_prefix(mark.trim_ascii_end()))
                .unwrap_or(rest);
        }
        if indent > 0 && rest.len() == line.len() {
            rest = rest.get(indent..).unwrap_or_default();
        }
        rest = without_marks(rest);
        (rest.len() != line.len()).then(|| rest.to_vec())
    })
}

fn most((held, all): (usize, usize)) -> bool {
    held * 10 >= all * 9 && held > 0
}

/// The lines without the bars before nearly all of them. The lines of pluto's own log begin with a bar: `begins` tells.
pub(super) fn bars(text: &Text, begins: Begins) -> Option<Text> {
    // Other characters, and the entities of a page, have to be read first: they stand for the blank behind a bar.
    let bar = |line: &[u8]| line.starts_with(b"|") && !line.starts_with(b"|&");
    let is_quoted = text.begins_with(bar) && most(text.count(bar)) && characters(text).is_none();
    if !is_quoted || text.lines().any(|line| begins(line.bytes)) {
        return None;
    }
    text.map(|line| {
        let inside = line.strip_prefix(b"|")?.trim_ascii_end();
        let inside = inside.strip_suffix(b"|").unwrap_or(inside);
        Some(inside.strip_prefix(b" ").unwrap_or(inside).to_vec())
    })
}

/// The line without `>`, `#` and what Markdown writes around code. A prompt before a command stays: it says what the next lines are.
fn without_marks(line: &[u8]) -> &[u8] {
    let text = line.trim_ascii_start();
    if text.starts_with(b"```") || text.starts_with(b"~~~") {
        return b"";
    }
    if let Some(code) = text
        .strip_prefix(b"`")
        .and_then(|code| code.trim_ascii_end().strip_suffix(b"`"))
    {
        return code;
    }
    let (Some(mark @ (b'>' | b'#')), false) = (text.first(), is_command(text)) else {
        return line;
    };
    let marks = text.iter().take_while(|b| *b == mark).count();
    let rest = text.get(marks..).unwrap_or_default();
    match rest.first() {
        None => b"",
        Some(b' ') => without_marks(rest.get(1..).unwrap_or_default()),
        Some(b'\t') => without_marks(rest),
        // `>text` of old mail programs, `#"IPv4",…` of a row that was switched off; `#012` is an escape and `<0x…>` no quote.
        Some(b'0'..=b'9') if text.starts_with(b"#") => line,
        Some(_) => without_marks(rest),
    }
}
