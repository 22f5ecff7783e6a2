//! Compares what earlier runs stored with the model: a checksum proves that a file is whole, not that it is true.
//!
//! Outcomes are checked twice. Before the search, cells are drawn from all stored ones, one from each of [`DRAWS`] stretches of
//! equal length. If one cell in 100,000 is wrong, no matter which, the draws include a wrong one with a probability of 99.9 %.
//! (Stretches find no less than draws from everywhere, by the inequality of the arithmetic and the geometric mean.) After the
//! search, every cell that a leaf of the front uses is checked: cost and loss of each point are then the model's own, not left to
//! chance. The model scores the edited rows itself, which is not how most outcomes were computed. Draws come from the system's
//! randomness, so the author of a file cannot predict them; results do not depend on them.
//!
//! If recomputing takes less time than the draws, all outcomes of trees are recomputed and compared. Then nothing is left to
//! chance.
//!
//! A model that must be called (a command, a function) scores at most `--verify-cache` rows, half of them before the search.
//!
//! For stored cuts of the search, the totals that the front uses are recomputed. Only solving a cut again would show that it
//! lacks a tree.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;

use rayon::prelude::*;
use sogar_solver::{CancelToken, Problem, RowSet, TreeNode};

use super::{Search, Searched};
use crate::checkpoint::damaged;
use sogar_base::draw::Draw;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_prepare::model::Rows;
use sogar_prepare::outcomes::{OutcomeQuery, Outcomes, StoredOutcomes, Watch, is_scored, outcomes};
use sogar_prepare::prepared::{ProblemPopulation, Reporter};

/// Draws that find one wrong cell in 100,000 with a probability of 99.9 %: ln 1000 / 10⁻⁵.
pub const DRAWS: u64 = 690_776;
/// Outcomes of a sum of trees that take about the time of scoring one edited row.
const QUICKER: u64 = 100;
/// Cells between two checks for a stop, for models in this process.
const AT_ONCE: usize = 1 << 16;

/// A row, by its position among those of the query, and an action.
type Cell = (u32, u32);

