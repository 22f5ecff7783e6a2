//! Groups along a front. Above: the measure of each group at every point. Below: the gap of a group to everyone else, with its
//! interval.
//!
//! The x-axis is the mean cost over all people, as in the figure of the front.

use super::axes::{LETTERS, Panel, Scale};
use super::chart::MANY;
use super::lettering::{cut, heading as fitted, lines, width};
use super::svg::{Drawing, GREY, INK, SERIES, Style};
use sogar_audit::audit::{GroupAudit, GroupingAudit, MeasureAudit, MeasureName};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_front::describe::grouped;
use sogar_front::summary::FrontFile;

const WIDTH: f64 = 440.0;
const LEFT: f64 = 64.0;
const HEIGHT: f64 = 450.0;
/// With more groups than this, intervals would only cover one another.
const MOST_BANDS: usize = 2;

/// One group with its curves.
struct Line<'a> {
    group: &'a GroupAudit,
    measure: &'a MeasureAudit,
    colour: &'static str,
}

/// Draws one measure of the groups of an audit along the audited front.
pub fn disparity_svg(
    front: &FrontFile,
    groups: &GroupingAudit,
    measure: MeasureName,
    title: Option<&str>,
) -> Result<String> {
    let lines_of = chosen(front, groups, measure)?;
    let costs: Vec<f64> = front.points.iter().map(|point| point.cost).collect();
    let figure = Figure { window: window(costs.len()), costs, lines: lines_of, measure };
    let told = figure.told(&groups.shown);
    let heading = heading(groups, measure, title);
    let mut drawing = Drawing::new(WIDTH, HEIGHT, &heading, &told);
    let (shown, size) = fitted(&heading, WIDTH - 74.0);
    drawing.text((LEFT, 22.0), &shown, Style::plain(size).bold());
    figure.draw_values(&mut drawing);
    figure.draw_gaps(&mut drawing);
    for (number, words) in lines(&told, LETTERS, WIDTH - 30.0, 3).iter().enumerate() {
        drawing.text((16.0, 407.0 + 16.0 * number as f64), words, Style::plain(LETTERS).colour(GREY));
    }
    Ok(drawing.finish())
}

/// The contents of the figure.
struct Figure<'a> {
    lines: Vec<Line<'a>>,
    /// Mean cost of every point.
    costs: Vec<f64>,
    measure: MeasureName,
    /// Number of neighbouring points that a line averages.
    window: usize,
}

impl Figure<'_> {
    fn panel(&self, down: (f64, f64), y: Scale) -> Panel {
        let x = Scale::tight(0.0, self.costs.iter().copied().fold(0.0, f64::max), 5);
        Panel { across: (LEFT, WIDTH - 16.0), down, x, y, percent: self.measure == MeasureName::Loss }
    }

    fn smooth(&self, values: &[f64]) -> Vec<(f64, f64)> {
        self.costs.iter().copied().zip(means(values, self.window)).collect()
    }

    fn told(&self, grouping: &str) -> String {
        let widest = self.lines.iter().max_by(|a, b| a.measure.mean_gap.total_cmp(&b.measure.mean_gap));
        let mut told = widest.map_or(String::new(), |line| finding(grouping, line, self.measure));
        if self.window > 1 {
            told += &format!(" Lines are means of {} neighbouring points.", self.window);
        }
        told
    }

    /// Draws the measure of every group: single points behind the lines if these are means.
    fn draw_values(&self, drawing: &mut Drawing) {
        let highest = most(self.lines.iter().flat_map(|line| line.measure.values.iter().copied()));
        let panel = self.panel((38.0, 208.0), Scale::of(0.0, highest, 5));
        panel.draw(drawing, "", &format!("{} per group", name(self.measure)));
        for line in self.lines.iter().filter(|_| self.window > 1) {
            let dots = self.costs.iter().copied().zip(line.measure.values.iter().copied());
            drawing.faint_dots(dots.map(|point| panel.place(point)), line.colour, 2.0, 0.25);
        }
        for line in &self.lines {
            drawing.stroke(&panel.curve(self.smooth(&line.measure.values)), line.colour, 1.8, "");
        }
        legend(drawing, &panel, &self.lines, self.measure);
    }

    /// Draws the gap of each group to everyone else, with its interval if there is room.
    fn draw_gaps(&self, drawing: &mut Drawing) {
        let gaps = gap_lines(&self.lines);
        let banded = gaps.len() <= MOST_BANDS;
        let reach = |line: &&Line<'_>| {
            let MeasureAudit { high, low, gap, .. } = line.measure;
            if banded { [self.smooth(high), self.smooth(low)] } else { [self.smooth(gap), Vec::new()] }
        };
        let values: Vec<f64> = gaps.iter().flat_map(reach).flatten().map(|(_, value)| value).collect();
        let (lowest, highest) = (-most(values.iter().map(|value| -value)), most(values.iter().copied()));
        let panel = self.panel((226.0, 352.0), Scale::of(lowest.min(0.0), highest.max(0.0), 4));
        panel.draw(drawing, "mean cost over all people", "gap to all others");
        for line in &gaps {
            let MeasureAudit { high, low, gap, .. } = line.measure;
            if banded {
                let mut round = self.smooth(high);
                round.extend(self.smooth(low).into_iter().rev());
                drawing.fill(&(panel.curve(round) + "Z"), line.colour, 0.2);
            }
            drawing.stroke(&panel.curve(self.smooth(gap)), line.colour, 1.6, "");
        }
        let (_, zero) = panel.place((0.0, 0.0));
        drawing.line((panel.across.0, zero), (panel.across.1, zero), INK, 1.0);
    }
}

