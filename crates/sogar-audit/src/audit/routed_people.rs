//! Every affected person in every summary of a front: their leaf, the cost of its action for them, and whether it works for them.
//!
//! Rows are bitsets here. A leaf is an intersection of the splits' sets, so counting the people of a group in it, or those whom
//! it flips, is a popcount. Only costs are looked up row by row, from one column per edit.

use std::collections::BTreeMap;
use std::ops::Deref;

use sogar_solver::{Combine, RowSet};

use super::weighted_population::WeightedPopulation;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_front::evaluate::HeldOut;
use sogar_front::router::{self, Router};
use sogar_front::summary::{FrontFile, Node};
use sogar_prepare::actions::Edit;
use sogar_prepare::cost::edit_costs;
use sogar_prepare::prepared::Prepared;
use sogar_table::feature::FeatureTable;

/// The affected people of a table, with the effect of the front's actions on them. People are identified by their position among
/// the affected rows, in the order of the table.
pub struct RoutedPeople {
    counted: WeightedPopulation,
    /// For each split of the front, who passes.
    passes: Vec<RowSet>,
    /// For each action of the front, whom it flips.
    flips: Vec<RowSet>,
    /// For each action of the front, its edits by position in `costs`.
    edits: Vec<Vec<usize>>,
    /// For each distinct edit of these actions, its cost for each person, in units.
    costs: Vec<Vec<u32>>,
    combine: Combine,
}

/// Gives access to the population itself.
impl Deref for RoutedPeople {
    type Target = WeightedPopulation;

    fn deref(&self) -> &WeightedPopulation {
        &self.counted
    }
}

impl RoutedPeople {
    /// The people of the front's own table. The front's file stores whom the actions flip.
    pub fn reference(front: &FrontFile, prepared: &Prepared) -> Result<RoutedPeople> {
        let affected = prepared.affected().to_vec();
        let said = front.population.affected_rows.flags(front.population.rows).unwrap_or_default();
        let same = prepared.table().rows == said.len()
            && affected.len() == front.population.affected
            && affected.iter().all(|&row| said[row]);
        if !same {
            let message = "the model does not turn down the people that the result names";
            return Err(Error::new(ErrorKind::ResultFile, message).help("solve anew, or run `sogar check`"));
        }
        let flips = front
            .actions
            .iter()
            .map(|action| {
                let flags = action.flips.flags(affected.len()).unwrap_or_default();
                RowSet::from_fn(affected.len(), |&position| flags.get(position) == Some(&true))
            })
            .collect();
        RoutedPeople::new(front, prepared, prepared.table(), affected, flips)
    }

    /// The people of a held-out table. The model scores the front's actions on them.
    pub fn held_out(front: &FrontFile, prepared: &Prepared, held_out: &HeldOut) -> Result<RoutedPeople> {
        let actions = front.edits_of_actions(&prepared.table().features)?;
        let found = held_out.apply(prepared, &actions)?;
        let flips = found
            .iter()
            .map(|found| RowSet::from_fn(held_out.affected.len(), |&position| found[position].1))
            .collect();
        RoutedPeople::new(front, prepared, &held_out.table, held_out.affected.clone(), flips)
    }

    fn new(
        front: &FrontFile,
        prepared: &Prepared,
        table: &FeatureTable,
        affected: Vec<usize>,
        flips: Vec<RowSet>,
    ) -> Result<RoutedPeople> {
        let features = &prepared.table().features;
        let passes = Router::new(front, features)?.passing(table, &affected);
        let mut different: Vec<Edit> = Vec::new();
        // Edits are looked up by their text, which is faster than comparing with all of them.
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let mut edits = Vec::with_capacity(front.actions.len());
        for action in &front.actions {
            let mut positions = Vec::with_capacity(action.edits.len());
            for edit in &action.edits {
                let position = match known.get(&format!("{edit:?}")) {
                    Some(&position) => position,
                    None => {
                        different.push(edit.edit(features)?);
                        known.insert(format!("{edit:?}"), different.len() - 1);
                        different.len() - 1
                    }
                };
                positions.push(position);
            }
            edits.push(positions);
        }
        let costs = edit_costs(prepared.cost(), &different, table, &affected)?;
        Ok(RoutedPeople {
            counted: WeightedPopulation {
                rows: table.rows,
                person: table.weight_unit(),
                weights: table.weights.clone(),
                affected,
                unit: front.cost.unit,
            },
            passes,
            flips,
            edits,
            costs,
            combine: prepared.cost().combine(),
        })
    }

    /// The leaves of a tree from left to right, each with its action's position in the front and its people.
    pub fn leaves(&self, tree: &Node) -> Vec<(usize, RowSet)> {
        router::leaves(tree, &self.passes, RowSet::full(self.count()))
    }

    /// Who passes a split of the front.
    pub fn passes(&self, split: usize) -> &RowSet {
        &self.passes[split]
    }

    /// Whom an action of the front flips.
    pub fn flips(&self, action: usize) -> &RowSet {
        &self.flips[action]
    }

    /// The cost of an action of the front for a person, in units.
    pub fn cost(&self, action: usize, position: usize) -> u64 {
        let costs = self.edits[action].iter().map(|&edit| u64::from(self.costs[edit][position]));
        self.combine.of(costs)
    }

    /// For each group of a grouping (a position for each row of the table), its affected people.
    pub fn by_group(&self, of_row: &[u32], groups: usize) -> Vec<RowSet> {
        (0..groups as u32)
            .map(|group| RowSet::from_fn(self.count(), |&position| of_row[self.affected[position]] == group))
            .collect()
    }
}
