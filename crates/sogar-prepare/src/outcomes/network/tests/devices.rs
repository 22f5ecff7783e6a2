//! Networks on other devices: one that is as inexact as WGSL allows, and a real one if there is one.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sogar_solver::Stop;

use super::super::offload::{CellDevice, CellScores, Evaluable, Wanted, slope};
use super::super::{NetworkOutcomes, Watch};
use super::{asked, assert_equal};
use crate::model::DenseNetwork;
use crate::outcomes::by_scoring;
use crate::outcomes::tests::Random;

/// Rounds every sum and product to a random neighbour, and the smallest numbers to zero.
struct Careless<'a> {
    network: &'a DenseNetwork,
    per_cell: usize,
    chance: Mutex<Random>,
    cells: AtomicUsize,
}

fn either(exact: f64, chance: &mut Random) -> f32 {
    let near = exact as f32;
    let far = match f64::from(near) < exact {
        true => near.next_up(),
        false if f64::from(near) > exact => near.next_down(),
        false => near,
    };
    let rounded = if chance.index(2) == 0 { near } else { far };
    if rounded.is_subnormal() && chance.index(2) == 0 { 0.0 } else { rounded }
}

impl Careless<'_> {
    fn plus(a: f32, b: f32, chance: &mut Random) -> f32 {
        either(f64::from(a) + f64::from(b), chance)
    }

    fn times(a: f32, b: f32, chance: &mut Random) -> f32 {
        either(f64::from(a) * f64::from(b), chance)
    }
}

impl CellDevice for Careless<'_> {
    fn wanted(&self) -> Wanted {
        Wanted::Yes
    }

    fn scores(&self, sums: &[f32], shares: &[f32], stride: usize, cells: &[u32]) -> Option<CellScores> {
        let chance = &mut *self.chance.lock().unwrap();
        let (first, rest) = self.network.layers.split_first()?;
        let all = cells.len() / self.per_cell;
        self.cells.fetch_add(all, Ordering::Relaxed);
        let mut scores = CellScores::default();
        scores.outputs.resize(all * self.network.outputs(), 0.0);
        scores.squares.resize(all * rest.len(), 0.0);
        for (cell, positions) in cells.chunks_exact(self.per_cell).enumerate() {
            let mut units = sums.to_vec();
            for &position in positions.iter().filter(|&&position| position != u32::MAX) {
                for (unit, &share) in units.iter_mut().zip(&shares[position as usize * stride..]) {
                    *unit = Self::plus(*unit, share, chance);
                }
            }
            let bend = |units: &mut [f32], bent: Option<f32>, chance: &mut Random| {
                for unit in units.iter_mut().filter(|unit| **unit < 0.0) {
                    *unit = bent.map_or(*unit, |slope| Self::times(slope, *unit, chance));
                }
            };
            bend(&mut units, slope(first.activation).flatten(), chance);
            for (number, layer) in rest.iter().enumerate() {
                let mut square = 0.0;
                for &unit in &units {
                    let own = Self::times(unit, unit, chance);
                    square = Self::plus(square, own, chance);
                }
                scores.squares[number * all + cell] = square;
                let mut next = layer.bias.clone();
                for (sum, weights) in next.iter_mut().zip(layer.weights.chunks_exact(layer.inputs)) {
                    for (&weight, &unit) in weights.iter().zip(&units) {
                        let product = Self::times(weight, unit, chance);
                        *sum = Self::plus(*sum, product, chance);
                    }
                }
                bend(&mut next, slope(layer.activation).flatten(), chance);
                units = next;
            }
            for (output, &unit) in units.iter().enumerate() {
                scores.outputs[output * all + cell] = unit;
            }
        }
        Some(scores)
    }

    fn tried(&self, _: Option<(bool, Duration, Duration)>) {}
}

#[test]
fn the_error_bound_covers_any_rounding_that_wgsl_allows() {
    let mut cells = 0;
    for seed in 2000..2150 {
        cells += asked(seed, seed.is_multiple_of(4), |query, network| {
            let watch = Watch { progress: &|_, _| (), stop: &Stop::default() };
            let slow = by_scoring(query, &watch).unwrap().unwrap();
            let device = Careless {
                network,
                per_cell: query.actions.iter().map(<[u32]>::len).max().unwrap(),
                chance: Mutex::new(Random(seed)),
                cells: AtomicUsize::new(0),
            };
            let found = NetworkOutcomes::new(network, &query).unwrap().on(Some(&device)).outcomes(&watch);
            assert_equal(&query, &found.unwrap(), &slow, &format!("seed {seed}"));
            assert!(Evaluable::of(network).is_some() || device.cells.load(Ordering::Relaxed) == 0);
            device.cells.load(Ordering::Relaxed)
        });
    }
    assert!(cells > 10_000, "only {cells} cells were evaluated elsewhere");
}
