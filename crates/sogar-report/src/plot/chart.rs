//! The chart behind all figures of cost and loss: series, highlighted points, other results, a legend.

use super::axes::{LETTERS, Panel, Scale};
use super::lettering::{BOLD, cut, width};
use super::svg::{Drawing, GREY, INK, SERIES, Style};
use super::tradeoff::{Look, Upwards};

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 310.0;
/// Number of points from which single ones are indistinguishable.
pub(super) const MANY: usize = 600;

/// How a series is drawn.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Draw {
    Front,
    DashedFront,
    Stairs,
    Dots,
    Dashed,
}

pub(super) struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    pub look: Draw,
    pub colour: &'static str,
}

/// The symbol before a line of the legend.
enum Key<'a> {
    Series(&'a Series),
    Pick(usize),
    Remark,
}

impl Key<'_> {
    fn draw(&self, drawing: &mut Drawing, (from, to): (f64, f64), y: f64) {
        let (path, middle) = (format!("M{from:.1} {y:.1}H{to:.1}"), (f64::midpoint(from, to), y));
        match self {
            Key::Remark => {}
            Key::Pick(number) => draw_pick(drawing, middle, *number),
            Key::Series(series) => match series.look {
                Draw::Dots => drawing.dots([middle], series.colour, 6.0),
                Draw::Dashed => drawing.stroke(&path, series.colour, 1.4, "2 3"),
                Draw::DashedFront => drawing.stroke(&path, series.colour, 2.0, "5 3"),
                Draw::Front | Draw::Stairs => drawing.stroke(&path, series.colour, 2.2, ""),
            },
        }
    }
}

/// The first highlighted point is round, the next is not, so that they differ without colour.
fn draw_pick(drawing: &mut Drawing, place: (f64, f64), number: usize) {
    match number {
        0 => drawing.mark(place, SERIES[1]),
        _ => drawing.diamond(place, SERIES[3]),
    }
}

pub(super) struct Chart<'a> {
    look: &'a Look,
    series: Vec<Series>,
    picks: Vec<(String, (f64, f64))>,
    /// A separate line below the legend.
    pub remark: Option<String>,
    /// For readers who cannot see the figure.
    pub description: String,
}

