//! The held-out block: sends the rows of the other table through every tree again, without any code of `evaluate`.

use std::path::Path;

use super::admissible::{Action, flips};
use super::plausible::Usual;
use super::pricing::Prices;
use super::{Verdict, defect, same};
use sogar_front::summary::{Evaluation, FrontFile, HeldOutLeaf, Node, PointDetail, means};
use sogar_prepare::actions::Edit;
use sogar_prepare::predict::predict_table;
use sogar_prepare::prepared::Prepared;
use sogar_table::binarize::Split;
use sogar_table::feature::FeatureTable;
use sogar_table::table::{Table, hash_of};

/// Mean and standard deviation of distances involve roots, whose last digit may differ between systems.
const TOLERANCE: f64 = 1e-9;

/// The effect of the actions in use on the affected held-out people.
struct HeldOut {
    table: FeatureTable,
    affected: Vec<usize>,
    /// Cost and flip of every action on every affected row.
    effects: Vec<Vec<(u64, bool)>>,
}

/// Checks everything in the block.
pub(super) fn check(
    front: &FrontFile,
    said: &Evaluation,
    path: &Path,
    prepared: &Prepared,
    (prices, usual): (&Prices<'_>, Option<&Usual<'_>>),
    splits: &[Split],
    actions: &[Action],
) -> Verdict<((), String)> {
    if hash_of(path)? != said.hash {
        let name = path.display();
        return defect(format!(
            "{name} is not the table that the front was evaluated on: its content differs"
        ));
    }
    let held_out = read(path, prepared, (prices, usual), actions)?;
    let rows = held_out.affected.len();
    same("the number of held-out rows", said.rows, held_out.table.rows)?;
    same("the number of affected held-out rows", said.affected, rows)?;
    let people = weights(said, &held_out)?;
    same("the number of points", said.points.len(), front.points.len())?;
    let mut distances = Vec::with_capacity(rows);
    let details = &said.details;
    let person = said.weight.as_ref().map_or(1, |weight| weight.unit);
    if !details.is_empty() {
        same("the number of points with details", details.len(), front.points.len())?;
    }
    for (number, (point, said)) in front.points.iter().zip(&said.points).enumerate() {
        let everybody: Vec<usize> = (0..rows).collect();
        let (cost, loss) = held_out.totals(&point.tree, splits, &everybody);
        let of_point = |what: &str| format!("{what} of point {number}");
        same(&of_point("cost_sum"), said.cost_sum, cost)?;
        same(&of_point("loss_count"), said.loss_count, loss)?;
        let means = means(cost, loss, front.cost.unit, people);
        same(&of_point("the mean cost"), said.cost, means.cost)?;
        same(&of_point("the mean loss"), said.loss, means.loss)?;
        same(&of_point("the invalidity"), said.invalidity, means.invalidity)?;
        if let Some(detail) = details.get(number) {
            held_out.check_detail(
                detail,
                &point.tree,
                splits,
                (front.cost.unit, people, person),
                &of_point,
            )?;
        }
        distances.push(distance((point.cost, point.loss), (means.cost, means.loss)));
    }
    spread(&distances, said.mean_distance, said.sd_distance)?;
    let text = format!(
        "{} has the recorded content; its {rows} affected rows, sent through all {} trees, cost and lose what is recorded",
        path.display(),
        front.points.len()
    );
    Ok(((), text))
}

/// Checks the weight of the affected rows, if there are weights.
fn weights(said: &Evaluation, held_out: &HeldOut) -> Verdict<u64> {
    let table = &held_out.table;
    let people = held_out.affected.iter().map(|&row| u64::from(table.weight(row))).sum();
    match (&said.weight, &table.weights) {
        (Some(said), Some(found)) => {
            same("the weight of the held-out rows", said.total, found.total())?;
            same("the weight of the affected held-out rows", said.affected, people)?;
            same("the unit of the held-out weights", said.unit, u64::from(found.unit))?;
            same("the column of the held-out weights", &said.column, &found.column)?;
        }
        (None, None) => {}
        _ => return defect("the block has weights and the configuration none, or the other way round"),
    }
    Ok(people)
}

/// The distance between two points.
pub(super) fn distance(here: (f64, f64), there: (f64, f64)) -> f64 {
    let (by_cost, by_loss) = (here.0 - there.0, here.1 - there.1);
    (by_cost * by_cost + by_loss * by_loss).sqrt()
}

