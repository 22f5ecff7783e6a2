//! Cost, loss and gap as one figure. Above: the front, each point coloured by the gap between groups. Below: that gap along the front.
//!
//! The *gap* of a point is the largest distance of a group from everyone else, in either direction, as `select --by "gap(loss, sex)<=0.05"`
//! and `solve --max-gap` limit it.

use super::axes::{LETTERS, Panel, Scale};
use super::lettering::{heading as fitted, lines, width};
use super::svg::{Drawing, GREY, INK, Style};
use sogar_audit::audit::{GroupAudit, GroupingAudit, MeasureName};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_front::summary::FrontFile;

const WIDTH: f64 = 440.0;
const HEIGHT: f64 = 470.0;
const LEFT: f64 = 64.0;
/// Colours of the gaps, in quarters of the widest: light and dark enough apart to be told in grey.
const SHADES: [&str; 4] = ["#0072b2", "#6a9fb5", "#d99a5b", "#a63603"];

/// The gap between groups at every point: the largest distance of one of `groups` from everyone else. `None` if none of them has figures.
pub fn gaps<'a>(
    groups: impl IntoIterator<Item = &'a GroupAudit>,
    measure: MeasureName,
    points: usize,
) -> Option<Vec<f64>> {
    let mut widest: Option<Vec<f64>> = None;
    for measures in groups.into_iter().filter_map(|group| group.measures.as_ref()) {
        let known = widest.get_or_insert_with(|| vec![0.0; points]);
        for (most, gap) in known.iter_mut().zip(&measures.get(measure).gap) {
            *most = most.max(gap.abs());
        }
    }
    widest
}

/// Draws cost, loss and the gap of a measure between the groups of an audit.
pub fn fairness_svg(
    front: &FrontFile,
    groups: &GroupingAudit,
    measure: MeasureName,
    title: Option<&str>,
) -> Result<String> {
    let found = gaps(&groups.groups, measure, front.points.len()).ok_or_else(|| {
        let message = format!("no group of `{}` is large enough for a statement", groups.shown);
        Error::new(ErrorKind::Population, message)
            .help("choose another grouping, or allow smaller groups with --min-group")
    })?;
    Ok(gaps_svg(front, &groups.shown, measure, &found, title))
}

/// The same for gaps that are known, one at each point.
pub fn gaps_svg(
    front: &FrontFile,
    grouping: &str,
    measure: MeasureName,
    gaps: &[f64],
    title: Option<&str>,
) -> String {
    let heading = title
        .map_or_else(|| format!("Cost, loss and gap in {} by {grouping}", measure.name()), str::to_owned);
    let told = told(front, measure, gaps);
    let mut drawing = Drawing::new(WIDTH, HEIGHT, &heading, &told);
    let (shown, size) = fitted(&heading, WIDTH - 74.0);
    drawing.text((LEFT, 22.0), &shown, Style::plain(size).bold());
    let costs: Vec<f64> = front.points.iter().map(|point| point.cost).collect();
    let x = Scale::tight(0.0, costs.iter().copied().fold(0.0, f64::max), 5);
    let widest = gaps.iter().copied().fold(0.0, f64::max);
    let shade = |gap: f64| ((4.0 * gap / widest.max(f64::MIN_POSITIVE)) as usize).min(SHADES.len() - 1);

    let across = (LEFT, WIDTH - 16.0);
    let above = Panel { across, down: (38.0, 228.0), x: x.clone(), y: Scale::of(0.0, 1.0, 5), percent: true };
    above.draw(&mut drawing, "", "loss");
    for (number, colour) in SHADES.iter().enumerate() {
        let dots = front.points.iter().zip(gaps).filter(|(_, gap)| shade(**gap) == number);
        drawing.dots(dots.map(|(point, _)| above.place((point.cost, point.loss))), colour, 4.5);
    }
    // The corner that the front leaves free.
    let low = front.points.last().is_none_or(|point| point.loss < 0.5);
    legend(&mut drawing, &above, if low { above.down.0 + 13.0 } else { above.down.1 - 58.0 }, widest);

    let below = Panel { across, down: (246.0, 372.0), x, y: Scale::of(0.0, widest, 4), percent: false };
    below.draw(&mut drawing, "mean cost over all people", "gap");
    drawing.stroke(&below.curve(costs.iter().copied().zip(gaps.iter().copied())), GREY, 1.0, "");
    for (number, colour) in SHADES.iter().enumerate() {
        let dots = costs.iter().zip(gaps).filter(|(_, gap)| shade(**gap) == number);
        drawing.dots(dots.map(|(cost, gap)| below.place((*cost, *gap))), colour, 3.5);
    }
    for (number, words) in lines(&told, LETTERS, WIDTH - 30.0, 3).iter().enumerate() {
        drawing.text((16.0, 427.0 + 16.0 * number as f64), words, Style::plain(LETTERS).colour(GREY));
    }
    drawing.finish()
}

fn legend(drawing: &mut Drawing, panel: &Panel, top: f64, widest: f64) {
    let texts: Vec<String> = (1..=SHADES.len())
        .map(|quarter| format!("gap up to {:.3}", widest * quarter as f64 / SHADES.len() as f64))
        .collect();
    let wide = texts.iter().map(|text| width(text, LETTERS)).fold(0.0, f64::max);
    let x = panel.across.1 - wide - 6.0;
    for (number, (text, colour)) in texts.iter().zip(SHADES).enumerate() {
        let y = top + 16.0 * number as f64;
        drawing.dots([(x - 12.0, y - 4.5)], colour, 7.0);
        drawing.text((x, y), text, Style::plain(LETTERS).colour(INK));
    }
}

/// The figure in words.
fn told(front: &FrontFile, measure: MeasureName, gaps: &[f64]) -> String {
    let lowest = (0..gaps.len())
        .min_by(|&a, &b| front.points[a].invalidity.total_cmp(&front.points[b].invalidity))
        .unwrap_or(0);
    let widest = (0..gaps.len()).max_by(|&a, &b| gaps[a].total_cmp(&gaps[b])).unwrap_or(0);
    format!(
        "The gap in {} is {:.3} at the lowest invalidity (point {lowest}), and at most {:.3} (point {widest}).",
        measure.name(),
        gaps.get(lowest).copied().unwrap_or(0.0),
        gaps.get(widest).copied().unwrap_or(0.0)
    )
}
