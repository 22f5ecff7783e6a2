//! A leaf's best action with linear surrogates of the model.
//!
//! On a line every edit adds a fixed amount to a person's margin, so a set of edits is scored by adding columns of numbers: one
//! column of margins and one of costs per edit. Sets grow edit by edit, feature after feature. A set is not grown further when
//! its cost, which never falls, plus the failures of those whom no later edits can help reaches the best objective so far. Sizes
//! are tried one after the other, so that the smallest of equal actions wins.

use sogar::pipeline::Prepared;
use sogar_solver::Combine;
use sogar_solver::stop::{Stop, StopReason};

use super::columns::Columns;
use super::leaf::Candidates;
use super::surrogate::Line;

/// Sums are rounded: a person who lacks less than this share does not count as beyond help.
const ROUNDING: f32 = 1e-5;

/// The people of a leaf as their surrogates see them.
pub(super) struct People {
    /// The margin of each person above the threshold.
    pub margins: Vec<f32>,
    /// `gains[edit][row]`: what an edit adds to the margin.
    pub gains: Vec<Vec<f32>>,
}

impl People {
    pub fn new(
        prepared: &Prepared,
        columns: &Columns,
        lines: &[&Line],
        rows: &[usize],
        candidates: &Candidates,
    ) -> People {
        let gains = candidates.edits.iter().map(|edit| {
            let values = rows.iter().map(|&row| prepared.table().values[edit.feature][row]);
            let gain = |(line, from): (&&Line, f64)| {
                columns.change(&line.slopes, edit.feature, from, edit.change.apply(from)) as f32
            };
            lines.iter().zip(values).map(gain).collect()
        });
        People { gains: gains.collect(), margins: lines.iter().map(|line| line.margin as f32).collect() }
    }
}

/// The edits of the best action; if stopped, of the best so far.
pub(super) fn best_action(
    candidates: &Candidates,
    people: &People,
    max_edits: usize,
    stop: &Stop,
) -> Vec<usize> {
    let loss = count_lost(people.margins.iter().copied());
    let best = Best { objective: candidates.objective(0, loss), action: Vec::new() };
    let most = max_edits.min(features(candidates));
    let hopes = Hopes::new(candidates, people, most);
    let levels = (0..most).map(|_| Level::default()).collect();
    let mut search = Search { candidates, people, hopes, best, chosen: Vec::new(), levels, stop };
    let start = Level { costs: vec![0; candidates.rows], cost: 0, margins: people.margins.clone() };
    for size in 1..=most {
        if search.grow(0, &start, size).is_err() {
            break;
        }
    }
    search.best.action
}

/// Number of features that can be edited.
fn features(candidates: &Candidates) -> usize {
    let (mut count, mut edit) = (0, 0);
    while let Some(&next) = candidates.next.get(edit) {
        (count, edit) = (count + 1, next);
    }
    count
}

fn count_lost(margins: impl ExactSizeIterator<Item = f32>) -> u64 {
    // A NaN margin is not a success.
    let all = margins.len() as u64;
    all - u64::from(margins.map(|margin| u32::from(margin > 0.0)).sum::<u32>())
}

struct Best {
    objective: f64,
    action: Vec<usize>,
}

/// A set of edits with its effect on everyone.
#[derive(Default)]
struct Level {
    costs: Vec<u32>,
    cost: u64,
    margins: Vec<f32>,
}

struct Search<'a> {
    candidates: &'a Candidates,
    people: &'a People,
    hopes: Hopes,
    best: Best,
    chosen: Vec<usize>,
    /// Memory for one set of edits of each size.
    levels: Vec<Level>,
    stop: &'a Stop,
}

