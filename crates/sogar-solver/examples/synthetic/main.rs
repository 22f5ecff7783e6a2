//! Timed searches of synthetic problems, without tables or models: numeric, mixed and categorical actions, and plain matrices.
//!
//! ```sh
//! cargo run --release -p sogar-solver --example synthetic -- numeric24 --rows 3000 --depth 1
//! cargo run --release -p sogar-solver --example synthetic -- dense --rows 331 --actions 90745 --reference-kernel
//! ```
//!
//! Prints leaf sets per CPU second and a hash of the front, witnesses included: two versions that agree print the same hash.
//! `--reference-kernel` evaluates every leaf plainly instead (see [`plain`]).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout, missing_docs)] // a measurement, not a tool

mod dense;
mod edits;
mod plain;

use std::time::{Duration, Instant};

use sogar_solver::{Limits, Problem, ProblemParts, Solver};

/// What the command line asks for.
#[derive(Debug, Clone)]
pub struct Options {
    pub shape: String,
    pub rows: Option<usize>,
    pub features: Option<usize>,
    pub splits: Option<usize>,
    pub actions: Option<usize>,
    pub depth: u32,
    pub min_leaf: Option<u32>,
    pub threads: usize,
    pub cost: String,
    pub scale: u64,
    pub seed: u64,
    pub seconds: Option<f64>,
    pub reference_kernel: bool,
    pub memory: usize,
}

impl Options {
    fn read() -> Options {
        let mut words = std::env::args().skip(1);
        let mut options = Options {
            shape: words.next().expect("a shape: numeric24, numeric12, mixed, demo, adult or dense"),
            rows: None,
            features: None,
            splits: None,
            actions: None,
            depth: 2,
            min_leaf: None,
            threads: 1,
            cost: "mps".into(),
            scale: 1,
            seed: 1,
            seconds: None,
            reference_kernel: false,
            memory: usize::MAX,
        };
        while let Some(word) = words.next() {
            if word == "--reference-kernel" {
                options.reference_kernel = true;
                continue;
            }
            let value = words.next().expect("a value");
            let number = || value.parse::<usize>().expect("a number");
            match word.as_str() {
                "--rows" => options.rows = Some(number()),
                "--features" => options.features = Some(number()),
                "--splits" => options.splits = Some(number()),
                "--actions" => options.actions = Some(number()),
                "--depth" => options.depth = number() as u32,
                "--min-leaf" => options.min_leaf = Some(number() as u32),
                "--threads" => options.threads = number(),
                "--cost" => options.cost = value,
                "--scale" => options.scale = number() as u64,
                "--seed" => options.seed = number() as u64,
                "--seconds" => options.seconds = Some(value.parse().expect("seconds")),
                _ => panic!("unknown option {word}"),
            }
        }
        options
    }

    pub fn limits(&self, rows: usize) -> Limits {
        let min_leaf = self.min_leaf.unwrap_or((rows / 20).max(1) as u32);
        Limits { max_depth: self.depth, max_leaves: 1 << self.depth.min(20), min_leaf }
    }
}

pub use sogar_testing::Random;

/// Seconds of processor time so far, all threads.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    fields.get(11).and_then(|ticks| ticks.parse::<f64>().ok()).unwrap_or(0.0) / 100.0
}

fn main() {
    let options = Options::read();
    let (wall, before) = (Instant::now(), cpu());
    let parts: ProblemParts = match options.shape.as_str() {
        "dense" => dense::problem(&options),
        _ => edits::problem(&options),
    };
    let problem = Problem::new(parts).unwrap();
    println!(
        "{} {}: {} rows, {} splits, {} edits, {} actions, min leaf {}, depth {}; made in {:.1} CPU-s, {:.1} s",
        options.shape,
        options.cost,
        problem.rows(),
        problem.splits(),
        problem.edits(),
        problem.actions(),
        problem.limits().min_leaf,
        options.depth,
        cpu() - before,
        wall.elapsed().as_secs_f64(),
    );
    let solver = Solver::builder()
        .threads(options.threads)
        .time_limit(options.seconds.map(Duration::from_secs_f64))
        .memory_limit(options.memory)
        .build()
        .unwrap();
    let (wall, before) = (Instant::now(), cpu());
    let reference_kernel = plain::Plain::default();
    let outcome = match options.reference_kernel {
        true => solver.solve_with(&problem, &(), Some(&reference_kernel), &()),
        false => solver.solve(&problem, &()),
    };
    let elapsed = wall.elapsed().as_secs_f64();
    let taken = cpu() - reference_kernel.began().unwrap_or(before);
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in format!("{:?}", outcome.front).bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let sets = outcome.stats.leaf_sets;
    println!(
        "  {:?}: {sets} leaf sets in {taken:.2} CPU-s ({elapsed:.2} s): {:.0} per CPU-s; {} points, hash {hash:016x}",
        outcome.status,
        sets as f64 / taken.max(0.001),
        outcome.front.len(),
    );
    let work = outcome.stats.leaf_work;
    let per = |count: u64| count as f64 / work.sets.max(1) as f64;
    println!(
        "  {} evaluated, {:.0} per CPU-s; per leaf set: {:.0} groups, {:.0} losses, {:.0} costs",
        work.sets,
        work.sets as f64 / taken.max(0.001),
        per(work.groups),
        per(work.losses),
        per(work.costs)
    );
}
