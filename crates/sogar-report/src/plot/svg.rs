//! An SVG drawing: the few shapes that figures need, with all text escaped.
//!
//! Coordinates have one decimal, which is finer than any printer at these sizes and keeps files small.

use std::fmt::Write;

use super::lettering::FONT;
use sogar_base::markup::{escaped, visible};

/// Colours that readers with any colour vision can tell apart (after Okabe and Ito), in the order of series.
pub const SERIES: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#aa4499", "#56b4e9", "#b58900", "#666666", "#000000"];
/// Text and axes.
pub const INK: &str = "#1f2933";
/// Muted: grid lines and remarks.
pub const GREY: &str = "#5b6875";
/// Grid lines.
pub const FAINT: &str = "#d9dfe5";

/// Default number of CSS pixels per unit of the drawing.
const ENLARGED: f64 = 1.5;

/// A drawing being built.
pub struct Drawing {
    width: f64,
    height: f64,
    title: String,
    description: String,
    body: String,
}

/// The alignment of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// How a text looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    /// Font size.
    pub size: f64,
    /// Colour.
    pub colour: &'static str,
    /// Its alignment.
    pub anchor: Anchor,
    /// Bold.
    pub bold: bool,
}

impl Style {
    /// Plain text, left-aligned.
    pub const fn plain(size: f64) -> Style {
        Style { size, colour: INK, anchor: Anchor::Start, bold: false }
    }

    /// The same in another colour.
    pub const fn colour(self, colour: &'static str) -> Style {
        Style { colour, ..self }
    }

    /// The same with another alignment.
    pub const fn anchor(self, anchor: Anchor) -> Style {
        Style { anchor, ..self }
    }

    /// The same in bold.
    pub const fn bold(self) -> Style {
        Style { bold: true, ..self }
    }
}

impl Drawing {
    /// An empty drawing. Title and description are for readers who cannot see it.
    pub fn new(width: f64, height: f64, title: &str, description: &str) -> Drawing {
        let (title, description) = (title.to_owned(), description.to_owned());
        Drawing { width, height, title, description, body: String::new() }
    }

    /// A straight line.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), colour: &str, width: f64) {
        let ((x1, y1), (x2, y2)) = (from, to);
        self.push(format_args!(
            "<path d=\"M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
        ));
    }

    /// A stroke along a path of SVG commands; `dashes` is empty for a solid line.
    pub fn stroke(&mut self, path: &str, colour: &str, width: f64, dashes: &str) {
        let dashes =
            if dashes.is_empty() { String::new() } else { format!(" stroke-dasharray=\"{dashes}\"") };
        self.push(format_args!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" \
             stroke-linejoin=\"round\"{dashes}/>"
        ));
    }

    /// A filled shape.
    pub fn fill(&mut self, path: &str, colour: &str, opacity: f64) {
        self.push(format_args!("<path d=\"{path}\" fill=\"{colour}\" fill-opacity=\"{opacity}\"/>"));
    }

    /// Many dots as one path: thousands of circles would be a large file.
    pub fn dots(&mut self, places: impl IntoIterator<Item = (f64, f64)>, colour: &str, width: f64) {
        self.faint_dots(places, colour, width, 1.0);
    }

    /// Transparent dots.
    pub fn faint_dots(
        &mut self,
        places: impl IntoIterator<Item = (f64, f64)>,
        colour: &str,
        width: f64,
        opacity: f64,
    ) {
        let mut path = String::new();
        let mut last = String::new();
        for (x, y) in places {
            let dot = format!("M{x:.1} {y:.1}h0");
            if dot != last {
                path.push_str(&dot);
                last = dot;
            }
        }
        let faint = if opacity < 1.0 { format!(" stroke-opacity=\"{opacity}\"") } else { String::new() };
        self.push(format_args!(
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{width}\" stroke-linecap=\"round\"{faint}/>"
        ));
    }

    /// A dot with a white rim, for highlighted points.
    pub fn mark(&mut self, (x, y): (f64, f64), colour: &str) {
        self.push(format_args!(
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"5\" fill=\"{colour}\" stroke=\"#fff\" stroke-width=\"1.5\"/>"
        ));
    }

    /// Like a mark, but a diamond.
    pub fn diamond(&mut self, (x, y): (f64, f64), colour: &str) {
        let (top, left) = (y - 6.5, x - 6.5);
        self.push(format_args!(
            "<path d=\"M{x:.1} {top:.1}l6.5 6.5l-6.5 6.5L{left:.1} {y:.1}Z\" fill=\"{colour}\" stroke=\"#fff\" stroke-width=\"1.5\"/>"
        ));
    }

    /// A box with round corners.
    pub fn rounded(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), fill: &str, line: &str) {
        self.push(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"5\" fill=\"{fill}\" \
             stroke=\"{line}\"/>"
        ));
    }

    /// A line of text.
    pub fn text(&mut self, (x, y): (f64, f64), words: &str, style: Style) {
        let Style { size, colour, anchor, bold } = style;
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let weight = if bold { " font-weight=\"bold\"" } else { "" };
        self.push(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" fill=\"{colour}\"{anchor}{weight}>{}</text>",
            escaped(&visible(words))
        ));
    }

    /// A vertical line of text, read from below.
    pub fn text_upwards(&mut self, (x, y): (f64, f64), words: &str, style: Style) {
        self.push(format_args!("<g transform=\"translate({x:.1} {y:.1}) rotate(-90)\">"));
        self.text((0.0, 0.0), words, style);
        self.push(format_args!("</g>"));
    }

    /// Starts a group with a tooltip; ends with [`Drawing::end_group`].
    pub fn begin_group(&mut self, told: &str) {
        self.push(format_args!("<g><title>{}</title>", escaped(&visible(told))));
    }

    /// Ends a group.
    pub fn end_group(&mut self) {
        self.push(format_args!("</g>"));
    }

    /// The whole file.
    pub fn finish(self) -> String {
        let Drawing { width, height, title, description, body } = self;
        let (wide, high) = (width * ENLARGED, height * ENLARGED);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{wide:.0}\" \
             height=\"{high:.0}\" role=\"img\" aria-labelledby=\"title desc\" font-family=\"{FONT}\">\n\
             <title id=\"title\">{}</title>\n<desc id=\"desc\">{}</desc>\n\
             <rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"#fff\"/>\n{body}</svg>\n",
            escaped(&visible(&title)),
            escaped(&visible(&description))
        )
    }

    fn push(&mut self, element: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = self.body.write_fmt(element);
        self.body.push('\n');
    }
}