impl Search<'_> {
    /// Compares drawn cells of stored outcomes with the model; `false` if stopped.
    pub(super) fn verify_drawn(
        &self,
        query: &OutcomeQuery<'_>,
        found: &mut Outcomes,
        watch: &Watch<'_>,
        reporter: &dyn Reporter,
    ) -> Result<bool> {
        let Some(kept) = &found.kept else { return Ok(true) };
        if found.flips.set(0).iter().any(|&word| word != 0) {
            return Err(untrue(kept, "doing nothing changes an outcome by what it says"));
        }
        let draws = match self.verified_rows(query) {
            None => DRAWS,
            Some(0) => {
                reporter.notice(&format!(
                    "{}: the outcomes in it are believed, since --verify-cache is 0",
                    kept.path.display()
                ));
                return Ok(true);
            }
            Some(rows) => rows.div_ceil(2),
        };
        let actions = query.actions.len() as u64 - 1;
        if query.predictor.tree_ensemble().is_some() && kept.rows as u64 * actions <= QUICKER * DRAWS {
            let compared = self.compare_all(query, kept, found, watch)?;
            if compared {
                found.kept = None; // all verified
            }
            return Ok(compared);
        }
        let cells: Vec<Cell> = drawn(kept.rows as u64 * actions, draws)
            .map(|cell| ((cell / actions) as u32, (cell % actions + 1) as u32))
            .collect();
        let stored = |(row, action): Cell| found.flips.contains(action as usize, row as usize);
        for cells in cells.chunks(self.cells_at_once(query)) {
            if watch.stop.check().is_err() {
                return Ok(false);
            }
            self.compare(query, kept, cells, &stored)?;
        }
        Ok(true)
    }

    /// Recomputes all outcomes and compares the stored ones; `false` if stopped.
    fn compare_all(
        &self,
        query: &OutcomeQuery<'_>,
        kept: &StoredOutcomes,
        found: &Outcomes,
        watch: &Watch<'_>,
    ) -> Result<bool> {
        let query = OutcomeQuery { rows: &query.rows[..kept.rows], ..*query };
        let Some(again) = outcomes(query, &Watch { progress: &|_, _| (), stop: watch.stop })? else {
            return Ok(false);
        };
        for action in 0..query.actions.len() {
            let pairs = again.flips.set(action).iter().zip(found.flips.set(action));
            let mut unlike = pairs.enumerate().filter(|(_, (a, b))| a != b);
            if let Some((word, (a, b))) = unlike.next() {
                let row = 64 * word as u32 + (a ^ b).trailing_zeros();
                return Err(self.wrong(&query, kept, (row, action as u32)));
            }
        }
        Ok(true)
    }

    /// Compares everything stored that the front uses with the model, and with the totals of trees.
    pub(super) fn verify_front(
        &self,
        people: &ProblemPopulation,
        found: &Searched,
        cuts: Option<&Path>,
        reporter: &dyn Reporter,
        cancel: &CancelToken,
    ) -> Result<()> {
        let made = &found.made;
        if !made.finished || (made.kept.is_none() && cuts.is_none()) {
            return Ok(());
        }
        let mut leaves = Leaves { problem: &made.problem, known: BTreeMap::new(), used: BTreeMap::new() };
        let everybody = RowSet::full(made.problem.rows());
        for solution in &found.outcome.front {
            let sums = leaves.sums(&solution.tree, &everybody, &mut Vec::new());
            let right = (sums.cost, sums.loss) == (solution.cost, solution.loss);
            if let (Some(path), false) = (cuts, right && sums.smallest >= u64::from(people.min_leaf)) {
                return Err(damaged(path, "a part of the search in it is not what its trees add up to"));
            }
        }
        let Some(kept) = &made.kept else { return Ok(()) };
        let query = self.outcome_query(&people.rows, &made.actions);
        let mut cells: Vec<Cell> = Vec::new();
        for (&action, rows) in &leaves.used {
            let rows = rows.iter().take_while(|&row| row < kept.rows);
            cells.extend(rows.filter(|_| action > 0).map(|row| (row as u32, action)));
        }
        let all = cells.len();
        let asked = self.verified_rows(&query);
        if let Some(rows) = asked {
            cells = drawn(all as u64, rows / 2).map(|at| cells[at as usize]).collect();
        }
        let stored = |(row, action): Cell| made.problem.flips(action as usize, row as usize);
        let mut done = 0;
        for cells in cells.chunks(self.cells_at_once(&query)) {
            if asked.is_some() && cancel.is_cancelled() {
                break; // a command may be slow, and the user waits
            }
            self.with_threads(|| self.compare(&query, kept, cells, &stored))?;
            done += cells.len();
        }
        if done < all && asked != Some(0) {
            reporter.notice(&format!(
                "{done} of the {all} kept outcomes that the front uses were asked for again; --verify-cache {} asks for all",
                2 * all
            ));
        }
        Ok(())
    }

    /// The number of rows that a called model scores; `None` for a model that is evaluated in this process.
    fn verified_rows(&self, query: &OutcomeQuery<'_>) -> Option<u64> {
        let most = self.config().limits.max_scorings.unwrap_or(u64::MAX);
        (query.scored_models() > 0).then(|| self.verify_cache().min(most))
    }

    fn cells_at_once(&self, query: &OutcomeQuery<'_>) -> usize {
        let batching = query.predictor.batching();
        let calls = batching.at_once.min(self.threads());
        if is_scored(query.predictor) { batching.rows.saturating_mul(calls).max(1) } else { AT_ONCE }
    }

    /// Fails unless the stored cells agree with the model.
    fn compare(
        &self,
        query: &OutcomeQuery<'_>,
        kept: &StoredOutcomes,
        cells: &[Cell],
        stored: &(dyn Fn(Cell) -> bool + Sync),
    ) -> Result<()> {
        let batch = query.predictor.batching().rows.clamp(1, cells.len().max(1));
        let wrong: Vec<Option<Cell>> = cells
            .par_chunks(batch)
            .map(|cells| {
                let answers = model_answers(query, cells)?;
                Ok(cells
                    .iter()
                    .zip(answers)
                    .find(|&(&cell, answer)| stored(cell) != answer)
                    .map(|(&cell, _)| cell))
            })
            .collect::<Result<_>>()?;
        match wrong.into_iter().flatten().next() {
            None => Ok(()),
            Some(cell) => Err(self.wrong(query, kept, cell)),
        }
    }

    /// The error for a cell that differs from the model.
    fn wrong(&self, query: &OutcomeQuery<'_>, kept: &StoredOutcomes, (row, action): Cell) -> Error {
        let row = self.place(query.rows[row as usize]) + 1;
        let why = format!(
            "an outcome in it is not what the model says (row {row} of the table, action {action}), so nothing in it can be believed"
        );
        untrue(kept, &why)
    }
}

