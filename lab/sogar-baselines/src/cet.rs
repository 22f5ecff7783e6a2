//! CET (Kanamori and others, 2022): a tree over the affected people with one action per leaf.
//!
//! The method minimises mean cost plus mean loss plus a price for every leaf. It walks from tree to tree by small random changes
//! ([`anneal`]) and finds the best action of each leaf separately ([`leaf`]). For models that are not linear, the published
//! method uses a local linear surrogate of the model while it searches for a leaf's action ([`surrogate`]), and only then asks
//! the model how many people the action really helps. With `exact` the model itself is used throughout: a stronger method than
//! the published one.
//!
//! Every person, also a held-out one, follows the tree's tests to a leaf, so everyone has a proposal.

mod anneal;
mod changes;
mod columns;
mod compact;
mod exact;
mod leaf;
mod linear;
mod ridge;
mod rules;
mod surrogate;
#[cfg(test)]
mod tests;
mod tree;

use std::sync::Arc;
use std::time::Instant;

use sogar::error::{Error, ErrorKind, Result};
use sogar::feature::{Feature, FeatureTable};
use sogar::pipeline::Prepared;
use sogar_solver::stop::Stop;

use crate::contract::{Assigned, Baseline, Description, FitStatus, Fitted, Group, Guide};
use anneal::Annealing;
use leaf::{Adviser, Leaf};
use rules::{SplitRule, all_rules};
use surrogate::Surrogate;
use tree::Tree;

/// The method's settings; the defaults are the authors'.
#[derive(Debug, Clone, PartialEq)]
pub struct Cet {
    /// The price of a leaf in the objective (λ).
    pub leaf_price: f64,
    /// The weight of the mean loss relative to the mean cost (γ).
    pub loss_weight: f64,
    /// Largest number of edits in an action (k).
    pub max_edits: usize,
    /// Steps of the search over trees.
    pub iterations: usize,
    /// Largest number of shifts of one number tried in a leaf.
    pub max_shifts: usize,
    /// Bins whose edges are the thresholds of the tree's tests.
    pub bins: usize,
    /// Depth of the random tree that the search starts from.
    pub start_depth: usize,
    /// Random neighbours for the surrogate around a person.
    pub neighbours: usize,
    /// The penalty on the surrogate's squared slopes.
    pub ridge: f64,
    /// Whether leaves use the model itself instead of a surrogate.
    pub exact: bool,
}

impl Default for Cet {
    fn default() -> Self {
        Cet {
            leaf_price: 0.02,
            loss_weight: 1.0,
            max_edits: 3,
            iterations: 3000,
            max_shifts: 50,
            bins: 5,
            start_depth: 3,
            neighbours: 10_000,
            ridge: 1.0,
            exact: false,
        }
    }
}

/// The purposes of random numbers.
#[derive(Clone, Copy)]
enum Stage {
    Neighbours,
    Order,
    Start,
    Steps,
}

impl Cet {
    /// The authors' settings, but with the model itself instead of surrogates.
    pub fn exact() -> Cet {
        Cet { exact: true, ..Cet::default() }
    }

    fn check(&self) -> Result<()> {
        /// A complete tree of this depth has a million leaves.
        const DEEPEST: usize = 20;
        let amounts =
            [("leaf_price", self.leaf_price), ("loss_weight", self.loss_weight), ("ridge", self.ridge)];
        for (name, amount) in amounts {
            if !(amount >= 0.0 && amount.is_finite()) {
                let message = format!("CET: {name} is {amount}, which is not a number from 0 on");
                return Err(Error::new(ErrorKind::Usage, message)
                    .help("give 0 or a positive number; the authors' settings are the defaults"));
            }
        }
        let counts = [("max_edits", self.max_edits), ("max_shifts", self.max_shifts), ("bins", self.bins)];
        for (name, count) in counts {
            if count == 0 {
                let message = format!("CET: {name} is 0, which leaves nothing to choose from");
                return Err(Error::new(ErrorKind::Usage, message).help("give a whole number from 1 on"));
            }
        }
        if self.start_depth > DEEPEST {
            let message = format!("CET: start_depth is {}, more than {DEEPEST}", self.start_depth);
            return Err(Error::new(ErrorKind::Usage, message).help("the authors start from depth 3"));
        }
        Ok(())
    }
}

impl Baseline for Cet {
    fn name(&self) -> String {
        if self.exact { "CET-exact".into() } else { "CET".into() }
    }

