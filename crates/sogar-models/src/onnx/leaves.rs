//! The weights of a tree ensemble's leaves, by output.

use std::collections::BTreeMap;

use super::budget::Budget;
use super::damaged;
use sogar_base::error::Result;

/// The weight of one leaf for one output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weight {
    pub leaf: usize,
    pub output: usize,
    pub value: f64,
}

/// The weights of all leaves, by leaf and output.
#[derive(Debug, Clone)]
pub(super) struct LeafWeights {
    pub list: Vec<Weight>,
    /// `list[starts[leaf]..starts[leaf + 1]]` are a leaf's.
    starts: Vec<usize>,
}

impl LeafWeights {
    /// Sorts the weights; each leaf may add to an output once.
    pub fn new(mut list: Vec<Weight>, leaves: usize) -> Result<Self> {
        if list.iter().any(|weight| !weight.value.is_finite()) {
            return Err(damaged("a leaf's value is not a finite number"));
        }
        list.sort_by_key(|weight| (weight.leaf, weight.output));
        if list.windows(2).any(|pair| (pair[0].leaf, pair[0].output) == (pair[1].leaf, pair[1].output)) {
            return Err(damaged("a leaf adds to the same output twice"));
        }
        let starts = (0..=leaves).map(|leaf| list.partition_point(|weight| weight.leaf < leaf)).collect();
        Ok(LeafWeights { list, starts })
    }

    fn of_leaf(&self, leaf: usize) -> &[Weight] {
        match (self.starts.get(leaf), self.starts.get(leaf + 1)) {
            (Some(&start), Some(&end)) => &self.list[start..end],
            _ => &[],
        }
    }

    /// The values of a tree with these leaves, for every output to which any of them adds, outputs ascending.
    pub fn of_tree(&self, leaves: &[usize], budget: &mut Budget) -> Result<Vec<(usize, Vec<f64>)>> {
        let mut values: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for (position, &leaf) in leaves.iter().enumerate() {
            for weight in self.of_leaf(leaf) {
                if !values.contains_key(&weight.output) {
                    budget.take(leaves.len(), 1)?;
                }
                values.entry(weight.output).or_insert_with(|| vec![0.0; leaves.len()])[position] =
                    weight.value;
            }
        }
        Ok(values.into_iter().collect())
    }

    /// Fails if a class has no weights: runtimes never predict it, regardless of the other scores.
    pub fn check_every_output(&self, outputs: usize) -> Result<()> {
        let mut seen = vec![false; outputs];
        for weight in &self.list {
            if let Some(seen) = seen.get_mut(weight.output) {
                *seen = true;
            }
        }
        match seen.iter().position(|&seen| !seen) {
            Some(class) => {
                Err(damaged(format!("no leaf adds to class {class}, so the model can never answer it")))
            }
            None => Ok(()),
        }
    }
}
