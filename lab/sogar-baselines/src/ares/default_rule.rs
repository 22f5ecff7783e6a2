//! The rule for everyone whom no other rule covers: move to the near ends of some intervals.
//!
//! Any frequent set of items can be the default; each item that does not hold yet and can be made to hold is one change. The
//! effect of a set on a person depends only on the items that need a change: without those that already hold it is a smaller
//! frequent set. So the model only scores sets all of whose items need a change, and the others follow.

use sogar::error::Result;
use sogar::feature::{FeatureTable, Kind};
use sogar::pipeline::Prepared;
use sogar_solver::Combine;
use sogar_solver::stop::{Stop, StopReason};

use super::flips::{Questions, ones};
use super::greedy::Aims;
use super::items::Items;
use super::itemsets::Itemsets;
use super::moves::Moves;

/// Outcomes of sets on people to hold at a time.
const AT_ONCE: usize = 1 << 21;

/// People to try at a time, so that some are finished when time is up.
const PEOPLE_AT_ONCE: usize = 512;

/// The set has no item left: nothing changes.
const NOTHING: u32 = u32::MAX;

/// Its own outcome, not that of a smaller set.
const ITSELF: u32 = u32::MAX - 1;

/// The sets that can be the default.
pub(super) struct DefaultRules<'a> {
    pub items: &'a Items,
    pub moves: &'a Moves,
    itemsets: &'a Itemsets,
    /// The sets, in order.
    sets: Vec<u32>,
    /// For each set and item, the position in `sets` of the set without that item.
    without: Vec<Vec<u32>>,
    /// Whether there are more than fit, so that the longest were left out.
    pub too_many: bool,
}

/// How the default rules do on several groups of uncovered people.
pub(super) struct Tried {
    /// For each group, the people tried so far.
    people: Vec<u64>,
    /// `failed[group][position of the set]`.
    failed: Vec<Vec<u32>>,
    cost: Vec<Vec<u64>>,
    pub stopped: Option<StopReason>,
}

/// The best default rule of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Best {
    /// The frequent set.
    pub set: u32,
    pub people: u64,
    pub failed: u64,
    pub cost: u64,
}

/// Items that the default may use: numbers, ordered levels and binary features that can change.
fn useful(items: &Items, moves: &Moves, table: &FeatureTable, item: u32) -> bool {
    let kind = &table.features[items.list[item as usize].feature].kind;
    !matches!(kind, Kind::Categorical { .. }) && moves.leads_to(item)
}

