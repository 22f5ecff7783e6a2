//! Figures of cost and loss: a front, a front beside held-out people, fronts of shorter searches.
//!
//! All are one chart with different series. The y-axis is the loss (the lower left is best, as in papers), or the share of people
//! for whom a summary works (the upper left is best, which needs no explanation).

use super::chart::{Chart, Draw, Series};
use super::svg::{GREY, SERIES};
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_front::describe::grouped;
use sogar_front::select::{By, select};
use sogar_front::summary::{Evaluation, FrontFile, Status};

/// The y-axis.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Upwards {
    /// The share of people who are still turned down.
    #[default]
    Loss,
    /// The share of people for whom a summary works.
    Works,
}

/// A single result beside a front, such as another method's.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Its name.
    pub name: String,
    /// Its mean cost.
    pub cost: f64,
    /// Its loss.
    pub loss: f64,
}

/// Options of a figure of a trade-off.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Look {
    /// A title above the figure.
    pub title: Option<String>,
    /// The y-axis.
    pub upwards: Upwards,
    /// Other results beside the front.
    pub marks: Vec<Mark>,
}

/// A front as a staircase, with the summaries of lowest invalidity and at the knee. The bound of a stopped search is dashed.
pub fn front_svg(front: &FrontFile, look: &Look) -> String {
    let points = places(front);
    let mut chart = Chart::new(look);
    chart.description = format!(
        "{} recourse summaries, from no cost and {} % of people without recourse to a mean cost of {:.3} and {:.1} %.",
        points.len(),
        spoken_percent(points.first()),
        points.last().map_or(0.0, |point| point.0),
        100.0 * points.last().map_or(0.0, |point| point.1),
    );
    if let Some(bound) = &front.bound {
        let people = front.people().affected as f64;
        let below = bound
            .iter()
            .map(|&[cost, loss]| (cost as f64 / front.cost.unit as f64 / people, loss as f64 / people))
            .collect();
        chart.add(Series {
            name: "no summary lies below".into(),
            points: below,
            look: Draw::Dashed,
            colour: GREY,
        });
    }
    let name = match front.status {
        _ if front.fairness.is_some() && !front.status.is_early() => {
            format!("{} summaries, chosen by the groups' losses", grouped(points.len()))
        }
        Status::Complete => format!("{} summaries, none dominated", grouped(points.len())),
        Status::CompleteOnSample => format!("{} summaries, found on a sample", grouped(points.len())),
        _ => format!("{} summaries, search stopped early", grouped(points.len())),
    };
    chart.add(Series { name, points, look: Draw::Front, colour: SERIES[0] });
    for (by, name) in [(By::Invalidity, "lowest invalidity"), (By::Knee, "knee")] {
        if let Ok(point) = select(front, by) {
            chart.pick(name, (front.points[point].cost, front.points[point].loss));
        }
    }
    chart.svg()
}

/// Single results without a front.
pub fn marks_svg(look: &Look) -> String {
    let mut chart = Chart::new(look);
    chart.description = format!("Cost and loss of {} results.", look.marks.len());
    chart.svg()
}

/// A front and the same summaries on held-out people.
pub fn holdout_svg(front: &FrontFile, there: &Evaluation, look: &Look) -> Result<String> {
    if there.points.len() != front.points.len() {
        let (one, other) = (there.points.len(), front.points.len());
        let message = format!("the evaluation has {one} points, but the front has {other}");
        return Err(
            Error::new(ErrorKind::Usage, message).help("evaluate this front with `sogar evaluate --json`")
        );
    }
    let mut chart = Chart::new(look);
    chart.description = format!(
        "The same {} summaries on the people that they were found on and on {} others; mean distance {:.3}.",
        front.points.len(),
        there.people().count(there.people().affected),
        there.mean_distance
    );
    let held_out = there.points.iter().map(|point| (point.cost, point.loss)).collect();
    chart.add(Series {
        name: format!("reference table, {} people", front.people().text(front.people().affected)),
        points: places(front),
        look: Draw::DashedFront,
        colour: SERIES[0],
    });
    chart.add(Series {
        name: format!("held out, {} people", there.people().text(there.people().affected)),
        points: held_out,
        look: Draw::Dots,
        colour: SERIES[1],
    });
    chart.remark = Some(format!("mean distance {:.3} ± {:.3}", there.mean_distance, there.sd_distance));
    Ok(chart.svg())
}

/// What searches of different length found, the front of each in its own colour.
pub fn timeouts_svg(fronts: &[(&str, &FrontFile)], look: &Look) -> Result<String> {
    if fronts.is_empty() || fronts.len() > SERIES.len() {
        let message = format!("{} fronts are too many for one figure", fronts.len());
        return Err(
            Error::new(ErrorKind::Usage, message).help(format!("give 1 to {} result files", SERIES.len()))
        );
    }
    let mut chart = Chart::new(look);
    chart.description = format!("What {} searches found.", fronts.len());
    // The longest search is drawn first, below the others.
    for (number, (name, front)) in fronts.iter().enumerate() {
        let look = if !front.status.is_early() { Draw::Front } else { Draw::Stairs };
        let name = format!("{name}: {} summaries", grouped(front.points.len()));
        chart.add(Series { name, points: places(front), look, colour: SERIES[number] });
    }
    Ok(chart.svg())
}

/// The default name of a front in a figure: how long its search took, and whether it was complete.
pub fn name_of_search(front: &FrontFile) -> String {
    let seconds = front.run.seconds_search;
    let time = if seconds < 10.0 { format!("{seconds:.1} s") } else { format!("{seconds:.0} s") };
    match front.status {
        Status::Complete => format!("complete, {time}"),
        Status::CompleteWithinEpsilon => format!("complete within ε, {time}"),
        Status::CompleteOnSample => format!("complete on a sample, {time}"),
        _ => format!("stopped after {time}"),
    }
}

fn places(front: &FrontFile) -> Vec<(f64, f64)> {
    front.points.iter().map(|point| (point.cost, point.loss)).collect()
}

fn spoken_percent(point: Option<&(f64, f64)>) -> String {
    format!("{:.0}", 100.0 * point.map_or(0.0, |point| point.1))
}
