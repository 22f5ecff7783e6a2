//! How usual the people are whom the advice of a front describes (SPEC §11).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sogar_base::error::Result;
use sogar_prepare::plausibility::Plausibility;
use sogar_prepare::plausibility::forest::{DRAWS, TREES};
use sogar_prepare::prepared::Prepared;
use sogar_solver::RowSet;

use super::FrontFile;
use crate::router::Router;

/// How usual edited rows are: the share of real people who are less usual.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlausibilityRef {
    /// What tells how usual a row is: `forest` or `function`.
    pub measure: String,
    /// SHA-256 of the forest, or of the function's identity (of a command: its command line).
    pub hash: String,
    /// The seed, the number of trees and of people drawn for each; absent for a function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forest: Option<ForestRef>,
    /// Each action in use on the people for whom it works, in the order of `actions`; null for those that work for nobody.
    pub actions: Vec<Option<UsualRef>>,
    /// For each point the leaves of its tree from left to right: the people of the leaf for whom its action works.
    pub points: Vec<Vec<Option<UsualRef>>>,
}

/// How a forest was grown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForestRef {
    /// The seed.
    pub seed: u64,
    /// Number of trees.
    pub trees: usize,
    /// People drawn for a tree.
    pub draws: usize,
}

/// How usual some people are: the share of real people who are less usual, on average.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsualRef {
    /// As they are.
    pub before: f64,
    /// After the action.
    pub after: f64,
}

/// Means of sums of people who are less usual, in units of weight.
pub fn usual((before, after, weight): (u128, u128, u64), everybody: u64) -> Option<UsualRef> {
    let mean = |sum: u128| sum as f64 / weight as f64 / everybody as f64;
    (weight > 0).then(|| UsualRef { before: mean(before), after: mean(after) })
}

/// The tests on the way to a leaf.
type Way = Vec<(usize, bool)>;

impl FrontFile {
    /// The block `plausibility` of a front, if its configuration asks for it.
    pub fn plausibility_among(&self, prepared: &Prepared) -> Result<Option<PlausibilityRef>> {
        let Some(found) = prepared.plausibility() else { return Ok(None) };
        let (table, affected) = (prepared.table(), prepared.affected());
        let features = &table.features;
        let passing = Router::new(self, features)?.passing(table, affected);
        let rules: Vec<Vec<(Way, usize)>> = self
            .points
            .iter()
            .map(|point| point.tree.rules().into_iter().map(|(way, leaf)| (way, leaf.action())).collect())
            .collect();
        // Neighbours on a front share most leaves.
        let mut ways: Vec<BTreeMap<&Way, Option<UsualRef>>> = vec![BTreeMap::new(); self.actions.len()];
        rules.iter().flatten().for_each(|(way, action)| {
            ways[*action].insert(way, None);
        });
        let own = less_usual(found, &affected.iter().map(|&row| table.row(row)).collect::<Vec<_>>())?;
        let mut actions = Vec::with_capacity(self.actions.len());
        for ((action, edits), ways) in
            self.actions.iter().zip(self.edits_of_actions(features)?).zip(&mut ways)
        {
            let flips = action.flips.flags(affected.len()).unwrap_or_default();
            let works: Vec<usize> = (0..flips.len()).filter(|&position| flips[position]).collect();
            let edited = works.iter().map(|&position| {
                let mut row = table.row(affected[position]);
                edits.iter().for_each(|edit| edit.apply(&mut row));
                row
            });
            let after = less_usual(found, &edited.collect::<Vec<_>>())?;
            let mean = |people: &RowSet| {
                let mut sums = (0u128, 0u128, 0u64);
                for (&position, &after) in works.iter().zip(&after).filter(|(at, _)| people.contains(**at)) {
                    let weight = u64::from(table.weight(affected[position]));
                    sums.0 += u128::from(weight) * u128::from(own[position]);
                    sums.1 += u128::from(weight) * u128::from(after);
                    sums.2 += weight;
                }
                usual(sums, found.less_usual(f64::NEG_INFINITY).1)
            };
            let everybody = RowSet::full(affected.len());
            actions.push(mean(&everybody));
            for (way, found) in ways {
                let people = way.iter().fold(everybody.clone(), |people, &(split, passed)| match passed {
                    true => people.and(&passing[split]),
                    false => people.and_not(&passing[split]),
                });
                *found = mean(&people);
            }
        }
        let of_leaf = |(way, action): &(Way, usize)| ways[*action].get(way).copied().flatten();
        let is_forest = found.kind() == "forest";
        Ok(Some(PlausibilityRef {
            measure: found.kind().to_owned(),
            hash: found.hash.clone(),
            forest: is_forest.then_some(ForestRef {
                seed: prepared.config().seed,
                trees: TREES,
                draws: DRAWS,
            }),
            actions,
            points: rules.iter().map(|rules| rules.iter().map(of_leaf).collect()).collect(),
        }))
    }
}

/// How many people are less usual than each of some rows.
fn less_usual(plausibility: &Plausibility, rows: &[Vec<f64>]) -> Result<Vec<u64>> {
    let numbers = plausibility.measured(rows)?;
    Ok(numbers.into_iter().map(|number| plausibility.less_usual(number).0).collect())
}
