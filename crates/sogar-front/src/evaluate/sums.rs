//! Costs and losses of every point of a front on other people, as exact sums. The sums of the parts of a table add up.

use sogar_base::error::Result;
use sogar_prepare::prepared::Prepared;
use sogar_solver::RowSet;

use super::HeldOut;
use crate::router::{Router, leaves};
use crate::summary::{FrontFile, HeldOutLeaf, Node};

/// What a point of the front does to some people.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PointSums {
    /// Sum of squared costs, in units of cost times weight.
    pub squares: u128,
    /// The leaves of its tree from left to right.
    pub leaves: Vec<HeldOutLeaf>,
}

impl PointSums {
    /// Total cost in units.
    pub fn cost(&self) -> u64 {
        self.leaves.iter().map(|leaf| leaf.cost_sum).sum()
    }

    /// People who are not flipped, in units of weight.
    pub fn loss(&self) -> u64 {
        self.leaves.iter().map(|leaf| leaf.rows - leaf.flipped).sum()
    }

    /// The standard deviation of the cost (with n − 1), for people that weigh this much together; `person` is one's weight.
    pub(super) fn cost_sd(&self, unit: u64, people: u64, person: u64) -> f64 {
        let (sum, people, person) = (self.cost() as f64, people as f64, person as f64);
        let squares = (self.squares as f64 - sum * sum / people).max(0.0);
        if people > person { (squares / (people - person)).sqrt() / unit as f64 } else { 0.0 }
    }

    /// The sums as numbers, which add up one by one.
    pub fn numbers(&self) -> Vec<u128> {
        let leaf = |leaf: &HeldOutLeaf| [leaf.rows, leaf.flipped, leaf.cost_sum].map(u128::from);
        std::iter::once(self.squares).chain(self.leaves.iter().flat_map(leaf)).collect()
    }

    /// The sums of these numbers, if they are some.
    pub fn of_numbers(numbers: &[u128]) -> Option<PointSums> {
        let (&squares, leaves) = numbers.split_first()?;
        let leaf = |leaf: &[u128]| {
            let small = |place: usize| u64::try_from(leaf[place]).ok();
            let (rows, flipped) = (small(0)?, small(1).filter(|&flipped| flipped <= small(0).unwrap_or(0))?);
            Some(HeldOutLeaf { rows, flipped, cost_sum: small(2)? })
        };
        let leaves = leaves.chunks_exact(3).map(leaf).collect::<Option<_>>()?;
        Some(PointSums { squares, leaves })
    }

    /// Adds a leaf with these people.
    fn add_leaf(&mut self, people: &RowSet, effects: &[(u64, bool)], weights: &[u64]) {
        let mut leaf = HeldOutLeaf::default();
        for position in people.iter() {
            let ((cost, flipped), weight) = (effects[position], weights[position]);
            leaf.rows += weight;
            leaf.flipped += weight * u64::from(flipped);
            leaf.cost_sum += weight * cost;
            self.squares += u128::from(weight) * u128::from(cost) * u128::from(cost);
        }
        self.leaves.push(leaf);
    }
}

/// The sums of every point of the front on the affected rows of another table.
pub fn sums(front: &FrontFile, prepared: &Prepared, held_out: &HeldOut) -> Result<Vec<PointSums>> {
    let actions = front.edits_of_actions(&prepared.table().features)?;
    of_points(front, prepared, held_out, &held_out.apply(prepared, &actions)?)
}

/// Cost and flip of every action on every affected row: `effects[action][position]`.
pub(super) type Effects = Vec<Vec<(u64, bool)>>;

/// The sums of every point, from what its actions do.
pub(super) fn of_points(
    front: &FrontFile,
    prepared: &Prepared,
    held_out: &HeldOut,
    effects: &Effects,
) -> Result<Vec<PointSums>> {
    let (table, affected) = (&held_out.table, &held_out.affected);
    let passing = Router::new(front, &prepared.table().features)?.passing(table, affected);
    let weights: Vec<u64> = affected.iter().map(|&row| u64::from(table.weight(row))).collect();
    let of_point = |tree: &Node| {
        let mut sums = PointSums::default();
        for (action, people) in leaves(tree, &passing, RowSet::full(affected.len())) {
            sums.add_leaf(&people, &effects[action], &weights);
        }
        sums
    };
    Ok(front.points.iter().map(|point| of_point(&point.tree)).collect())
}
