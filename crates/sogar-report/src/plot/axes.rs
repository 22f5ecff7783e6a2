//! A panel with two axes: scales, round ticks, grid lines, and paths in its coordinates.

use super::svg::{Anchor, Drawing, FAINT, GREY, INK, Style};
use sogar_table::feature::format_number;

/// Font size of ticks and axes: eight points when printed at the width of a paper's column.
pub const LETTERS: f64 = 13.0;

/// The values of an axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    least: f64,
    most: f64,
    step: f64,
}

impl Scale {
    /// From one value to another, widened to round ticks, of which there are about `ticks`.
    pub fn of(least: f64, most: f64, ticks: u32) -> Scale {
        let (least, most) = if least.is_finite() && most.is_finite() { (least, most) } else { (0.0, 1.0) };
        let most = if most - least > 1e-9 { most } else { least + 1e-3 };
        let rough = (most - least) / f64::from(ticks.max(1));
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].iter().map(|m| m * power).find(|step| *step >= rough * 0.999);
        let step = step.unwrap_or(rough);
        Scale { least: (least / step + 1e-6).floor() * step, most: (most / step - 1e-6).ceil() * step, step }
    }

    /// Like [`Scale::of`], but ends with the values instead of a tick, without empty space.
    pub fn tight(least: f64, most: f64, ticks: u32) -> Scale {
        let wide = Scale::of(least, most, ticks);
        let end = if most.is_finite() { most + 0.02 * (wide.most - wide.least) } else { wide.most };
        Scale { most: end.clamp(wide.least + wide.step, wide.most), ..wide }
    }

    fn ticks(&self) -> Vec<f64> {
        let count = ((self.most - self.least) / self.step + 1e-6).floor() as i32;
        (0..=count).map(|tick| self.least + f64::from(tick) * self.step).collect()
    }

    fn share(&self, value: f64) -> f64 {
        (value - self.least) / (self.most - self.least)
    }

    fn text(&self, value: f64) -> String {
        let digits = (-self.step.log10().floor()).clamp(0.0, 9.0) as usize;
        if self.most.abs().max(self.least.abs()) >= 1e6 {
            return format_number(value.round());
        }
        let value = if value.abs() < self.step / 1e3 { 0.0 } else { value };
        format!("{value:.digits$}").replace('-', "−")
    }

    fn percent(&self, value: f64) -> String {
        let digits = (-(100.0 * self.step).log10().floor()).clamp(0.0, 9.0) as usize;
        let value = if value.abs() < self.step / 1e3 { 0.0 } else { value };
        format!("{:.digits$} %", 100.0 * value).replace('-', "−")
    }
}

/// A panel of a figure.
pub struct Panel {
    /// Left and right edge.
    pub across: (f64, f64),
    /// Top and bottom edge.
    pub down: (f64, f64),
    /// The x-axis.
    pub x: Scale,
    /// The y-axis.
    pub y: Scale,
    /// Whether the y values are shares, written as percentages.
    pub percent: bool,
}

impl Panel {
    /// The position of a pair of values.
    pub fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let ((left, right), (top, bottom)) = (self.across, self.down);
        (left + self.x.share(x) * (right - left), bottom - self.y.share(y) * (bottom - top))
    }

    /// Draws grid, ticks and the names of the axes; `under` is empty for a panel that shares the axis of the one below.
    pub fn draw(&self, drawing: &mut Drawing, under: &str, beside: &str) {
        let ((left, right), (top, bottom)) = (self.across, self.down);
        let ticks = Style::plain(LETTERS);
        for tick in self.y.ticks() {
            let (_, y) = self.place((0.0, tick));
            drawing.line((left, y), (right, y), FAINT, 1.0);
            let text = if self.percent { self.y.percent(tick) } else { self.y.text(tick) };
            drawing.text((left - 7.0, y + 4.5), &text, ticks.anchor(Anchor::End));
        }
        for tick in self.x.ticks() {
            let (x, _) = self.place((tick, 0.0));
            drawing.line((x, bottom), (x, bottom + 4.0), GREY, 1.0);
            if !under.is_empty() {
                drawing.text((x, bottom + 18.0), &self.x.text(tick), ticks.anchor(Anchor::Middle));
            }
        }
        drawing.line((left, bottom), (right, bottom), INK, 1.0);
        drawing.line((left, top), (left, bottom), INK, 1.0);
        let name = Style::plain(LETTERS).anchor(Anchor::Middle);
        drawing.text(((left + right) / 2.0, bottom + 37.0), under, name);
        drawing.text_upwards((14.0, (top + bottom) / 2.0), beside, name);
    }

    /// The staircase of a front: the loss at a cost holds until a better point.
    pub fn stairs(&self, points: &[(f64, f64)]) -> String {
        let mut path = String::new();
        let mut last = (String::new(), String::new());
        for (number, &point) in points.iter().enumerate() {
            let (x, y) = self.place(point);
            let (x, y) = (format!("{x:.1}"), format!("{y:.1}"));
            if number == 0 {
                path = format!("M{x} {y}");
            } else {
                if x != last.0 {
                    path += &format!("H{x}");
                }
                if y != last.1 {
                    path += &format!("V{y}");
                }
            }
            last = (x, y);
        }
        path
    }

    /// A line through points, without those that would be indistinguishable.
    pub fn curve(&self, points: impl IntoIterator<Item = (f64, f64)>) -> String {
        let mut path = String::new();
        let mut last = String::new();
        for point in points {
            let (x, y) = self.place(point);
            let place = format!("{x:.1} {y:.1}");
            if place != last {
                path += if path.is_empty() { "M" } else { "L" };
                path += &place;
                last = place;
            }
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_cover_the_values() {
        for (least, most) in
            [(0.0, 0.463), (0.0, 1.0), (-0.031, 0.12), (0.5, 0.5), (0.0, 1e-7), (f64::NAN, 3.0)]
        {
            let scale = Scale::of(least, most, 5);
            let ticks = scale.ticks();
            assert!((2..=9).contains(&ticks.len()), "{least} to {most}: {ticks:?}");
            if least.is_finite() {
                assert!(scale.least <= least + 1e-9 && scale.most >= most - 1e-9, "{scale:?}");
            }
        }
        let scale = Scale::of(0.0, 0.463, 5);
        let texts: Vec<String> = scale.ticks().iter().map(|&tick| scale.text(tick)).collect();
        assert_eq!(texts, ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(Scale::of(0.0, 1.0, 5).percent(0.2), "20 %");
        let tight = Scale::tight(0.0, 0.063, 5);
        assert!(tight.most > 0.063 && tight.most < 0.066 && tight.ticks().len() == 4, "{tight:?}");
    }
}