/// The largest groups with enough people, in the audit's order.
fn chosen<'a>(front: &FrontFile, groups: &'a GroupingAudit, measure: MeasureName) -> Result<Vec<Line<'a>>> {
    let mut large: Vec<(&GroupAudit, &MeasureAudit)> = groups
        .groups
        .iter()
        .filter_map(|group| group.measures.as_ref().map(|measures| (group, measures.get(measure))))
        .collect();
    if large.is_empty() {
        let message = format!("no group of `{}` is large enough for a statement", groups.shown);
        return Err(Error::new(ErrorKind::Population, message)
            .help("choose another grouping, or allow smaller groups with --min-group"));
    }
    let lengths = |m: &MeasureAudit| [m.values.len(), m.gap.len(), m.low.len(), m.high.len()];
    if large.iter().any(|(_, measure)| lengths(measure) != [front.points.len(); 4]) {
        return Err(Error::new(ErrorKind::ResultFile, "the audit is not one of this front"));
    }
    large.sort_by(|(a, _), (b, _)| b.affected.total_cmp(&a.affected));
    large.truncate(SERIES.len());
    let drawn = groups.groups.iter().filter(|group| large.iter().any(|(kept, _)| kept.group == group.group));
    let lines = drawn.zip(SERIES).filter_map(|(group, colour)| {
        group.measures.as_ref().map(|measures| Line { group, measure: measures.get(measure), colour })
    });
    Ok(lines.collect())
}

/// With two groups, each gap is the negative of the other: shows the one that is worse off.
fn gap_lines<'a, 'b>(lines: &'b [Line<'a>]) -> Vec<&'b Line<'a>> {
    match lines {
        [one, two] => vec![if one.measure.mean_gap >= two.measure.mean_gap { one } else { two }],
        more => more.iter().collect(),
    }
}

fn heading(groups: &GroupingAudit, measure: MeasureName, title: Option<&str>) -> String {
    title.map_or_else(
        || format!("{} by {} along the front", capital(name(measure)), groups.shown),
        str::to_owned,
    )
}

fn finding(grouping: &str, line: &Line<'_>, measure: MeasureName) -> String {
    let MeasureAudit { mean_gap, mean_gap_low, mean_gap_high, share_worse, .. } = line.measure;
    format!(
        "{grouping} = {}: mean gap in {} {mean_gap:+.3} (95 % interval {mean_gap_low:+.3} to {mean_gap_high:+.3}), worse off at {:.1} % \
         of {} points.",
        line.group.shown,
        name(measure),
        100.0 * share_worse,
        grouped(line.measure.gap.len())
    )
}

fn legend(drawing: &mut Drawing, panel: &Panel, lines: &[Line<'_>], measure: MeasureName) {
    let texts: Vec<String> = lines
        .iter()
        .map(|line| cut(&format!("{} ({})", line.group.shown, grouped(line.group.affected)), LETTERS, 200.0))
        .collect();
    let widest = texts.iter().map(|text| width(text, LETTERS)).fold(0.0, f64::max);
    // The corner that the curves leave free: costs rise along the front, losses fall.
    let x = match measure {
        MeasureName::Cost => panel.across.0 + 34.0,
        _ => panel.across.1 - widest - 6.0,
    };
    for (number, (line, text)) in lines.iter().zip(&texts).enumerate() {
        let y = panel.down.0 + 13.0 + 16.0 * number as f64;
        drawing.line((x - 22.0, y - 4.5), (x - 7.0, y - 4.5), line.colour, 2.4);
        drawing.text((x, y), text, Style::plain(LETTERS));
    }
}

/// Number of neighbouring points that a line averages: neighbours on a long front may be very different trees, and a line through
/// all of them would be unreadable.
fn window(points: usize) -> usize {
    if points > MANY { (points / 60) | 1 } else { 1 }
}

/// Moving averages of the values.
fn means(values: &[f64], window: usize) -> Vec<f64> {
    let half = window / 2;
    (0..values.len())
        .map(|at| {
            let near = &values[at.saturating_sub(half)..(at + half + 1).min(values.len())];
            near.iter().sum::<f64>() / near.len() as f64
        })
        .collect()
}

fn most(values: impl Iterator<Item = f64>) -> f64 {
    values.filter(|value| value.is_finite()).fold(f64::NEG_INFINITY, f64::max)
}

fn name(measure: MeasureName) -> &'static str {
    match measure {
        MeasureName::Cost => "mean cost",
        MeasureName::Loss => "loss",
        MeasureName::Invalidity => "invalidity",
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
