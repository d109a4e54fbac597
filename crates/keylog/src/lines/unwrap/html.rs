//! The source of a page: `=&gt;`, `<br>`, `<span class="hl">`.

use crate::lines::text::Text;

/// Tags that end a line.
const BREAKS: [&[u8]; 12] = [
    b"br",
    b"p",
    b"div",
    b"tr",
    b"li",
    b"pre",
    b"h1",
    b"h2",
    b"h3",
    b"hr",
    b"blockquote",
    b"table",
];
/// Tags that do not.
const INLINE: [&[u8]; 24] = [
    b"html", b"head", b"body", b"code", b"span", b"tbody", b"thead", b"ul", b"ol", b"a", b"b", b"i", b"em",
    b"strong", b"font", b"tt", b"samp", b"kbd", b"mark", b"title", b"meta", b"article", b"section", b"o:p",
];
/// Longest tag, attributes included.
const LONGEST_TAG: usize = 400;
const ENTITIES: [(&[u8], &str); 8] = [
    (b"gt;", ">"),
    (b"lt;", "<"),
    (b"amp;", "&"),
    (b"quot;", "\""),
    (b"apos;", "'"),
    (b"nbsp;", " "),
    (b"ldquo;", "\""),
    (b"rdquo;", "\""),
];

/// The text of the page.
pub(super) fn html(text: &Text) -> Option<Text> {
    let bytes = text.bytes();
    let entities =
        memchr::memchr_iter(b'&', bytes).any(|at| entity(bytes.get(at + 1..).unwrap_or_default()).is_some());
    let tags =
        memchr::memchr_iter(b'<', bytes).any(|at| tag(bytes.get(at + 1..).unwrap_or_default()).is_some());
    if !entities && !tags {
        return None;
    }
    text.map(|line| {
        memchr::memchr2(b'&', b'<', line)?;
        let mut out = Vec::with_capacity(line.len());
        let has_cells = memchr::memmem::find(line, b"<td").is_some();
        let mut rest = line;
        while let Some((&byte, after)) = rest.split_first() {
            rest = after;
            match byte {
                b'&' if entity(after).is_some() => {
                    let (character, len) = entity(after).unwrap_or_default();
                    out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                    rest = after.get(len..).unwrap_or_default();
                }
                b'<' if tag(after).is_some() => {
                    let (stands_for, len) = tag(after).unwrap_or_default();
                    let begins = after.first() != Some(&b'/');
                    let at_start = out.last().is_none_or(|b| *b == b'\n');
                    match stands_for {
                        TagKind::Line if begins || !at_start => out.push(b'\n'),
                        TagKind::Cell if begins && !at_start => out.push(b'\t'),
                        _ => {}
                    }
                    rest = after.get(len..).unwrap_or_default();
                }
                // Between cells stands a tab, and no other.
                b'\t' if has_cells => out.push(b' '),
                _ => out.push(byte),
            }
        }
        (out != line).then_some(out)
    })
}

/// The character of an entity behind its `&`, and its length.
fn entity(text: &[u8]) -> Option<(char, usize)> {
    if let Some(number) = text.strip_prefix(b"#") {
        let end = number.iter().take(8).position(|b| *b == b';')?;
        let digits = std::str::from_utf8(number.get(..end)?).ok()?;
        let code = match digits.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        return Some((char::from_u32(code.ok()?)?, end + 2));
    }
    let (name, character) = ENTITIES.into_iter().find(|(name, _)| text.starts_with(name))?;
    Some((character.chars().next()?, name.len()))
}

/// Effect of a tag on a text.
#[derive(Default)]
enum TagKind {
    Line,
    Cell,
    #[default]
    Inline,
}

/// The kind of a tag behind its `<`, and its length. Names that HTML does not have are a daemon's: `<lab|1>`.
fn tag(text: &[u8]) -> Option<(TagKind, usize)> {
    let name = text.strip_prefix(b"/").unwrap_or(text);
    let len = name
        .iter()
        .take(12)
        .take_while(|b| b.is_ascii_alphanumeric() || **b == b':')
        .count();
    let (name, rest) = name.split_at(len);
    let ended = matches!(rest.first(), Some(b'>' | b'/' | b' ' | b'\t'));
    let name = name.to_ascii_lowercase();
    let kind = match name.as_slice() {
        b"td" | b"th" => TagKind::Cell,
        name if BREAKS.contains(&name) => TagKind::Line,
        name if INLINE.contains(&name) => TagKind::Inline,
        _ => return None,
    };
    let end = text.iter().take(LONGEST_TAG).position(|b| *b == b'>')?;
    ended.then_some((kind, end + 1))
}