impl<'a> Chart<'a> {
    pub(super) fn new(look: &'a Look) -> Chart<'a> {
        Chart { look, series: Vec::new(), picks: Vec::new(), remark: None, description: String::new() }
    }

    pub(super) fn add(&mut self, series: Series) {
        self.series.push(series);
    }

    /// Highlights a point; one that already has a name keeps it.
    pub(super) fn pick(&mut self, name: &str, place: (f64, f64)) {
        if !self.picks.iter().any(|(_, known)| *known == place) {
            self.picks.push((name.to_owned(), place));
        }
    }

    fn turned(&self, (cost, loss): (f64, f64)) -> (f64, f64) {
        match self.look.upwards {
            Upwards::Loss => (cost, loss),
            Upwards::Works => (cost, 1.0 - loss),
        }
    }

    pub(super) fn svg(self) -> String {
        let heading = self.look.title.as_deref().unwrap_or("");
        let title = if heading.is_empty() { "Trade-off between cost and loss" } else { heading };
        let mut drawing = Drawing::new(WIDTH, HEIGHT, title, &self.description);
        let top = if heading.is_empty() { 16.0 } else { 40.0 };
        drawing.text((64.0, 22.0), &cut(heading, 15.0 * BOLD, WIDTH - 80.0), Style::plain(15.0).bold());
        let marks = self.look.marks.iter().map(|mark| mark.cost);
        let costs =
            self.series.iter().flat_map(|series| series.points.iter().map(|point| point.0)).chain(marks);
        let panel = Panel {
            across: (64.0, WIDTH - 16.0),
            down: (top, HEIGHT - 50.0),
            x: Scale::tight(0.0, costs.fold(0.0, f64::max), 5),
            y: Scale::of(0.0, 1.0, 5),
            percent: true,
        };
        let beside = match self.look.upwards {
            Upwards::Loss => "people without recourse (loss)",
            Upwards::Works => "people for whom it works",
        };
        panel.draw(&mut drawing, "mean cost of the recommended changes", beside);
        for series in &self.series {
            self.draw_series(&mut drawing, &panel, series);
        }
        self.draw_legend(&mut drawing, &panel);
        self.draw_picks(&mut drawing, &panel);
        self.draw_marks(&mut drawing, &panel);
        drawing.finish()
    }

    fn draw_series(&self, drawing: &mut Drawing, panel: &Panel, series: &Series) {
        let points: Vec<(f64, f64)> = series.points.iter().map(|&point| self.turned(point)).collect();
        let colour = series.colour;
        match series.look {
            Draw::Front | Draw::Stairs => drawing.stroke(&panel.stairs(&points), colour, 1.6, ""),
            Draw::DashedFront => drawing.stroke(&panel.stairs(&points), colour, 1.6, "5 3"),
            Draw::Dashed => drawing.stroke(&panel.stairs(&points), colour, 1.2, "2 3"),
            Draw::Dots => {}
        }
        let dot = if points.len() > MANY { 2.4 } else { 4.0 };
        if matches!(series.look, Draw::Front | Draw::Dots) {
            drawing.dots(points.iter().map(|&point| panel.place(point)), colour, dot);
        }
    }

    /// The legend in the corner that a front leaves free: series, highlighted points with their values, and a remark.
    fn draw_legend(&self, drawing: &mut Drawing, panel: &Panel) {
        let ((left, right), (top, bottom)) = (panel.across, panel.down);
        let mut rows: Vec<(String, Key<'_>)> =
            self.series.iter().map(|series| (series.name.clone(), Key::Series(series))).collect();
        for (number, (name, place)) in self.picks.iter().enumerate() {
            let (cost, share) = self.turned(*place);
            rows.push((format!("{name}: {:.1} % at {cost:.3}", 100.0 * share), Key::Pick(number)));
        }
        rows.extend(self.remark.iter().map(|remark| (remark.clone(), Key::Remark)));
        let widest = rows.iter().map(|(text, _)| width(text, LETTERS)).fold(0.0, f64::max);
        let x = (right - widest - 2.0).max(left + 40.0);
        let first = match self.look.upwards {
            Upwards::Loss => top + 14.0,
            Upwards::Works => bottom - 12.0 - 17.0 * rows.len().saturating_sub(1) as f64,
        };
        for (number, (text, key)) in rows.iter().enumerate() {
            let y = first + 17.0 * number as f64;
            key.draw(drawing, (x - 24.0, x - 8.0), y - 4.5);
            let colour = if matches!(key, Key::Remark) { GREY } else { INK };
            drawing.text((x, y), &cut(text, LETTERS, right - x), Style::plain(LETTERS).colour(colour));
        }
    }

    fn draw_picks(&self, drawing: &mut Drawing, panel: &Panel) {
        for (number, (_, place)) in self.picks.iter().enumerate() {
            draw_pick(drawing, panel.place(self.turned(*place)), number);
        }
    }

    /// Other results beside the front, each with its name where it hides the least of the others and of the front.
    fn draw_marks(&self, drawing: &mut Drawing, panel: &Panel) {
        let place = |point: (f64, f64)| panel.place(self.turned(point));
        let marks: Vec<(f64, f64)> =
            self.look.marks.iter().map(|mark| place((mark.cost, mark.loss))).collect();
        let points = self.series.iter().flat_map(|series| &series.points).map(|&point| place(point));
        let taken: Vec<(f64, f64)> = points.chain(marks.iter().copied()).collect();
        let mut labels: Vec<Label> = Vec::new();
        for (number, (mark, &at)) in self.look.marks.iter().zip(&marks).enumerate() {
            let colour = SERIES[2 + number % (SERIES.len() - 2)];
            drawing.mark(at, colour);
            let name = cut(&mark.name, LETTERS, 160.0);
            let wide = width(&name, LETTERS) * BOLD;
            let hidden = |label: &Label| {
                let outside = label.left < panel.across.0
                    || label.left + label.wide > panel.across.1
                    || label.below - LETTERS < panel.down.0
                    || label.below + 2.0 > panel.down.1;
                let points = taken.iter().filter(|&&point| label.covers(point)).count();
                let others = labels.iter().filter(|other| label.overlaps(other)).count();
                usize::from(outside) * 1000 + others * 100 + points
            };
            let Some(label) = Label::around(at, wide).into_iter().min_by_key(hidden) else { continue };
            let style = Style::plain(LETTERS).colour(colour).bold();
            drawing.text((label.left, label.below), &name, style);
            labels.push(label);
        }
    }
}

/// A name beside a mark: the left end of its box, its width, and its base line.
struct Label {
    left: f64,
    wide: f64,
    below: f64,
}

impl Label {
    /// Right and left of a mark, above and below it; then further above, starting or ending at the mark.
    fn around((x, y): (f64, f64), wide: f64) -> [Label; 8] {
        let label = |left: f64, below: f64| Label { left, wide, below };
        [
            label(x + 9.0, y + 4.5),
            label(x - 9.0 - wide, y + 4.5),
            label(x - wide / 2.0, y - 9.0),
            label(x - wide / 2.0, y + 18.0),
            label(x - wide + 5.0, y - 9.0),
            label(x - 5.0, y - 9.0),
            label(x - wide + 5.0, y - 24.0),
            label(x - 5.0, y - 24.0),
        ]
    }

    fn covers(&self, (x, y): (f64, f64)) -> bool {
        let above = self.below - LETTERS;
        (self.left - 4.0..self.left + self.wide + 4.0).contains(&x) && (above..self.below + 4.0).contains(&y)
    }

    fn overlaps(&self, other: &Label) -> bool {
        let across = self.left < other.left + other.wide + 4.0 && other.left < self.left + self.wide + 4.0;
        across && (self.below - other.below).abs() < LETTERS + 2.0
    }
}