impl Search<'_> {
    /// Tries all sets that have `more` edits from number `from` on in addition to the chosen ones.
    fn grow(&mut self, from: usize, level: &Level, more: usize) -> Result<(), StopReason> {
        let candidates = self.candidates;
        self.stop.check()?;
        let Some(hope) = self.hopes.of(from, more) else { return Ok(()) };
        let beyond_help = count_lost(level.margins.iter().zip(hope).map(|(margin, hope)| margin + hope));
        if candidates.objective(level.cost, beyond_help) >= self.best.objective {
            return Ok(());
        }
        for edit in from..candidates.edits.len() {
            let least = candidates.least_cost(level.cost, candidates.cost_sums[edit]);
            if candidates.objective(least, beyond_help) >= self.best.objective {
                continue;
            }
            if more == 1 {
                self.consider(level, edit, least);
                continue;
            }
            let mut longer = std::mem::take(&mut self.levels[self.chosen.len()]);
            self.extend(level, edit, &mut longer);
            self.chosen.push(edit);
            let done = self.grow(candidates.next[edit], &longer, more - 1);
            self.chosen.pop();
            self.levels[self.chosen.len()] = longer;
            done?;
        }
        Ok(())
    }

    /// Scores a set with one more edit, which costs at least `least`.
    fn consider(&mut self, level: &Level, edit: usize, least: u64) {
        let gains = &self.people.gains[edit];
        let loss = count_lost(level.margins.iter().zip(gains).map(|(margin, gain)| margin + gain));
        if self.candidates.objective(least, loss) >= self.best.objective {
            return;
        }
        let costs = level.costs.iter().zip(&self.candidates.costs[edit]);
        let cost = match self.candidates.combine {
            Combine::Max => costs.map(|(&one, &other)| u64::from(one.max(other))).sum(),
            Combine::Sum => least,
        };
        let objective = self.candidates.objective(cost, loss);
        if objective < self.best.objective {
            self.best.objective = objective;
            self.best.action.clone_from(&self.chosen);
            self.best.action.push(edit);
        }
    }

    fn extend(&self, level: &Level, edit: usize, longer: &mut Level) {
        longer.margins.clear();
        let gains = &self.people.gains[edit];
        longer.margins.extend(level.margins.iter().zip(gains).map(|(margin, gain)| margin + gain));
        longer.costs.clear();
        let costs = level.costs.iter().zip(&self.candidates.costs[edit]);
        match self.candidates.combine {
            Combine::Max => {
                longer.costs.extend(costs.map(|(&one, &other)| one.max(other)));
                longer.cost = longer.costs.iter().map(|&cost| u64::from(cost)).sum();
            }
            // Only sums of costs are needed.
            Combine::Sum => longer.cost = level.cost + self.candidates.cost_sums[edit],
        }
    }
}

/// The largest amount that later edits can add to everyone's margin.
struct Hopes {
    /// For each edit, the position of its feature among those that can be edited.
    place: Vec<usize>,
    /// `best[place][more - 1]`: by at most `more` edits of features from this position on.
    best: Vec<Vec<Vec<f32>>>,
}

impl Hopes {
    fn new(candidates: &Candidates, people: &People, most: usize) -> Hopes {
        let (rows, count) = (candidates.rows, candidates.edits.len());
        let mut place = vec![0; count];
        let mut starts = Vec::new();
        let mut edit = 0;
        while edit < count {
            place[edit..candidates.next[edit]].fill(starts.len());
            starts.push(edit);
            edit = candidates.next[edit];
        }
        // The largest gains of different features, the largest first; features are added from the last one on.
        let mut largest = vec![vec![0.0f32; rows]; most];
        let mut best = vec![Vec::new(); starts.len()];
        for (place, &start) in starts.iter().enumerate().rev() {
            let mut gain = vec![0.0f32; rows];
            for gains in &people.gains[start..candidates.next[start]] {
                gain.iter_mut().zip(gains).for_each(|(most, &gain)| *most = most.max(gain));
            }
            for largest in &mut largest {
                for (known, gain) in largest.iter_mut().zip(&mut gain) {
                    let (high, low) = (known.max(*gain), known.min(*gain));
                    (*known, *gain) = (high, low);
                }
            }
            let mut sum = vec![0.0f32; rows];
            for largest in &largest {
                sum.iter_mut().zip(largest).for_each(|(sum, largest)| *sum += largest);
                best[place].push(sum.iter().map(|sum| sum * (1.0 + ROUNDING)).collect());
            }
        }
        Hopes { place, best }
    }

