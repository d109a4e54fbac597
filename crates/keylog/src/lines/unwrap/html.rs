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
const INLINE: [&[u8]; 25] = [
    b"html", b"head", b"body", b"code", b"span", b"td", b"th", b"tbody", b"thead", b"ul", b"ol", b"a", b"b",
    b"i", b"em", b"strong", b"font", b"tt", b"samp", b"kbd", b"mark", b"title", b"meta", b"article",
    b"section",
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
                    let (breaks, len) = tag(after).unwrap_or_default();
                    let begins = after.first() != Some(&b'/');
                    if breaks && (begins || out.last().is_some_and(|b| *b != b'\n')) {
                        out.push(b'\n');
                    }
                    rest = after.get(len..).unwrap_or_default();
                }
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

/// Whether a tag behind its `<` ends a line, and its length. Names that HTML does not have are a daemon's: `<lab|1>`.
fn tag(text: &[u8]) -> Option<(bool, usize)> {
    let name = text.strip_prefix(b"/").unwrap_or(text);
    let len = name
        .iter()
        .take(12)
        .take_while(|b| b.is_ascii_alphanumeric())
        .count();
    let (name, rest) = name.split_at(len);
    let ended = matches!(rest.first(), Some(b'>' | b'/' | b' ' | b'\t'));
    let name = name.to_ascii_lowercase();
    let breaks = BREAKS.contains(&name.as_slice());
    if !ended || !(breaks || INLINE.contains(&name.as_slice())) {
        return None;
    }
    let end = text.iter().take(LONGEST_TAG).position(|b| *b == b'>')?;
    Some((breaks, end + 1))
}
