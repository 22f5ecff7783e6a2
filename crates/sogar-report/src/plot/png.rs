//! Figures as PNG, for users who cannot use SVG.
//!
//! The picture is the SVG itself, rasterised with a built-in font, so that it is the same on a machine without fonts. Letters
//! that this font lacks come from the system's fonts.

use std::sync::Arc;

use resvg::{tiny_skia, usvg};

use super::lettering::FONT;
use sogar_base::error::{Error, ErrorKind, Result};

/// Limit of pixels in a picture, four bytes each.
const MOST_PIXELS: f64 = 120e6;

/// An SVG drawing as the bytes of a PNG file, with `scale` pixels per pixel of the drawing.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>> {
    let fault = |message: String| Error::new(ErrorKind::Output, message);
    if !(scale.is_finite() && scale > 0.0) {
        return Err(Error::new(ErrorKind::Usage, "the scale of a picture is not a number above 0"));
    }
    let svg = svg.replacen(&format!("\"{FONT}\""), &format!("\"{FAMILY}\" font-stretch=\"condensed\""), 1);
    let options =
        usvg::Options { fontdb: fonts(&svg), font_family: FAMILY.to_owned(), ..usvg::Options::default() };
    let tree = usvg::Tree::from_str(&svg, &options)
        .map_err(|cause| fault(format!("the figure could not be rasterised: {cause}")))?;
    let (width, height) = (tree.size().width() * scale, tree.size().height() * scale);
    let too_large = || {
        fault(format!("a picture of {width:.0} × {height:.0} pixels is too large"))
            .help("choose a smaller --scale, or write SVG, which has no pixels")
    };
    if f64::from(width) * f64::from(height) > MOST_PIXELS {
        return Err(too_large());
    }
    let mut pixels = tiny_skia::Pixmap::new(width.ceil().max(1.0) as u32, height.ceil().max(1.0) as u32)
        .ok_or_else(too_large)?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|cause| fault(format!("the picture could not be encoded: {cause}")))
}

/// The name of the family in the font files; its condensed faces are used.
const FAMILY: &str = "DejaVu Sans";

/// The built-in font; also the system's if the text has letters that the font may lack.
fn fonts(svg: &str) -> Arc<usvg::fontdb::Database> {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(dejavu::sans_condensed::regular().to_vec());
    fonts.load_font_data(dejavu::sans_condensed::bold().to_vec());
    fonts.set_sans_serif_family(FAMILY);
    if svg.chars().any(|letter| !matches!(letter, '\0'..='\u{58f}' | '\u{1e00}'..='\u{22ff}')) {
        fonts.load_system_fonts();
    }
    Arc::new(fonts)
}
