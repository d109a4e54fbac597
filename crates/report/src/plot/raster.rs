//! Plots as PNG: the same SVG that `--svg` writes, rendered by resvg with the font that is in the program.

use crate::plot::canvas::Plot;
use crate::plot::style;
use rekeyscope_model::error::Error;
use resvg::{tiny_skia, usvg};
use std::sync::Arc;

/// Image pixels per CSS pixel: sharp on dense screens and at 190 dots per inch on paper.
const SCALE: f32 = 2.0;

/// Width, height and the like, which a PNG file begins with: its signature and the chunk `IHDR`.
const BEGINNING: usize = 8 + 25;
/// Says who made the image (PNG §11.3.3.2): length, type, keyword and text, checksum.
const SOFTWARE: &[u8] = b"\0\0\0\x13tEXtSoftware\0rekeyscope\x61\xa1\xdf\x0d";

/// The image.
///
/// # Errors
/// Where the renderer refuses the drawing; none of ours is known to be refused.
pub fn png(plot: &Plot) -> Result<Vec<u8>, Error> {
    let failed = |reason: String| Error::Image {
        plot: plot.name.clone(),
        reason,
    };
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(style::font(plot.language).to_vec());
    // The font in the program is the only one there is: a page's name for it and any other name lead to it.
    let family = fonts
        .faces()
        .find_map(|face| face.families.first().map(|f| f.0.clone()))
        .unwrap_or_default();
    let options = usvg::Options {
        font_family: family.clone(),
        fontdb: Arc::new(fonts),
        font_resolver: usvg::FontResolver {
            select_font: Box::new(|_, database| database.faces().next().map(|face| face.id)),
            select_fallback: usvg::FontResolver::default_fallback_selector(),
        },
        ..usvg::Options::default()
    };
    let tree = usvg::Tree::from_str(&plot.standalone(), &options).map_err(|e| failed(e.to_string()))?;
    let (width, height) = (plot.width * SCALE as u32, plot.height * SCALE as u32);
    let mut image =
        tiny_skia::Pixmap::new(width, height).ok_or_else(|| failed("it has no size".to_string()))?;
    resvg::render(
        &tree,
        tiny_skia::Transform::from_scale(SCALE, SCALE),
        &mut image.as_mut(),
    );
    let mut made = image.encode_png().map_err(|e| failed(e.to_string()))?;
    let at = BEGINNING.min(made.len());
    made.splice(at..at, SOFTWARE.iter().copied());
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::svg as plot;
    use rekeyscope_testkit::example;

    /// PNG §5.5: of type and data, polynomial 0xedb88320.
    #[test]
    fn the_checksum_of_the_mark_is_right() {
        let (data, checksum) = SOFTWARE[4..].split_at(SOFTWARE.len() - 8);
        let bit = |crc: u32, _| (crc >> 1) ^ (if crc & 1 == 1 { 0xedb8_8320 } else { 0 });
        let crc = data
            .iter()
            .fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), bit));
        assert_eq!(checksum, (!crc).to_be_bytes());
    }

    #[test]
    fn the_image_shows_text_and_colours() {
        let document = example::seven_rekeys();
        let plots = plot::render(&document, rekeyscope_model::text::Language::English);
        let timeline = plots[0].timeline.as_ref().unwrap();
        let image = tiny_skia::Pixmap::decode_png(&png(timeline).unwrap()).unwrap();
        assert_eq!(
            (image.width(), image.height()),
            (timeline.width * 2, timeline.height * 2)
        );
        let count = |wanted: [u8; 3]| {
            let same = |p: &&tiny_skia::PremultipliedColorU8| [p.red(), p.green(), p.blue()] == wanted;
            image.pixels().iter().filter(same).count()
        };
        assert!(count([0xff; 3]) > 100_000, "a white ground");
        // Full-colour pixels of the title's letters; without a font there is none of them.
        assert!(
            count([0x1b, 0x1f, 0x24]) > 200,
            "text in ink: {}",
            count([0x1b, 0x1f, 0x24])
        );
        assert!(count([0xd5, 0x5e, 0x00]) > 100, "marks of rekeys that hurt");
    }
}