/// The model's answers for cells, by scoring each edited row.
fn model_answers(query: &OutcomeQuery<'_>, cells: &[Cell]) -> Result<Vec<bool>> {
    let columns = query.encoder.columns.len();
    let mut block = Vec::with_capacity(cells.len() * columns);
    let mut broken = Vec::with_capacity(cells.len());
    let (mut own, mut edited) = (Vec::new(), Vec::new());
    for &(row, action) in cells {
        let before = query.table.row(query.rows[row as usize]);
        let mut after = before.clone();
        query.apply(action, &mut after);
        broken.push(query.rules.iter().any(|rule| rule.broken_by(&before, &after)));
        query.encoder.encode_row(&after, &mut block);
        if query.required.is_some() {
            own.push(before);
            edited.push(after);
        }
    }
    let predictions = query.predictor.predict(Rows { values: &block, columns })?;
    if predictions.len() != cells.len() {
        let message = format!("the model gave {} predictions for {} rows", predictions.len(), cells.len());
        return Err(Error::new(ErrorKind::Model, message));
    }
    let desired = |label: u32| query.desired.get(label as usize).copied().unwrap_or(false);
    let mut flips: Vec<bool> =
        predictions.iter().zip(broken).map(|(said, broken)| desired(said.label) && !broken).collect();
    if let Some(required) = query.required {
        flips.iter_mut().zip(required.hold(&own, &edited)?).for_each(|(flips, holds)| *flips &= holds);
    }
    Ok(flips)
}

/// The error for outcomes that differ from the model's.
fn untrue(kept: &StoredOutcomes, why: &str) -> Error {
    match kept.in_checkpoint {
        true => damaged(&kept.path, why),
        false => Error::new(ErrorKind::Checkpoint, why).file(&kept.path).help(
            "delete this file, and the outcomes are computed anew; if that happens again, the model does not always say the same",
        ),
    }
}

/// Numbers below `all`, ascending: one drawn from each of `draws` stretches of equal length, or all if there are no more.
fn drawn(all: u64, draws: u64) -> impl Iterator<Item = u64> {
    // The keys of a hasher are the system's random numbers.
    let mut draw = Draw::new(RandomState::new().build_hasher().finish(), 0);
    let draws = draws.min(all);
    let start = move |stretch: u64| (u128::from(stretch) * u128::from(all) / u128::from(draws)) as u64;
    (0..draws).map(move |stretch| {
        let begin = start(stretch);
        begin + draw.below((start(stretch + 1) - begin) as usize) as u64
    })
}

/// Totals of the leaves of a front, each computed once, and the rows on which each action is used.
struct Leaves<'a> {
    problem: &'a Problem,
    known: BTreeMap<(Vec<(u32, bool)>, u32), Sums>,
    used: BTreeMap<u32, RowSet>,
}

#[derive(Clone, Copy)]
struct Sums {
    cost: u64,
    loss: u64,
    /// The weight of the smallest leaf.
    smallest: u64,
}

impl Leaves<'_> {
    fn sums(&mut self, tree: &TreeNode, rows: &RowSet, way: &mut Vec<(u32, bool)>) -> Sums {
        match tree {
            TreeNode::Leaf { action } => {
                let key = (way.clone(), *action);
                if let Some(known) = self.known.get(&key) {
                    return *known;
                }
                let (at, weight) = (*action as usize, self.problem.weight_of(rows));
                let loss = weight - self.problem.flipped_among(at, rows);
                let sums = Sums { cost: self.problem.cost_over(at, rows), loss, smallest: weight };
                let used = self.used.entry(*action).or_insert_with(|| RowSet::empty(self.problem.rows()));
                rows.iter().for_each(|row| used.insert(row));
                self.known.insert(key, sums);
                sums
            }
            TreeNode::Split { split, left, right } => {
                let passing = self.problem.split(*split as usize);
                let (passed, failed) = (rows.and(passing), rows.and_not(passing));
                way.push((*split, true));
                let left = self.sums(left, &passed, way);
                way.pop();
                way.push((*split, false));
                let right = self.sums(right, &failed, way);
                way.pop();
                Sums {
                    cost: left.cost + right.cost,
                    loss: left.loss + right.loss,
                    smallest: left.smallest.min(right.smallest),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_draws_as_the_documentation_says() {
        assert_eq!(DRAWS, (1000f64.ln() / 1e-5).ceil() as u64);
    }

    #[test]
    fn one_is_drawn_from_each_stretch_and_all_where_they_are_few() {
        assert_eq!(drawn(5, 100).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
        assert_eq!(drawn(0, 100).count(), 0);
        assert_eq!(drawn(100, 0).count(), 0);
        let some: Vec<u64> = drawn(1_000_003, 1000).collect();
        assert!(
            (0..1000).zip(&some).all(|(stretch, &cell)| cell / 1001 <= stretch && stretch <= cell / 1000)
        );
        assert_ne!(some, drawn(1_000_003, 1000).collect::<Vec<_>>(), "nobody can know what is drawn");
    }

    #[test]
    fn wrong_cells_are_found_as_often_as_promised_wherever_they_are() {
        // One in 1000 of a million, so 6,908 draws find one of them with 99.9 %; 300 trials miss 0.3 on average.
        for is_wrong in [|cell: u64| cell % 1000 == 7, |cell: u64| (500_000..501_000).contains(&cell)] {
            let misses = (0..300).filter(|_| !drawn(1_000_000, 6908).any(is_wrong)).count();
            assert!(misses <= 5, "{misses}");
        }
    }
}
