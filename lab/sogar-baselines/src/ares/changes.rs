//! The possible proposals of rules: sets of changes that lead from one frequent set of items to another on the same features.
//!
//! Half a million candidate rules make a thousand distinct proposals, so flips and costs are computed once per proposal and
//! shared by all rules that make it. Frequent sets on the same features exclude each other, so there are few ways from each of
//! them.

use std::collections::BTreeMap;

use sogar_solver::Actions;
use sogar_solver::bits::BitTable;
use sogar_solver::stop::Stop;

use super::items::Items;
use super::itemsets::{Incomplete, Itemsets, cover};
use super::moves::Moves;

/// A way from one set of items to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Way {
    /// The target set of items.
    pub to: u32,
    /// The proposal.
    pub action: u32,
}

/// All proposals.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    /// The edits of each action, ascending.
    pub actions: Actions,
    /// For each short set of items, the ways from it.
    ways: Vec<Vec<Way>>,
    /// For each action, the affected rows to which some rule proposes it.
    pub asked: Vec<Vec<u64>>,
    /// Why some were left out, if any.
    pub incomplete: Option<Incomplete>,
}

impl Changes {
    /// All ways that change at most `longest` features, with at most about `most` actions, those with few changes first; `met`
    /// has the affected rows that meet each item.
    pub fn new(
        items: &Items,
        itemsets: &Itemsets,
        moves: &Moves,
        met: &BitTable,
        longest: usize,
        most: usize,
        stop: &Stop,
    ) -> Changes {
        let mut alike: BTreeMap<(usize, Vec<usize>), Vec<usize>> = BTreeMap::new();
        let short = itemsets.up_to(longest);
        for set in short.clone() {
            let list = itemsets.get(set);
            if list.iter().all(|&item| moves.leads_to(item) || moves.leads_from(item)) {
                let features = list.iter().map(|&item| items.list[item as usize].feature).collect();
                alike.entry((list.len(), features)).or_default().push(set);
            }
        }
        let mut changes = Changes { ways: vec![Vec::new(); short.end], ..Changes::default() };
        let mut rows = Vec::new();
        for sets in alike.values() {
            let stopped = stop.check().err().map(Incomplete::Stopped);
            changes.incomplete = stopped.or((changes.actions.len() >= most).then_some(Incomplete::TooMany));
            if changes.incomplete.is_some() {
                break;
            }
            let mut actions: BTreeMap<Vec<u32>, u32> = BTreeMap::new();
            for &from in sets {
                cover(met, itemsets.get(from), &mut rows);
                if rows.iter().all(|&word| word == 0) {
                    continue; // no one to propose anything to
                }
                for &to in sets {
                    let pairs = itemsets.get(from).iter().zip(itemsets.get(to));
                    let edits: Option<Vec<u32>> = pairs.map(|(&from, &to)| moves.between(from, to)).collect();
                    let Some(edits) = edits else { continue };
                    let action = *actions.entry(edits).or_insert_with_key(|edits| {
                        changes.actions.push(edits);
                        changes.asked.push(vec![0; rows.len()]);
                        (changes.actions.len() - 1) as u32
                    });
                    for (asked, rows) in changes.asked[action as usize].iter_mut().zip(&rows) {
                        *asked |= rows;
                    }
                    changes.ways[from].push(Way { to: to as u32, action });
                }
            }
        }
        changes
    }

    /// The ways from a set of items, by target: those of all of its subsets.
    pub fn ways_from(&self, items: &[u32], itemsets: &Itemsets, ways: &mut Vec<Way>) {
        ways.clear();
        let mut part = Vec::with_capacity(items.len());
        for chosen in 1u32..1 << items.len() {
            part.clear();
            part.extend((0..items.len()).filter(|place| chosen >> place & 1 == 1).map(|place| items[place]));
            let set = itemsets.find(&part);
            if let Some(found) = set.and_then(|set| self.ways.get(set)) {
                ways.extend_from_slice(found);
            }
        }
        ways.sort_unstable();
    }

    /// Number of scorings for a model that must score each row.
    pub fn questions(&self) -> u64 {
        self.asked.iter().flatten().map(|word| u64::from(word.count_ones())).sum()
    }
}