/// Checks the recorded mean and standard deviation of distances.
pub(super) fn spread(distances: &[f64], said_mean: f64, said_deviation: f64) -> Verdict<()> {
    let count = distances.len() as f64;
    let mean = distances.iter().sum::<f64>() / count;
    let deviation = (distances.iter().map(|one| (one - mean) * (one - mean)).sum::<f64>() / count).sqrt();
    close("mean_distance", said_mean, mean)?;
    close("sd_distance", said_deviation, deviation)
}

fn close(what: &str, said: f64, found: f64) -> Verdict<()> {
    // A comparison that is also false for NaN
    if (said - found).abs() <= TOLERANCE {
        return Ok(());
    }
    defect(format!("{what} is {said} in the file and should be {found:.6}"))
}

fn read(
    path: &Path,
    prepared: &Prepared,
    (prices, usual): (&Prices<'_>, Option<&Usual<'_>>),
    actions: &[Action],
) -> Verdict<HeldOut> {
    let read = Table::read(path, &prepared.config().read_options()?)?;
    let (table, _) = FeatureTable::apply(&prepared.table().features, &read, prepared.config())?;
    let table = table.weighed(&read, prepared.config())?;
    let predictions = predict_table(&*prepared.model().predictor, prepared.encoder(), &table)?;
    let affected = prepared.classes().turned_down(&predictions);
    let lists: Vec<Vec<Edit>> = actions.iter().map(|action| action.edits.clone()).collect();
    let flips = flips(prepared, usual, &table, &lists, &affected)?;
    let mut effects = Vec::with_capacity(actions.len());
    for (edits, flips) in lists.iter().zip(flips) {
        let cost = |&row: &usize| prices.price(&table.row(row), edits);
        let costs: Vec<u64> = affected.iter().map(cost).collect::<Verdict<_>>()?;
        effects.push(costs.into_iter().zip(flips).collect());
    }
    Ok(HeldOut { table, affected, effects })
}

impl HeldOut {
    /// Cost and loss of a tree on these rows.
    fn totals(&self, node: &Node, splits: &[Split], rows: &[usize]) -> (u64, u64) {
        match node {
            Node::Split { split, left, right } => {
                let split = &splits[*split];
                let column = &self.table.values[split.feature];
                let (passing, failing): (Vec<usize>, Vec<usize>) = rows
                    .iter()
                    .partition(|&&row| split.passes(&self.table.features, column[self.affected[row]]));
                let (left, right) =
                    (self.totals(left, splits, &passing), self.totals(right, splits, &failing));
                (left.0 + right.0, left.1 + right.1)
            }
            Node::Leaf { action, .. } => rows.iter().fold((0, 0), |(cost, loss), &row| {
                let (more, flipped) = self.effects[*action][row];
                let weight = u64::from(self.table.weight(self.affected[row]));
                (cost + weight * more, loss + weight * u64::from(!flipped))
            }),
        }
    }

    /// Checks the leaves of a point, and the standard deviation of its costs over people of this total weight.
    fn check_detail(
        &self,
        said: &PointDetail,
        tree: &Node,
        splits: &[Split],
        (unit, people, person): (u64, u64, u64),
        of_point: &dyn Fn(&str) -> String,
    ) -> Verdict<()> {
        let (mut leaves, mut squares, mut sum) = (Vec::new(), 0u128, 0u128);
        let features = &self.table.features;
        for (tests, leaf) in tree.rules() {
            let here = |row: &usize| {
                tests.iter().all(|&(split, passed)| {
                    let split = &splits[split];
                    split.passes(features, self.table.values[split.feature][self.affected[*row]]) == passed
                })
            };
            let mut found = HeldOutLeaf::default();
            for row in (0..self.affected.len()).filter(here) {
                let (cost, flipped) = self.effects[leaf.action()][row];
                let weight = u64::from(self.table.weight(self.affected[row]));
                found.rows += weight;
                found.flipped += weight * u64::from(flipped);
                found.cost_sum += weight * cost;
                squares += u128::from(weight) * u128::from(cost).pow(2);
            }
            sum += u128::from(found.cost_sum);
            leaves.push(found);
        }
        if said.leaves != leaves {
            return defect(of_point("the people, flips or costs of the leaves") + " differ");
        }
        let (sum, people, person) = (sum as f64, people as f64, person as f64);
        let variance = (squares as f64 - sum * sum / people).max(0.0) / (people - person).max(1.0);
        close(
            &of_point("cost_sd"),
            said.cost_sd,
            if people > person { variance.sqrt() / unit as f64 } else { 0.0 },
        )
    }
}
