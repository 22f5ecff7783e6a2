//! Compares outcomes of a dense network with a matrix multiplication of the same shapes: `sogar-lab bench --network`.
//!
//! A network of five hidden layers of 50 units scores every edited row of a synthetic table. The time is that of the whole
//! computation, including first layer, activations, error bounds and bitsets, while only the multiply-adds of the layers after
//! the first count as work. The reference is the `gemm` library on products of 50 × 50 weights with batches of cells, at its best
//! batch size and layout. Both run on one thread, alternating; the best of the rounds counts, by the thread's own running time,
//! so that other work on the machine favours neither.

use std::hint::black_box;

use sogar::actions::{Change, Edit, all_actions};
use sogar::encode::{ColumnSource, Encoder};
use sogar::feature::{Feature, FeatureTable, Kind};
use sogar::model::{Activation, DenseNetwork, Layer, NetworkDecision, NetworkModel};
use sogar::outcomes::{OutcomeQuery, Watch, outcomes};
use sogar::{Error, ErrorKind, Result, Stop};

use super::stopwatch::Stopwatch;

const HIDDEN: usize = 5;
const UNITS: usize = 50;
const FEATURES: usize = 16;
const ROUNDS: usize = 6;
const BATCHES: [usize; 4] = [64, 256, 1024, 4096];

/// What was measured.
pub struct Rates {
    /// Best rate of the outcomes, in 10⁹ operations per second.
    outcomes: f64,
    /// Best rate of plain matrix products of the same shapes.
    products: f64,
    /// Cells per second.
    cells: f64,
    /// Share of the cells that were settled in double precision.
    settled: f64,
}

impl Rates {
    /// The rates as a small table.
    pub fn table(&self) -> String {
        let share = 100.0 * self.outcomes / self.products;
        format!(
            "## Dense network, {HIDDEN} hidden layers of {UNITS} units, one thread\n\n\
             | | GFLOP/s |\n|---|---:|\n\
             | outcomes, everything included | {:.1} |\n\
             | matrix products of the same shapes | {:.1} |\n\n\
             {share:.0} % of the matrix products' rate (target: 50 %); {:.2} million cells a second, {:.3} % of them settled in \
             double precision.",
            self.outcomes,
            self.products,
            self.cells / 1e6,
            100.0 * self.settled,
        )
    }

    /// Whether the target is met.
    pub fn holds(&self) -> bool {
        self.outcomes >= 0.5 * self.products
    }
}

/// Measures both, alternating.
pub fn measure(rows: usize) -> Result<Rates> {
    let failed = |cause: rayon::ThreadPoolBuildError| Error::new(ErrorKind::Usage, cause.to_string());
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().map_err(failed)?;
    pool.install(|| {
        let mut best = Rates { outcomes: 0.0, products: 0.0, cells: 0.0, settled: 0.0 };
        for _ in 0..ROUNDS {
            for (batch, cells_together) in BATCHES.iter().flat_map(|&batch| [(batch, true), (batch, false)]) {
                best.products = best.products.max(products(batch, cells_together)?);
            }
            let (cells, seconds, settled) = network_outcomes(rows)?;
            let work = ((HIDDEN - 1) * UNITS * UNITS + UNITS) as f64 * 2.0;
            best.outcomes = best.outcomes.max(cells * work / seconds / 1e9);
            best.cells = best.cells.max(cells / seconds);
            best.settled = settled / cells;
        }
        Ok(best)
    })
}

/// The rate of products of `UNITS × UNITS` weights with a batch, whose cells (or units) are contiguous.
fn products(batch: usize, cells_together: bool) -> Result<f64> {
    let weights = vec![0.5f32; UNITS * UNITS];
    let input = vec![0.25f32; UNITS * batch];
    let mut output = vec![0.0f32; UNITS * batch];
    let repeats = 5_000_000_000 / (2 * UNITS * UNITS * batch);
    let (column, row) = if cells_together { (1, batch as isize) } else { (UNITS as isize, 1) };
    let product = gemm_f32::gemm::f32::get_gemm_fn();
    let start = Stopwatch::start();
    for _ in 0..repeats {
        // SAFETY: the three matrices have the sizes and strides that are passed.
        unsafe {
            product(
                UNITS,
                batch,
                UNITS,
                output.as_mut_ptr(),
                column,
                row,
                false,
                weights.as_ptr(),
                1,
                UNITS as isize,
                input.as_ptr(),
                column,
                row,
                0.0,
                1.0,
                false,
                false,
                false,
                gemm_common::Parallelism::None,
            );
        }
        black_box(&mut output);
    }
    let seconds = start.seconds();
    if output.iter().any(|&sum| sum != UNITS as f32 * 0.125) {
        return Err(Error::new(ErrorKind::Usage, "the library's matrix product is wrong"));
    }
    Ok((repeats * 2 * UNITS * UNITS * batch) as f64 / seconds / 1e9)
}

/// Numbers between -1 and 1 that are the same on every machine.
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    }
}

fn network() -> DenseNetwork {
    let mut number = numbers(1);
    let widths: Vec<usize> =
        std::iter::once(FEATURES).chain([UNITS; HIDDEN]).chain(std::iter::once(1)).collect();
    let layers = widths.windows(2).enumerate().map(|(i, pair)| {
        let (inputs, outputs) = (pair[0], pair[1]);
        // Initial sizes as in training libraries.
        let size = (6.0 / inputs as f64).sqrt();
        let activation = if i == HIDDEN { Activation::Identity } else { Activation::Relu };
        Layer {
            inputs,
            outputs,
            weights: (0..inputs * outputs).map(|_| (number() * size) as f32).collect(),
            bias: (0..outputs).map(|_| (number() * 0.1) as f32).collect(),
            activation,
        }
    });
    DenseNetwork {
        inputs: FEATURES,
        scaling: Vec::new(),
        layers: layers.collect(),
        decision: NetworkDecision::Sigmoid { threshold: 0.5 },
    }
}

/// Cells, seconds and settled cells of one computation in which all edits differ.
fn network_outcomes(rows: usize) -> Result<(f64, f64, f64)> {
    let mut number = numbers(2);
    let name = |feature: usize| format!("x{feature}");
    let features: Vec<Feature> =
        (0..FEATURES).map(|feature| Feature::new(name(feature), Kind::Real)).collect();
    let values = (0..FEATURES).map(|_| (0..rows).map(|_| number()).collect()).collect();
    let table = FeatureTable { features, values, rows, weights: None };
    let encoder =
        Encoder { columns: (0..FEATURES).map(|feature| ColumnSource { feature, map: None }).collect() };
    let edits: Vec<Edit> = (0..FEATURES)
        .flat_map(|feature| {
            [-0.5, -0.25, 0.25, 0.5, 1.0].map(|by| Edit {
                feature,
                change: Change::shift(by, -9.0, 9.0),
                followers: Vec::new(),
            })
        })
        .collect();
    let actions = all_actions(&edits, 3);
    let network = network();
    let info = network.info("made up", (0..FEATURES).map(name).collect());
    let model = NetworkModel::new(info, network)?;
    let rows: Vec<usize> = (0..rows).collect();
    let query =
        OutcomeQuery::of_model((&model, &encoder), &[false, true], (&table, &rows), (&edits, &actions));
    let start = Stopwatch::start();
    let found = outcomes(query, &Watch { progress: &|_, _| (), stop: &Stop::default() })?;
    let seconds = start.seconds();
    let settled = found.map_or(0, |found| found.settled) as f64;
    Ok(((rows.len() * actions.len()) as f64, seconds, settled))
}
