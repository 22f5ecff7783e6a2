//! The search for a tree: small random changes, with worse ones accepted ever more rarely.

use std::collections::HashMap;
use std::sync::Arc;

use rand::RngExt;
use rand::rngs::ChaCha8Rng;
use rayon::prelude::*;
use sogar::error::Result;
use sogar::pipeline::Prepared;
use sogar_solver::RowSet;
use sogar_solver::stop::{Stop, StopReason};

use super::leaf::{Adviser, Leaf};
use super::rules::SplitRule;
use super::tree::Tree;
use super::{Cet, Stage};
use crate::chance::stream;

/// A tree with the actions of its leaves, yes before no.
#[derive(Debug, Clone)]
pub(super) struct Grown {
    pub tree: Tree,
    pub leaves: Vec<Arc<Leaf>>,
    /// Mean cost, plus weighted mean loss, plus the price of the leaves.
    pub objective: f64,
}

/// The search over trees for one run.
pub(super) struct Annealing<'a> {
    settings: &'a Cet,
    adviser: Adviser<'a>,
    /// Units in a cost of 1.
    unit: f64,
    /// All affected rows.
    everybody: RowSet,
    /// The affected rows that pass each rule.
    passing: Vec<RowSet>,
    /// Sets of rows recur; each is solved once.
    known: HashMap<RowSet, Arc<Leaf>>,
    seed: u64,
    stop: &'a Stop,
}

/// A step of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Insert,
    Delete,
    Replace,
}

impl<'a> Annealing<'a> {
    pub fn new(
        prepared: &Prepared,
        settings: &'a Cet,
        adviser: Adviser<'a>,
        rules: &[SplitRule],
        seed: u64,
        stop: &'a Stop,
    ) -> Annealing<'a> {
        let (affected, values) = (prepared.problem_rows(), &prepared.table().values);
        let passes = |rule: &SplitRule| {
            RowSet::from_fn(affected.len(), |&position| rule.passes(values[rule.feature][affected[position]]))
        };
        Annealing {
            settings,
            adviser,
            unit: prepared.cost().unit() as f64,
            everybody: RowSet::full(affected.len()),
            passing: rules.iter().map(passes).collect(),
            known: HashMap::new(),
            seed,
            stop,
        }
    }

    /// The best tree so far, and why the search ended early, if it did.
    pub fn run(&mut self) -> Result<(Grown, Option<StopReason>)> {
        let mut now = self.grown(self.start())?;
        if self.stop.check().is_err() {
            // Leaves without time for a search do nothing; one of them is enough.
            let idle = vec![Arc::new(Leaf::idle(self.everybody.count()))];
            let objective = self.objective(&idle);
            if objective < now.objective {
                now = Grown { tree: Tree::Leaf, leaves: idle, objective };
            }
        }
        let mut best = now.clone();
        let useful = self.splitting(&self.everybody);
        let iterations = if useful.is_empty() { 0 } else { self.settings.iterations };
        for iteration in 0..iterations {
            if let Err(reason) = self.stop.check() {
                return Ok((best, Some(reason)));
            }
            let mut chance = stream(self.seed, Stage::Steps as u64, iteration as u64);
            let Some(tree) = self.neighbour(&now, &mut chance) else { continue };
            let new = self.grown(tree)?;
            let accepted =
                chance.random::<f64>() <= acceptance(now.objective, new.objective, iteration, iterations);
            if accepted {
                now = new;
                if now.objective < best.objective {
                    best = now.clone();
                }
            }
        }
        Ok((best, self.stop.check().err()))
    }

    /// A complete tree of random rules.
    fn start(&self) -> Tree {
        if self.passing.is_empty() {
            return Tree::Leaf;
        }
        let mut chance = stream(self.seed, Stage::Start as u64, 0);
        let tree =
            Tree::complete(self.settings.start_depth, &mut || chance.random_range(0..self.passing.len()));
        tree.settled(&self.everybody, &self.passing)
    }

    /// A tree with the best actions for its leaves; if stopped, with the best so far.
    fn grown(&mut self, tree: Tree) -> Result<Grown> {
        let rows = tree.leaves(&self.everybody, &self.passing);
        let unknown: Vec<&RowSet> = rows.iter().filter(|rows| !self.known.contains_key(*rows)).collect();
        let solved: Vec<Leaf> =
            unknown.par_iter().map(|rows| self.adviser.advise(rows, self.stop)).collect::<Result<_>>()?;
        for (rows, leaf) in unknown.into_iter().zip(solved) {
            self.known.insert(rows.clone(), Arc::new(leaf));
        }
        let leaves: Vec<Arc<Leaf>> = rows.iter().filter_map(|rows| self.known.get(rows).cloned()).collect();
        let objective = self.objective(&leaves);
        Ok(Grown { tree, leaves, objective })
    }

    fn objective(&self, leaves: &[Arc<Leaf>]) -> f64 {
        let cost: u64 = leaves.iter().map(|leaf| leaf.cost).sum();
        let loss: u64 = leaves.iter().map(|leaf| leaf.loss).sum();
        let people = self.everybody.count() as f64;
        (cost as f64 / self.unit + self.settings.loss_weight * loss as f64) / people
            + self.settings.leaf_price * leaves.len() as f64
    }

    /// A tree that differs in one place; `None` if that place allows no change.
    fn neighbour(&self, now: &Grown, chance: &mut ChaCha8Rng) -> Option<Tree> {
        let mut tree = now.tree.clone();
        let rows = || tree.leaves(&self.everybody, &self.passing);
        match self.settings.step(now.leaves.len(), chance.random()) {
            Step::Insert => {
                let failing = now.leaves.iter().map(|leaf| leaf.loss as f64 / leaf.rows.max(1) as f64);
                let leaf = drawn(&failing.collect::<Vec<_>>(), chance)?;
                let rule = self.rule(&rows()[leaf], chance)?;
                tree.insert(leaf, rule);
            }
            Step::Delete => {
                let people = self.everybody.count();
                let others = now.leaves.iter().map(|leaf| people as f64 - leaf.rows as f64);
                let leaf = drawn(&others.collect::<Vec<_>>(), chance)?;
                tree.delete(leaf);
            }
            Step::Replace => {
                let questions = tree.questions(&self.everybody, &self.passing);
                let question = chance.random_range(0..questions.len().max(1));
                let rule = self.rule(questions.get(question)?, chance)?;
                tree.replace(question, rule);
            }
        }
        Some(tree.settled(&self.everybody, &self.passing))
    }

    /// One of the rules that split these rows.
    fn rule(&self, rows: &RowSet, chance: &mut ChaCha8Rng) -> Option<usize> {
        let rules = self.splitting(rows);
        if rules.is_empty() { None } else { Some(rules[chance.random_range(0..rules.len())]) }
    }

    fn splitting(&self, rows: &RowSet) -> Vec<usize> {
        let count = rows.count();
        let splits = |rule: &usize| (1..count).contains(&rows.and(&self.passing[*rule]).count());
        (0..self.passing.len()).filter(splits).collect()
    }
}

