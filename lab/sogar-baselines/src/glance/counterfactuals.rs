//! Accepted people near a centroid, found by random search.
//!
//! A thousand random people are drawn over what may change, and a thousand copies of the centroid take over more and more of
//! their values, one feature per round. Copies that the model accepts are counterfactuals. All centroids of a batch go through
//! their rounds together, so that a slow model gets large batches; no copy is scored twice.

use std::collections::HashSet;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rand::seq::index;
use sogar::error::Result;
use sogar_solver::stop::{Stop, StopReason};

use crate::black_box::{BlackBox, Moved};
use crate::chance::stream;
use crate::moves::Moves;

/// Smallest number of rounds, even if there are enough counterfactuals after the first.
const ROUNDS: usize = 2;
/// Limit of values of copies in a batch of centroids: 32 MB.
const VALUES: usize = 4 << 20;
/// Stage of the draws.
const DRAWS: u64 = 0x6469_6365;

/// The counterfactuals of one centroid.
pub(super) type Found = Vec<Vec<f64>>;

/// The inputs of the search for counterfactuals.
pub(super) struct Search<'a> {
    pub black_box: &'a BlackBox<'a>,
    pub moves: &'a Moves<'a>,
    /// Random people, and copies, for a centroid.
    pub samples: usize,
    /// Counterfactuals wanted for a centroid.
    pub wanted: usize,
    pub seed: u64,
    pub stop: &'a Stop,
}

impl Search<'_> {
    /// At most `wanted` counterfactuals for every centroid; none if none were found, or if the search was stopped before.
    pub fn all(&self, centroids: &[Vec<f64>]) -> Result<(Vec<Found>, Option<StopReason>)> {
        let width = self.moves.features.len();
        let group =
            (self.black_box.rows_at_once() / self.samples).min(VALUES / (self.samples * width).max(1)).max(1);
        let numbered: Vec<(usize, &Vec<f64>)> = centroids.iter().enumerate().collect();
        let found = self.black_box.in_groups(&numbered, group, |group| self.group(group))?;
        let stopped = found.iter().find_map(|(_, stopped)| *stopped);
        Ok((found.into_iter().flat_map(|(found, _)| found).collect(), stopped))
    }

    fn group<'c>(&self, centroids: &[(usize, &'c Vec<f64>)]) -> Result<(Vec<Found>, Option<StopReason>)> {
        let begin = |&(number, centroid): &(usize, &'c Vec<f64>)| {
            let rng = stream(self.seed, DRAWS, number as u64);
            Copies::new(centroid, self.moves, self.samples, rng)
        };
        let mut all: Vec<Copies<'_>> = centroids.iter().map(begin).collect();
        let mut moved = Moved::default();
        let mut stopped = None;
        loop {
            let mut askers = Vec::new();
            for (place, copies) in all.iter_mut().enumerate() {
                if !copies.done(self.wanted) {
                    let asked = copies.round(&mut moved);
                    askers.resize(askers.len() + asked, place);
                }
            }
            if all.iter().all(|copies| copies.done(self.wanted)) && askers.is_empty() {
                break;
            }
            if let Err(reason) = self.stop.check() {
                stopped = Some(reason);
                break;
            }
            let flips = self.black_box.flips(&moved)?;
            for ((place, (_, after)), flips) in
                askers.into_iter().zip(moved.pairs(self.black_box.width())).zip(flips)
            {
                if flips {
                    all[place].found.push(after.to_vec());
                }
            }
            moved.clear();
        }
        Ok((all.into_iter().map(|copies| copies.keep(self.wanted)).collect(), stopped))
    }
}

/// A value that a random person may have.
enum Draw {
    /// A number between two ends.
    Between { lo: f64, hi: f64, whole: bool },
    /// One of some levels.
    Level(Vec<usize>),
}

impl Draw {
    fn value(&self, rng: &mut ChaCha8Rng) -> f64 {
        let chance: f64 = rng.random();
        match self {
            Draw::Between { lo, hi, whole: false } => (lo + chance * (hi - lo)).clamp(*lo, *hi),
            Draw::Between { lo, hi, whole: true } => {
                (lo + (chance * (hi - lo + 1.0)).floor()).clamp(*lo, *hi)
            }
            Draw::Level(levels) => {
                let place = (chance * levels.len() as f64) as usize;
                levels.get(place).or(levels.last()).map_or(f64::NAN, |&level| level as f64)
            }
        }
    }
}

/// The copies of one centroid.
struct Copies<'a> {
    centroid: &'a [f64],
    /// The features that may change from the centroid.
    free: Vec<usize>,
    /// Random people: a value per free feature, one after the other.
    random: Vec<f64>,
    /// The copies, one row after the other.
    copies: Vec<f64>,
    /// Every distinct copy that was scored.
    seen: HashSet<Vec<u64>>,
    round: usize,
    found: Found,
    rng: ChaCha8Rng,
}

impl<'a> Copies<'a> {
    fn new(centroid: &'a [f64], moves: &Moves<'_>, samples: usize, mut rng: ChaCha8Rng) -> Copies<'a> {
        let draw = |feature: usize| {
            let from = centroid[feature];
            let draw = if moves.is_ordered(feature) {
                let (lo, hi) = moves.span(feature, from)?;
                Draw::Between { lo, hi, whole: moves.is_whole(feature) }
            } else {
                Draw::Level(moves.levels(feature, from))
            };
            Some((feature, draw))
        };
        let draws: Vec<(usize, Draw)> = moves.free().into_iter().filter_map(draw).collect();
        let random =
            (0..samples).flat_map(|_| draws.iter().map(|(_, draw)| draw.value(&mut rng)).collect::<Vec<_>>());
        Copies {
            random: random.collect(),
            free: draws.iter().map(|(feature, _)| *feature).collect(),
            copies: centroid.repeat(samples),
            centroid,
            seen: HashSet::new(),
            round: 0,
            found: Vec::new(),
            rng,
        }
    }

    fn done(&self, wanted: usize) -> bool {
        self.round >= self.free.len() || (self.round >= ROUNDS && self.found.len() >= wanted)
    }

    /// Every copy takes over one more value. Returns the number of copies to score.
    fn round(&mut self, moved: &mut Moved) -> usize {
        self.round += 1;
        let (width, free) = (self.centroid.len(), self.free.len());
        let mut asked = 0;
        for (copy, random) in self.copies.chunks_exact_mut(width).zip(self.random.chunks_exact(free)) {
            let chosen = self.rng.random_range(0..free);
            copy[self.free[chosen]] = random[chosen];
            if self.seen.insert(copy.iter().map(|value| value.to_bits()).collect()) {
                moved.push(self.centroid, copy);
                asked += 1;
            }
        }
        asked
    }

    /// A random selection of the counterfactuals, in the order in which they were found.
    fn keep(mut self, wanted: usize) -> Found {
        if self.found.len() <= wanted {
            return self.found;
        }
        let mut kept = index::sample(&mut self.rng, self.found.len(), wanted).into_vec();
        kept.sort_unstable();
        kept.into_iter().map(|place| std::mem::take(&mut self.found[place])).collect()
    }
}