    /// What `more` edits from number `from` on can add; `None` without such edits.
    fn of(&self, from: usize, more: usize) -> Option<&[f32]> {
        let best = &self.best[*self.place.get(from)?];
        best.get(more - 1).map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use rand::rngs::ChaCha8Rng;
    use sogar::actions::{Change, Edit};

    use super::*;
    use crate::chance::stream;

    /// A random leaf: edits of four features, with costs that grow and gains of either sign.
    fn random_leaf(chance: &mut ChaCha8Rng, combine: Combine) -> (Candidates, People) {
        let rows = chance.random_range(1..12);
        let (mut edits, mut costs, mut gains) = (Vec::new(), Vec::new(), Vec::new());
        for feature in 0..4 {
            for step in 0..chance.random_range(0..4u32) {
                let change = Change::shift(f64::from(step + 1), 0.0, 9.0);
                edits.push(Edit { feature, change, followers: Vec::new() });
                costs.push((0..rows).map(|_| chance.random_range(0..4 * (step + 1))).collect());
                gains.push((0..rows).map(|_| chance.random_range(-0.4..0.6f32)).collect());
            }
        }
        let margins = (0..rows).map(|_| chance.random_range(-1.0..0.0f32)).collect();
        let weight = chance.random_range(1.0..20.0);
        (Candidates::with_costs(edits, costs, rows, combine, weight), People { margins, gains })
    }

    /// Every set of at most three edits of different features, smaller ones first.
    fn by_trying_all(candidates: &Candidates, people: &People) -> f64 {
        let actions = sogar::actions::all_actions(&candidates.edits, 3);
        let objective = |action: &[u32]| {
            let action: Vec<usize> = action.iter().map(|&edit| edit as usize).collect();
            score(candidates, people, &action)
        };
        actions.iter().map(objective).fold(f64::INFINITY, f64::min)
    }

    fn score(candidates: &Candidates, people: &People, action: &[usize]) -> f64 {
        let margin =
            |row: usize| action.iter().fold(people.margins[row], |sum, &edit| sum + people.gains[edit][row]);
        let lost = (0..candidates.rows).filter(|&row| margin(row) <= 0.0).count();
        candidates.objective(candidates.cost_of(action), lost as u64)
    }

    #[test]
    fn nothing_better_is_passed_over() {
        for round in 0..300 {
            let mut chance = stream(1, 2, round);
            let combine = if round % 2 == 0 { Combine::Max } else { Combine::Sum };
            let (candidates, people) = random_leaf(&mut chance, combine);
            let action = best_action(&candidates, &people, 3, &Stop::default());
            let found = score(&candidates, &people, &action);
            assert_eq!(found, by_trying_all(&candidates, &people), "round {round}");
        }
    }

    #[test]
    fn among_equals_the_smallest_action_wins() {
        let edit = |feature| Edit { feature, change: Change::Flip, followers: Vec::new() };
        let candidates =
            Candidates::with_costs(vec![edit(0), edit(1)], vec![vec![1], vec![1]], 1, Combine::Max, 10.0);
        let people = People { margins: vec![-0.5], gains: vec![vec![0.6], vec![0.6]] };
        assert_eq!(best_action(&candidates, &people, 3, &Stop::default()), [0]);
        let stop = Stop::default();
        stop.cancel.cancel();
        assert_eq!(best_action(&candidates, &people, 3, &stop), [0; 0], "nothing was looked at");
    }
}