    fn fit(&self, prepared: &Prepared, seed: u64, stop: &Stop) -> Result<Box<dyn Fitted>> {
        self.check()?;
        let rules = all_rules(prepared, self.bins);
        let surrogate = if self.exact || is_linear(prepared) {
            None
        } else {
            Some(Surrogate::fit(prepared, self, seed, &first_half(stop))?)
        };
        // A search with surrogates for only some people is just a best so far.
        let cut_short = surrogate.as_ref().is_some_and(|surrogate| !surrogate.is_complete());
        let adviser = Adviser::new(prepared, self, surrogate);
        let (grown, stopped) = Annealing::new(prepared, self, adviser, &rules, seed, stop).run()?;
        let status = match stopped {
            Some(reason) => reason.into(),
            None if cut_short => FitStatus::TimeLimit,
            None => FitStatus::Complete,
        };
        Ok(Box::new(FittedCet {
            features: prepared.table().features.clone(),
            rules,
            tree: grown.tree,
            leaves: grown.leaves,
            status,
        }))
    }
}

/// Half of the remaining time: the limit for surrogates, so that there is time to use them.
fn first_half(stop: &Stop) -> Stop {
    let now = Instant::now();
    let half = |deadline: Instant| now + deadline.saturating_duration_since(now) / 2;
    Stop { deadline: stop.deadline.map(half), cancel: stop.cancel.clone() }
}

/// Whether the model is linear, so that the best surrogate is the model itself.
fn is_linear(prepared: &Prepared) -> bool {
    prepared.model().predictor.dense_network().is_some_and(|network| network.layers.len() == 1)
}

struct FittedCet {
    features: Vec<Feature>,
    rules: Vec<SplitRule>,
    tree: Tree,
    leaves: Vec<Arc<Leaf>>,
    status: FitStatus,
}

impl FittedCet {
    /// The number of a person's leaf.
    fn leaf(&self, person: &[f64]) -> usize {
        let (mut tree, mut before) = (&self.tree, 0);
        while let Tree::Ask { rule, yes, no } = tree {
            let rule = &self.rules[*rule];
            if rule.passes(person[rule.feature]) {
                tree = yes;
            } else {
                before += yes.leaf_count();
                tree = no;
            }
        }
        before
    }

    /// The tests of a tree at the end of a `way` of conditions, and its leaves in words.
    fn guide(&self, tree: &Tree, way: &mut Vec<String>, leaves: &mut Vec<Group>) -> Guide {
        match tree {
            Tree::Leaf => {
                let leaf = &self.leaves[leaves.len()];
                leaves.push(Group {
                    conditions: way.clone(),
                    edits: leaf.edits.iter().map(|edit| edit.text(&self.features)).collect(),
                    rows: leaf.rows as usize,
                    flipped: (leaf.rows - leaf.loss) as usize,
                });
                Guide::Part(Some(leaves.len() as u32 - 1))
            }
            Tree::Ask { rule, yes, no } => {
                let mut side = |tree, passed| {
                    way.push(self.rules[*rule].text(&self.features, passed));
                    let guide = Box::new(self.guide(tree, way, leaves));
                    way.pop();
                    guide
                };
                let (yes, no) = (side(yes, true), side(no, false));
                Guide::Ask { condition: self.rules[*rule].text(&self.features, true), yes, no }
            }
        }
    }
}

impl Fitted for FittedCet {
    fn assign(&self, _: &Prepared, table: &FeatureTable, rows: &[usize]) -> Result<Vec<Assigned>> {
        let propose = |&row: &usize| {
            let before = table.row(row);
            let part = self.leaf(&before);
            let mut after = before.clone();
            self.leaves[part].edits.iter().for_each(|edit| edit.apply(&mut after));
            let changed = (0..before.len()).filter(|&feature| before[feature] != after[feature]);
            let to = changed.filter(|&feature| !after[feature].is_nan()).map(|f| (f, after[f])).collect();
            Assigned { to, part: Some(part as u32), covered: true }
        };
        Ok(rows.iter().map(propose).collect())
    }

    fn describe(&self) -> Description {
        let mut leaves = Vec::new();
        let guide = self.guide(&self.tree, &mut Vec::new(), &mut leaves);
        Description::Tree { leaves, guide }
    }

    fn status(&self) -> FitStatus {
        self.status.clone()
    }
}