impl<'a> DefaultRules<'a> {
    /// The frequent sets that can be the default, at most `most` of them, short ones first.
    pub fn new(
        items: &'a Items,
        itemsets: &'a Itemsets,
        moves: &'a Moves,
        table: &FeatureTable,
        most: usize,
    ) -> DefaultRules<'a> {
        let useful: Vec<bool> =
            (0..items.list.len() as u32).map(|item| useful(items, moves, table, item)).collect();
        let able = |&set: &usize| itemsets.get(set).iter().all(|&item| useful[item as usize]);
        let mut sets: Vec<u32> =
            (0..itemsets.len()).filter(able).map(|set| set as u32).take(most.saturating_add(1)).collect();
        let too_many = sets.len() > most;
        sets.truncate(most);
        let position = |part: &[u32]| -> u32 {
            let set = itemsets.find(part).map(|set| set as u32);
            set.and_then(|set| sets.binary_search(&set).ok()).map_or(NOTHING, |position| position as u32)
        };
        let mut part = Vec::new();
        let without = sets.iter().map(|&set| {
            let list = itemsets.get(set as usize);
            let without = (0..list.len()).map(|left_out| {
                part.clear();
                part.extend(list.iter().enumerate().filter(|&(at, _)| at != left_out).map(|(_, &item)| item));
                position(&part)
            });
            without.collect()
        });
        let without = without.collect();
        DefaultRules { items, moves, itemsets, sets, without, too_many }
    }

    /// Tries every set on every group of affected people (as sets of rows).
    pub fn try_on(
        &self,
        prepared: &Prepared,
        costs: &[Vec<u32>],
        groups: &[Vec<u64>],
        stop: &Stop,
    ) -> Result<Tried> {
        let sets = self.sets.len();
        let mut tried = Tried {
            people: vec![0; groups.len()],
            failed: vec![vec![0; sets]; groups.len()],
            cost: vec![vec![0; sets]; groups.len()],
            stopped: None,
        };
        if sets == 0 || groups.is_empty() {
            return Ok(tried);
        }
        let words = groups[0].len();
        let anyone: Vec<u64> =
            (0..words).map(|word| groups.iter().fold(0, |any, group| any | group[word])).collect();
        let everyone: Vec<usize> = ones(&anyone).collect();
        let blocks = everyone.len().div_ceil((AT_ONCE / sets).clamp(1, PEOPLE_AT_ONCE));
        let combine = prepared.cost().combine();
        for block in 0..blocks {
            // Every block has people from all parts of the table, so that those tried before a deadline represent all.
            let rows: Vec<usize> = everyone.iter().copied().skip(block).step_by(blocks).collect();
            let Some(block) = self.block(prepared, costs, combine, &rows, stop)? else {
                tried.stopped = stop.check().err();
                break;
            };
            tried.add(&block, &rows, groups, sets);
        }
        Ok(tried)
    }

    /// All sets on some people; `None` if stopped.
    fn block(
        &self,
        prepared: &Prepared,
        costs: &[Vec<u32>],
        combine: Combine,
        rows: &[usize],
        stop: &Stop,
    ) -> Result<Option<Block>> {
        let sets = self.sets.len();
        let mut block = Block::new(rows.len() * sets);
        let mut questions = Questions::new(prepared);
        for (slot, &row) in rows.iter().enumerate() {
            let person = prepared.table().row(prepared.problem_rows()[row]);
            let towards: Vec<Option<u32>> = (0..self.items.list.len() as u32)
                .map(|item| {
                    self.moves.towards(item, self.items, person[self.items.list[item as usize].feature])
                })
                .collect();
            for (position, &set) in self.sets.iter().enumerate() {
                let at = slot * sets + position;
                let list = self.itemsets.get(set as usize);
                let edits = list.iter().map_while(|&item| towards[item as usize]);
                let done = edits.clone().count();
                if done < list.len() {
                    block.like[at] = self.without[position][done];
                    continue;
                }
                let cost = |edit: u32| u64::from(costs[edit as usize][row]);
                block.cost[at] = combine.of(edits.clone().map(cost));
                let to: Vec<(usize, f64)> = edits.map(|edit| self.moves.target(edit)).collect();
                questions.add(&person, &to, at);
                if questions.full() {
                    if stop.check().is_err() {
                        return Ok(None);
                    }
                    questions.answer(|&at| block.flipped[at] = true)?;
                }
            }
        }
        if stop.check().is_err() {
            return Ok(None);
        }
        questions.answer(|&at| block.flipped[at] = true)?;
        block.follow(sets);
        Ok(Some(block))
    }

    /// The set that does best on a group, the first on ties; `None` if nothing was tried.
    pub fn best(&self, tried: &Tried, group: usize, aims: &Aims, unit: u64) -> Option<Best> {
        let people = tried.people[group];
        if people == 0 {
            return None;
        }
        let mut best: Option<(f64, usize)> = None;
        for position in 0..self.sets.len() {
            let (failed, cost) = (tried.failed[group][position], tried.cost[group][position]);
            let mean = cost as f64 / (people as f64 * unit as f64);
            let price = aims.incorrectness * f64::from(failed) + aims.cost * mean;
            if best.is_none_or(|(least, _)| price < least) {
                best = Some((price, position));
            }
        }
        best.map(|(_, position)| Best {
            set: self.sets[position],
            people,
            failed: u64::from(tried.failed[group][position]),
            cost: tried.cost[group][position],
        })
    }
}

/// The outcomes of all sets on some people: `[person × sets + position of the set]`.
struct Block {
    flipped: Vec<bool>,
    cost: Vec<u64>,
    /// The smaller set with the same effect.
    like: Vec<u32>,
}

impl Block {
    fn new(size: usize) -> Block {
        Block { flipped: vec![false; size], cost: vec![0; size], like: vec![ITSELF; size] }
    }

    /// Copies the outcomes of smaller sets, which come before larger ones.
    fn follow(&mut self, sets: usize) {
        for at in 0..self.like.len() {
            if self.like[at] != ITSELF && self.like[at] != NOTHING {
                let same = at / sets * sets + self.like[at] as usize;
                self.flipped[at] = self.flipped[same];
                self.cost[at] = self.cost[same];
            }
        }
    }
}

impl Tried {
    fn add(&mut self, block: &Block, rows: &[usize], groups: &[Vec<u64>], sets: usize) {
        for (number, group) in groups.iter().enumerate() {
            for (slot, &row) in rows.iter().enumerate() {
                if group[row / 64] >> (row % 64) & 1 == 0 {
                    continue;
                }
                self.people[number] += 1;
                let own = slot * sets..(slot + 1) * sets;
                for (failed, flipped) in self.failed[number].iter_mut().zip(&block.flipped[own.clone()]) {
                    *failed += u32::from(!flipped);
                }
                for (sum, cost) in self.cost[number].iter_mut().zip(&block.cost[own]) {
                    *sum += cost;
                }
            }
        }
    }
}
