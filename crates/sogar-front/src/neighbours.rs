//! Real people near those whom advice describes, for the leaves of one point.
//!
//! Of the people of a leaf for whom its action works, the middle one in table order stands for all. The distance between two rows is the
//! mean over the features: of the share of people between two numbers or levels in order, 1 for different categories, and 1 if only one
//! of two values is an amount.

use serde::Serialize;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_base::markup::visible;
use sogar_solver::RowSet;
use sogar_table::feature::{Feature, FeatureTable, Kind};
use sogar_table::table::Table;

use crate::describe::{conditions, joined};
use crate::router::{Router, leaves};
use crate::summary::FrontFile;

/// A person after the advice of their leaf, and the real people who are nearest to them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Neighbours {
    /// The data row of the person, from 1.
    pub row: usize,
    /// The nearest other people after the change, the nearest first.
    pub nearest: Vec<Neighbour>,
}

/// A real person near an edited row.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Neighbour {
    /// Their data row, from 1.
    pub row: usize,
    /// Their distance, from 0 to 1.
    pub distance: f64,
}

/// The neighbours of every leaf of some points, the leaves from left to right; none for a leaf whose action works for nobody. `people` is
/// everybody in the table that the front was made from, `affected` are the rows of those turned down.
pub fn neighbours(
    front: &FrontFile,
    people: &FeatureTable,
    affected: &[usize],
    points: &[usize],
    count: usize,
) -> Result<Vec<Vec<Option<Neighbours>>>> {
    let passing = Router::new(front, &people.features)?.passing(people, affected);
    let scales: Vec<Scale<'_>> = people
        .features
        .iter()
        .zip(&people.values)
        .map(|(feature, values)| Scale::new(feature, values))
        .collect();
    let edits = front.edits_of_actions(&people.features)?;
    let near = |(action, here): (usize, RowSet)| {
        let flips = front.actions[action].flips.flags(affected.len()).unwrap_or_default();
        let works: Vec<usize> = here.iter().filter(|&position| flips[position]).collect();
        let own = affected[*works.get(works.len() / 2)?];
        let mut edited = people.row(own);
        edits[action].iter().for_each(|edit| edit.apply(&mut edited));
        let distance = |row: usize| {
            let features = scales.iter().zip(&people.values).zip(&edited);
            features.map(|((scale, values), &value)| scale.distance(values[row], value)).sum::<f64>()
                / scales.len().max(1) as f64
        };
        let mut nearest: Vec<Neighbour> = (0..people.rows)
            .filter(|&row| row != own)
            .map(|row| Neighbour { row: row + 1, distance: distance(row) })
            .collect();
        nearest.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.row.cmp(&b.row)));
        nearest.truncate(count);
        Some(Neighbours { row: own + 1, nearest })
    };
    let of_point = |&point: &usize| {
        let leaves = leaves(&front.points[point].tree, &passing, RowSet::full(affected.len()));
        leaves.into_iter().map(near).collect()
    };
    Ok(points.iter().map(of_point).collect())
}

/// The neighbours of the leaves of one point, from the table that the front was made from.
pub fn neighbours_in(
    front: &FrontFile,
    table: &Table,
    point: usize,
    count: usize,
) -> Result<Vec<Option<Neighbours>>> {
    let affected = front.population.affected_rows.flags(table.rows);
    let (Some(affected), true) = (affected, table.hash == front.table.hash) else {
        return Err(Error::new(ErrorKind::ResultFile, "this is not the table that the result was made from")
            .file(&table.path)
            .help("give the original table, or solve anew"));
    };
    let affected: Vec<usize> = (0..table.rows).filter(|&row| affected[row]).collect();
    let (people, _) = FeatureTable::apply(&front.features, table, &front.config)?;
    Ok(neighbours(front, &people, &affected, &[point], count)?.swap_remove(0))
}

/// The neighbours of a point's leaves in words.
pub fn neighbours_text(front: &FrontFile, point: usize, found: &[Option<Neighbours>]) -> String {
    let mut text = String::from(
        "Real people who are nearest to an edited person (mean distance of a feature, from 0 to 1):\n",
    );
    for ((tests, _), found) in front.points[point].tree.rules().iter().zip(found) {
        let Some(Neighbours { row, nearest }) = found else { continue };
        let who = match tests.as_slice() {
            [] => "Everybody".to_owned(),
            tests => format!("If {}", visible(&joined(&conditions(front, tests)))),
        };
        let list: Vec<String> =
            nearest.iter().map(|near| format!("row {} ({:.3})", near.row, near.distance)).collect();
        text += &format!("  {who}: row {row} after the change is near {}\n", list.join(", "));
    }
    text
}

/// How far apart two values of a feature are.
struct Scale<'a> {
    feature: &'a Feature,
    /// All amounts, ascending; empty for categories.
    sorted: Vec<f64>,
}

impl<'a> Scale<'a> {
    fn new(feature: &'a Feature, values: &[f64]) -> Scale<'a> {
        let mut sorted: Vec<f64> = match feature.kind {
            Kind::Categorical { .. } | Kind::Binary { .. } => Vec::new(),
            _ => values.iter().copied().filter(|value| !value.is_nan() && !feature.is_code(*value)).collect(),
        };
        sorted.sort_by(f64::total_cmp);
        Scale { feature, sorted }
    }

    fn distance(&self, a: f64, b: f64) -> f64 {
        let amount = |value: f64| !value.is_nan() && !self.feature.is_code(value);
        if a == b || (a.is_nan() && b.is_nan()) {
            0.0
        } else if self.sorted.is_empty() || !amount(a) || !amount(b) {
            1.0
        } else {
            let below = |value: f64| self.sorted.partition_point(|&other| other <= value) as f64;
            (below(a) - below(b)).abs() / self.sorted.len() as f64
        }
    }
}
