//! Figures from plain points, for results that are kept without their fronts: cost and loss, or any two quantities.

use super::axes::{LETTERS, Panel, Scale};
use super::chart::{Chart, Draw, Series};
use super::lettering::{BOLD, cut, width};
use super::svg::{Drawing, SERIES, Style};
use super::tradeoff::Look;

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 310.0;

/// Points with a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The name in the legend.
    pub name: String,
    /// The points, in order.
    pub points: Vec<(f64, f64)>,
    /// Whether they are single dots instead of a line.
    pub dots: bool,
}

/// Curves of cost and loss with other results beside them; at most as many as there are colours.
pub fn curves_svg(curves: &[Curve], look: &Look) -> String {
    let mut chart = Chart::new(look);
    let (lines, marks) = (curves.len(), look.marks.len());
    chart.description = format!("Cost and loss: {lines} curves and {marks} single results.");
    for (curve, colour) in curves.iter().zip(SERIES) {
        let look = if curve.dots { Draw::Dots } else { Draw::Stairs };
        chart.add(Series { name: curve.name.clone(), points: curve.points.clone(), look, colour });
    }
    chart.svg()
}

/// Lines over any two quantities, with a legend in the upper right corner.
pub fn lines_svg(title: &str, (under, beside): (&str, &str), curves: &[Curve]) -> String {
    let names: Vec<&str> = curves.iter().map(|curve| curve.name.as_str()).collect();
    let mut drawing =
        Drawing::new(WIDTH, HEIGHT, title, &format!("{beside} by {under}: {}.", names.join(", ")));
    drawing.text((64.0, 22.0), &cut(title, 15.0 * BOLD, WIDTH - 80.0), Style::plain(15.0).bold());
    let points = || curves.iter().flat_map(|curve| curve.points.iter().copied());
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((0.0_f64, 0.0_f64), |(least, most), value| (least.min(value), most.max(value)))
    };
    let (left, right) = range(&mut points().map(|point| point.0));
    let (bottom, top) = range(&mut points().map(|point| point.1));
    let panel = Panel {
        across: (64.0, WIDTH - 16.0),
        down: (40.0, HEIGHT - 50.0),
        x: Scale::tight(left, right, 5),
        y: Scale::of(bottom, top, 5),
        percent: false,
    };
    panel.draw(&mut drawing, under, beside);
    for (curve, colour) in curves.iter().zip(SERIES) {
        match curve.dots {
            true => drawing.dots(curve.points.iter().map(|&point| panel.place(point)), colour, 4.0),
            false => drawing.stroke(&panel.curve(curve.points.iter().copied()), colour, 1.8, ""),
        }
    }
    let widest = names.iter().map(|name| width(name, LETTERS)).fold(0.0, f64::max);
    let x = panel.across.1 - widest - 6.0;
    for (number, (name, colour)) in names.iter().zip(SERIES).enumerate() {
        let y = panel.down.0 + 13.0 + 16.0 * number as f64;
        drawing.line((x - 22.0, y - 4.5), (x - 7.0, y - 4.5), colour, 2.4);
        drawing.text((x, y), name, Style::plain(LETTERS));
    }
    drawing.finish()
}

#[cfg(test)]
mod tests {
    use super::super::tradeoff::Mark;
    use super::*;

    #[test]
    fn curves_and_marks_have_their_names_and_the_same_points_give_the_same_bytes() {
        let curve =
            |name: &str, dots| Curve { name: name.into(), points: vec![(0.0, 1.0), (0.4, 0.1)], dots };
        let mark = Mark { name: "CET".into(), cost: 0.3, loss: 0.5 };
        let look = Look { marks: vec![mark], ..Look::default() };
        let svg = curves_svg(&[curve("front", false), curve("held out", true)], &look);
        for text in ["front", "held out", "CET"] {
            assert!(svg.contains(text), "{svg}");
        }
        assert_eq!(svg, curves_svg(&[curve("front", false), curve("held out", true)], &look));
        let lines = lines_svg("Gap", ("invalidity", "gap"), &[curve("women", false)]);
        assert!(lines.starts_with("<svg") && lines.contains("women") && lines.contains("gap by invalidity"));
        assert!(lines_svg("Nothing", ("x", "y"), &[]).contains("Nothing"));
    }
}