impl Cet {
    /// The largest number of leaves that could pay: more of them cost more than a tree without any recourse.
    pub(super) fn most_leaves(&self) -> f64 {
        // A quotient such as 1.02 / 0.02 must not round below 51.
        ((self.loss_weight + self.leaf_price) / self.leaf_price + 1e-9).floor()
    }

    /// The step of a random number in [0, 1), from a tree with this many leaves.
    pub(super) fn step(&self, leaves: usize, chance: f64) -> Step {
        let share = leaves as f64 / self.most_leaves();
        let (insert, delete) = match leaves {
            1 => return Step::Insert,
            _ if share >= 1.0 => (0.0, 0.5),
            _ => ((1.0 - share) / 1.5, share / 1.5),
        };
        if chance < insert {
            Step::Insert
        } else if chance < insert + delete {
            Step::Delete
        } else {
            Step::Replace
        }
    }
}

/// The probability that a tree with the objective `new` replaces one with `old`.
pub(super) fn acceptance(old: f64, new: f64, iteration: usize, iterations: usize) -> f64 {
    let temperature = 0.01f64.powf(iteration as f64 / iterations as f64);
    ((old - new) / temperature).exp()
}

/// A random position with these weights; uniform if all are 0.
fn drawn(weights: &[f64], chance: &mut ChaCha8Rng) -> Option<usize> {
    let last = weights.len().checked_sub(1)?;
    let total: f64 = weights.iter().sum();
    if total <= 0.0 {
        return Some(chance.random_range(0..weights.len()));
    }
    let mut left = chance.random::<f64>() * total;
    for (position, weight) in weights.iter().enumerate() {
        if left < *weight {
            return Some(position);
        }
        left -= weight;
    }
    // Rounding: the last one with a positive weight.
    Some(weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(last))
}
