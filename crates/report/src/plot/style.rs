//! Colours, sizes and the font of the plots.
//!
//! Okabe and Ito's palette: blue, green and vermilion stay apart for colour-blind readers; the green is darkened so that
//! white text on it reads. Direction, "a rekey" and "a rekey that hurt" are also told apart by place and by label.

use plotters::prelude::{FontStyle, RGBColor};
use plotters::style::{FontFamily, IntoFont, TextStyle};
use rekeyscope_model::analysis::Direction;
use rekeyscope_model::text::Language;
use std::fmt::Write as _;

/// Plotters says that a font is so many times larger than its SVG makes it.
const PLOTTERS_SCALE: f64 = 1.24;
/// Drawing units per CSS pixel.
pub(crate) const UNITS: u32 = 2;

/// The family's name in the plots and in [`font_face`].
pub(crate) fn family(language: Language) -> &'static str {
    match language {
        Language::English => "rekeyscope-plot",
        Language::Japanese => "rekeyscope-plot-ja",
    }
}

/// Inter, and Noto Sans CJK JP cut down to the characters of the plots; see `fonts/README.md`.
pub(crate) fn font(language: Language) -> &'static [u8] {
    match language {
        Language::English => include_bytes!("../../fonts/inter-latin.otf"),
        Language::Japanese => include_bytes!("../../fonts/noto-sans-jp.otf"),
    }
}

pub(crate) const INK: RGBColor = RGBColor(0x1B, 0x1F, 0x24);
pub(crate) const MUTED: RGBColor = RGBColor(0x57, 0x60, 0x6A);
pub(crate) const GRID: RGBColor = RGBColor(0xE1, 0xE6, 0xEB);
pub(crate) const BLUE: RGBColor = RGBColor(0x00, 0x72, 0xB2);
pub(crate) const GREEN: RGBColor = RGBColor(0x00, 0x7F, 0x5F);
pub(crate) const HURT: RGBColor = RGBColor(0xD5, 0x5E, 0x00);
/// Text about a rekey that hurt: 5.5:1 on white, where [`HURT`] has 3.9:1 and text needs 4.5:1 (WCAG 2.2, 1.4.3).
pub(crate) const HURT_TEXT: RGBColor = RGBColor(0xB3, 0x47, 0x00);
pub(crate) const REKEY: RGBColor = RGBColor(0x6E, 0x77, 0x81);
/// The colour of what was measured elsewhere: the palette's reddish purple, darkened to read on white.
pub(crate) const OVERLAY: RGBColor = RGBColor(0xA0, 0x4B, 0x85);
/// Text on a filled bar.
pub(crate) const ON_FILL: RGBColor = RGBColor(0xFE, 0xFE, 0xFE);

/// The same in the dark theme.
const DARK: [(RGBColor, &str); 10] = [
    (INK, "#e6edf3"),
    (MUTED, "#a3adb8"),
    (GRID, "#30363d"),
    (BLUE, "#56b4e9"),
    (GREEN, "#3ecf9b"),
    (HURT, "#ff8a3d"),
    (HURT_TEXT, "#ff9b57"),
    (REKEY, "#9aa4ae"),
    (OVERLAY, "#e48fc6"),
    (ON_FILL, "#0d1117"),
];

/// The colour of a direction.
pub(crate) fn of(direction: Direction) -> RGBColor {
    direction.pick(GREEN, BLUE)
}

/// The colour in an attribute of SVG.
pub(crate) fn hex(RGBColor(r, g, b): RGBColor) -> String {
    format!("#{r:02X}{g:02X}{b:02X}")
}

/// CSS pixels to drawing units.
pub(crate) const fn px(pixels: u32) -> u32 {
    pixels * UNITS
}

/// The same as a place.
pub(crate) const fn at(pixels: u32) -> i32 {
    px(pixels) as i32
}

/// A label of `pixels` height.
pub(crate) fn label(language: Language, pixels: u32, color: RGBColor) -> TextStyle<'static> {
    let size = f64::from(px(pixels)) * PLOTTERS_SCALE;
    let font = (FontFamily::Name(family(language)), size, FontStyle::Normal).into_font();
    font.color(&color)
}

/// Width of a label of `pixels` height, drawing units, by the font in the program: a plot is the same everywhere.
pub(crate) fn width(language: Language, pixels: u32, text: &str) -> i32 {
    // Fonts that cannot be read fail a test.
    let Ok(face) = ttf_parser::Face::parse(font(language), 0) else {
        return 0;
    };
    // A font's size is the height of a line, from the highest to the lowest place a letter reaches.
    let scale = (f64::from(px(pixels)) * PLOTTERS_SCALE) as f32 / f32::from(face.height());
    let advance = |letter| {
        let glyph = face.glyph_index(letter).unwrap_or_default();
        f32::from(face.glyph_hor_advance(glyph).unwrap_or_default())
    };
    text.chars().map(|letter| scale * advance(letter)).sum::<f32>() as i32
}

/// `@font-face` with the font of a language in it.
pub(crate) fn font_face(language: Language) -> String {
    let (family, data) = (family(language), base64(font(language)));
    format!(
        "@font-face{{font-family:\"{family}\";src:url(data:font/otf;base64,{data}) format(\"opentype\")}}"
    )
}

/// Rules that recolour inline plots for a dark screen; paper stays light.
pub(crate) fn dark_css() -> String {
    let mut out = String::from("@media screen and (prefers-color-scheme:dark){");
    for (light, dark) in DARK {
        let light = hex(light);
        let _ = write!(
            out,
            ".plot [fill=\"{light}\"]{{fill:{dark}}}.plot [stroke=\"{light}\"]{{stroke:{dark}}}"
        );
    }
    out.push('}');
    out
}

/// Base64 (RFC 4648 §4).
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0u32, |g, b| (g << 8) | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let digit = (group >> (18 - 6 * i)) & 63;
            out.push(if i <= chunk.len() {
                char::from(DIGITS[digit as usize])
            } else {
                '='
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_vectors() {
        // RFC 4648 §10.
        for (plain, coded) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn every_font_measures_labels() {
        for language in Language::ALL {
            assert!(width(language, 12, "Mbit/s → ±") > width(language, 12, "Mbit/s"));
        }
    }

    #[test]
    fn every_colour_has_a_dark_one() {
        let css = dark_css();
        assert_eq!(css.matches("fill:#").count(), DARK.len());
    }
}
