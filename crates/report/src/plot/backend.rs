//! The SVG that plotters draws, with labels as wide as the font in the program makes them.
//!
//! plotters leaves its own measuring out where the target is WebAssembly. Measured here, a plot is the same everywhere.

use crate::plot::style;
use plotters::prelude::SVGBackend;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};

/// An SVG text that grows while it is drawn on.
pub(crate) struct Svg<'a>(SVGBackend<'a>);

/// The result of a call of plotters.
type Result<'a, T> = std::result::Result<T, DrawingErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

impl<'a> Svg<'a> {
    /// Writes to `text`. `size`: width and height in drawing units.
    pub(crate) fn new(text: &'a mut String, size: (u32, u32)) -> Self {
        Svg(SVGBackend::with_string(text, size))
    }
}

impl<'a> DrawingBackend for Svg<'a> {
    type ErrorType = <SVGBackend<'a> as DrawingBackend>::ErrorType;

    fn estimate_text_size<S: BackendTextStyle>(&self, text: &str, style: &S) -> Result<'a, (u32, u32)> {
        // The face is parsed for each label: tables are found, no glyph is looked at. Fonts that cannot be read fail a test.
        let face = style::face(style.family().as_str());
        let width = face.map_or(0.0, |face| width(&face, text, style.size() as f32));
        Ok((width as u32, (style.size() / style::PLOTTERS_SCALE) as u32))
    }

    fn get_size(&self) -> (u32, u32) {
        self.0.get_size()
    }

    fn ensure_prepared(&mut self) -> Result<'a, ()> {
        self.0.ensure_prepared()
    }

    fn present(&mut self) -> Result<'a, ()> {
        self.0.present()
    }

    fn draw_pixel(&mut self, at: BackendCoord, color: BackendColor) -> Result<'a, ()> {
        self.0.draw_pixel(at, color)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Result<'a, ()> {
        self.0.draw_line(from, to, style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Result<'a, ()> {
        self.0.draw_rect(upper_left, bottom_right, style, fill)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Result<'a, ()> {
        self.0.draw_path(path, style)
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Result<'a, ()> {
        self.0.draw_circle(center, radius, style, fill)
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Result<'a, ()> {
        self.0.fill_polygon(corners, style)
    }

    fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, at: BackendCoord) -> Result<'a, ()> {
        self.0.draw_text(text, style, at)
    }
}

/// Drawing units that `text` takes. `size`: the height of a line, from the highest to the lowest place a letter reaches.
fn width(face: &ttf_parser::Face, text: &str, size: f32) -> f32 {
    let scale = size / f32::from(face.height());
    let advance = |letter| {
        let glyph = face.glyph_index(letter).unwrap_or_default();
        f32::from(face.glyph_hor_advance(glyph).unwrap_or_default())
    };
    text.chars().map(|letter| scale * advance(letter)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekeyscope_model::text::Language;

    #[test]
    fn every_font_measures_labels() {
        for language in Language::ALL {
            let face = style::face(style::family(language)).unwrap();
            let width = |text: &str| width(&face, text, 12.0);
            assert!(width("Mbit/s → ±") > width("Mbit/s"));
        }
    }
}
