//! A direction: what is added to each number, and how strongly each level of a category pulls, when a person follows it once.

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand::seq::index;
use sogar::actions::{Change, Edit};
use sogar::config;
use sogar::describe::{spoken, spoken_number};

use super::GlobeCe;
use crate::moves::Moves;

/// The cost of a one-hot column's change by 1: a category is two of them.
const LEVEL_COST: f64 = 0.5;

/// A direction, feature by feature.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Direction {
    steps: Vec<(usize, Step)>,
}

/// The effect of a direction on one feature.
#[derive(Debug, Clone, PartialEq)]
enum Step {
    /// Adds to a number.
    Shift(f64),
    /// Adds to the one-hot columns of the levels; the person is then at the level with the largest sum.
    Pull(Vec<f64>),
}

impl Direction {
    /// A random direction over some of the movable features.
    pub fn draw(settings: &GlobeCe, moves: &Moves<'_>, free: &[usize], rng: &mut ChaCha8Rng) -> Direction {
        let mut chosen =
            index::sample(rng, free.len(), settings.features.unwrap_or(usize::MAX).min(free.len()))
                .into_vec();
        chosen.sort_unstable();
        let share = |rng: &mut ChaCha8Rng| rng.random::<f64>().powf(settings.power);
        let raw = chosen.into_iter().map(|place| {
            let feature = free[place];
            let shares = if moves.is_ordered(feature) {
                let size = share(rng);
                let up = match moves.direction(feature) {
                    Some(config::Direction::Increase) => true,
                    Some(config::Direction::Decrease) => false,
                    None => rng.random(),
                };
                vec![if up { size } else { -size }]
            } else {
                let levels = 0..moves.features[feature].levels().len();
                let pull = |level| {
                    let share = share(rng);
                    if moves.is_target(feature, level) { share } else { 0.0 }
                };
                levels.map(pull).collect()
            };
            (feature, shares)
        });
        let raw: Vec<(usize, Vec<f64>)> = raw.collect();
        Direction::scaled(moves, &raw, settings.magnitude)
    }

    /// The direction with these proportions and this length in units of cost.
    pub fn scaled(moves: &Moves<'_>, raw: &[(usize, Vec<f64>)], magnitude: f64) -> Direction {
        let total: f64 = raw.iter().flat_map(|(_, shares)| shares).map(|share| share.abs()).sum();
        let scale = if total > 0.0 { magnitude / total } else { 0.0 };
        let step = |(feature, shares): &(usize, Vec<f64>)| {
            let step = match shares.as_slice() {
                [share] if moves.is_ordered(*feature) => Step::Shift(share * scale * moves.tenth(*feature)),
                shares => Step::Pull(shares.iter().map(|share| share * scale / LEVEL_COST).collect()),
            };
            (*feature, step)
        };
        Direction { steps: raw.iter().map(step).collect() }
    }

    /// Takes a person `times` along the direction; `after` starts as a copy of `before`.
    pub fn follow(&self, moves: &Moves<'_>, times: f64, before: &[f64], after: &mut [f64]) {
        for (feature, step) in &self.steps {
            let from = before[*feature];
            after[*feature] = match step {
                Step::Shift(by) => moves.shifted(*feature, from, times * by),
                Step::Pull(pulls) => strongest(moves, *feature, pulls, from, times),
            };
        }
    }

    /// The direction in words, one feature each.
    pub fn words(&self, moves: &Moves<'_>) -> Vec<String> {
        let words = |(feature, step): &(usize, Step)| {
            let edit =
                |change| Edit { feature: *feature, change, followers: Vec::new() }.text(moves.features);
            match step {
                Step::Shift(by) => edit(Change::shift(*by, f64::NEG_INFINITY, f64::INFINITY)),
                Step::Pull(pulls) => {
                    let Some(to) = (0..pulls.len()).rev().max_by(|&a, &b| pulls[a].total_cmp(&pulls[b]))
                    else {
                        return String::new();
                    };
                    let starts =
                        (0..pulls.len()).filter(|&from| moves.allows(*feature, from as f64, to as f64));
                    let starts = starts.filter(|&from| pulls[from] < pulls[to]).map(|from| {
                        let level = spoken(&moves.features[*feature].levels()[from]);
                        format!("{level}: from {} times on", spoken_number(1.0 / (pulls[to] - pulls[from])))
                    });
                    let starts: Vec<String> = starts.collect();
                    format!("{} ({})", edit(Change::Set { to, not_from: Vec::new() }), starts.join(", "))
                }
            }
        };
        self.steps.iter().map(words).collect()
    }
}

/// The level with the largest sum of the person's own one-hot column and the pull, the first on ties; levels that the person may
/// not change to do not count.
fn strongest(moves: &Moves<'_>, feature: usize, pulls: &[f64], from: f64, times: f64) -> f64 {
    let own = if from >= 0.0 { pulls.get(from as usize) } else { None };
    let (mut best, mut most) = (from, own.map_or(0.0, |pull| 1.0 + times * pull));
    for (level, pull) in pulls.iter().enumerate() {
        let (level, sum) = (level as f64, times * pull);
        let stronger = sum > most || (sum == most && level < best && own.is_some());
        if stronger && level != from && moves.allows(feature, from, level) {
            (best, most) = (level, sum);
        }
    }
    best
}
