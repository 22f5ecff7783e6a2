//! AReS (Rawal and Lakkaraju, 2020), in the variant of the authors of CET: eight rules "if … then change …", and a default rule
//! for everyone else.
//!
//! Features are cut into items ([`items`]). Sets of items that many rows meet ([`itemsets`]) are the conditions of rules and
//! their targets ([`moves`], [`changes`]). Every candidate rule is scored by whom it covers, whom it fails and what it costs
//! ([`flips`], [`candidates`]). Rules are chosen greedily ([`greedy`]), and a default rule is found for the people who are left
//! ([`default_rule`]). The weights of the three aims are tuned on the affected rows ([`tuning`]), as its authors do. Nothing here
//! is random.
//!
//! A person gets the covering rule that covers most people. Every proposal obeys the configuration: rules that need a forbidden
//! change do not exist, and the default leaves out what a person may not change.

mod candidates;
mod changes;
mod default_rule;
mod flips;
mod greedy;
mod items;
mod itemsets;
mod moves;
#[cfg(test)]
mod tests;
mod tuning;
mod words;

use std::time::Instant;

use sogar::cost::edit_costs;
use sogar::error::{Error, ErrorKind, Result};
use sogar::feature::FeatureTable;
use sogar::limits::memory_limit;
use sogar::pipeline::Prepared;
use sogar_solver::stop::{Stop, StopReason};

use crate::constraints::Constraints;
use crate::contract::{Assigned, Baseline, Description, FitStatus, Fitted, Group};
use crate::reach::Reach;
use candidates::{Candidate, Candidates, Scoring};
use changes::Changes;
use default_rule::DefaultRules;
use greedy::{Aims, Choice};
use items::{Item, Items};
use itemsets::{Incomplete, Itemsets};
use moves::Moves;
use tuning::{RuleList, best_list, grid, precedence};

/// Largest number of features in a condition: the longest sets of items.
const MOST_CONDITIONS: usize = 4;

/// Largest number of features that a rule changes.
const MOST_CHANGES: usize = 3;

/// Limit of frequent sets: 64 MB.
const MOST_ITEMSETS: usize = 4_000_000;

/// Limit of sets tried as the default; each has a number for every weighting and uncovered person.
const MOST_DEFAULTS: usize = 250_000;

/// Shares of the remaining time for the stages before the choice of rules, so that each gets some: frequent sets, ways between
/// them, flips, scores.
const SHARES: [f64; 4] = [0.5, 0.5, 0.7, 0.5];

/// The method's settings; the default is the authors'.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ares {
    /// Number of rules besides the default one.
    pub rules: usize,
    /// Smallest share of the reference table that meets a rule's condition, and its target.
    pub support: f64,
    /// Largest number of features in a rule's condition, 1 to 4.
    pub conditions: usize,
    /// Largest number of features that a rule changes, 1 to 3.
    pub changes: usize,
    /// Numbers are cut at `bins + 2` equispaced percentiles, without the outermost ones.
    pub bins: usize,
    /// The weights of the aims of a rule list.
    pub weights: ObjectiveWeights,
}

/// The weights of the aims of a rule list: few failures, many people covered, low cost.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum ObjectiveWeights {
    /// The weights of a grid with the lowest cost plus loss on the affected rows; coverage has weight 1.
    Tuned,
    /// Given weights.
    Fixed {
        /// λ₁: for every person who is covered and keeps the undesired outcome.
        incorrectness: f64,
        /// λ₂: for every person who is covered.
        coverage: f64,
        /// λ₃: for the mean cost of a rule.
        cost: f64,
    },
}

impl Default for Ares {
    fn default() -> Self {
        Ares {
            rules: 8,
            support: 0.05,
            conditions: 4,
            changes: 3,
            bins: 10,
            weights: ObjectiveWeights::Tuned,
        }
    }
}

impl Ares {
    fn check(&self) -> Result<()> {
        let wrong = |message: String, help: &str| {
            Err(Error::new(ErrorKind::Usage, format!("AReS: {message}")).help(help))
        };
        if !(self.support > 0.0 && self.support <= 1.0) {
            let message = format!("support is {}, which is not a share of rows above 0", self.support);
            return wrong(message, "give a number in (0, 1], such as 0.05");
        }
        if !(1..=MOST_CONDITIONS).contains(&self.conditions) {
            let message = format!("a rule can't have {} conditions", self.conditions);
            return wrong(message, "give 1 to 4 conditions");
        }
        if !(1..=MOST_CHANGES).contains(&self.changes) {
            return wrong(format!("a rule can't have {} changes", self.changes), "give 1 to 3 changes");
        }
        if self.rules == 0 || !(1..=1000).contains(&self.bins) {
            let message = format!("{} rules with {} bins make no rule list", self.rules, self.bins);
            return wrong(message, "give at least 1 rule, and 1 to 1000 bins");
        }
        if let ObjectiveWeights::Fixed { incorrectness, coverage, cost } = self.weights
            && ![incorrectness, coverage, cost].iter().all(|weight| weight.is_finite() && *weight >= 0.0)
        {
            let message = format!("the weights {incorrectness}, {coverage}, {cost} make no sense");
            return wrong(message, "give three finite numbers of at least 0, such as 10, 1, 10");
        }
        Ok(())
    }

    /// Smallest number of rows of a frequent set; a product such as 0.07 × 100 must not round above 7.
    fn least_rows(&self, rows: usize) -> usize {
        ((self.support * rows as f64 - 1e-9).ceil() as usize).max(1)
    }

    fn weightings(&self) -> Vec<Aims> {
        match self.weights {
            ObjectiveWeights::Tuned => grid(),
            ObjectiveWeights::Fixed { incorrectness, coverage, cost } => {
                vec![Aims { incorrectness, coverage, cost }]
            }
        }
    }
}

impl Baseline for Ares {
    fn name(&self) -> String {
        match self.weights {
            ObjectiveWeights::Tuned => "AReS".to_owned(),
            ObjectiveWeights::Fixed { incorrectness, coverage, cost } => {
                format!("AReS ({incorrectness}, {coverage}, {cost})")
            }
        }
    }

    fn fit(&self, prepared: &Prepared, _seed: u64, stop: &Stop) -> Result<Box<dyn Fitted>> {
        self.check()?;
        let table = prepared.table();
        let mut limits = Limits::default();
        let [for_sets, for_ways, for_flips, for_scores] = SHARES;

        let least = self.least_rows(table.rows);
        let items = Items::frequent(table, self.bins, least);
        let everywhere = items.met_by(table, 0..table.rows);
        let (itemsets, incomplete) = Itemsets::frequent(
            &items,
            &everywhere,
            least,
            self.conditions,
            MOST_ITEMSETS,
            &part_of(stop, for_sets),
        );
        drop(everywhere);
        limits.sets(incomplete);

        let moves = Moves::new(&items, table, &Constraints::new(prepared));
        let costs = edit_costs(prepared.cost(), &moves.edits, table, prepared.problem_rows())?;
        let met = items.met_by(table, prepared.problem_rows().iter().copied());
        // A quarter of the memory is for actions, and a quarter for candidates.
        let room = memory_limit(&prepared.config().limits)? / 4;
        let most_actions = room / (2 * 8 * met.words_per_set() as u64 + 64);
        let most_candidates = room / size_of::<Candidate>() as u64;

        let in_time = part_of(stop, for_ways);
        let changes =
            Changes::new(&items, &itemsets, &moves, &met, self.changes, most_actions as usize, &in_time);
        limits.sets(changes.incomplete);
        let flips = flips::flips(prepared, &moves, &changes, &part_of(stop, for_flips))?;
        limits.stopped(flips.stopped);
        let scoring = Scoring {
            itemsets: &itemsets,
            changes: &changes,
            flips: &flips,
            met: &met,
            costs: &costs,
            combine: prepared.cost().combine(),
        };
        let candidates = Candidates::all(&scoring, most_candidates as usize, &part_of(stop, for_scores));
        limits.stopped(candidates.stopped);

        let defaults = DefaultRules::new(&items, &itemsets, &moves, table, MOST_DEFAULTS);
        limits.memory |= candidates.too_many || defaults.too_many;
        let unit = prepared.cost().unit();
        let choice = Choice { candidates: &candidates, itemsets: &itemsets, met: &met, unit };
        let wanted = (&self.weightings()[..], self.rules);
        let (list, stopped) = best_list(prepared, &choice, &scoring, &defaults, wanted, stop)?;
        limits.stopped(stopped);
        let status = limits.status(&list, &items);
        Ok(Box::new(FittedAres::new(&list, &itemsets, &changes, (items, moves), table, status)))
    }
}

/// A stop after a part of the remaining time.
fn part_of(stop: &Stop, share: f64) -> Stop {
    let now = Instant::now();
    let part = |deadline: Instant| now + deadline.saturating_duration_since(now).mul_f64(share);
    Stop { deadline: stop.deadline.map(part), cancel: stop.cancel.clone() }
}

/// What kept the method from completing.
#[derive(Default)]
struct Limits {
    stopped: Option<StopReason>,
    memory: bool,
}

impl Limits {
    fn sets(&mut self, incomplete: Option<Incomplete>) {
        match incomplete {
            Some(Incomplete::Stopped(reason)) => self.stopped(Some(reason)),
            Some(Incomplete::TooMany) => self.memory = true,
            None => {}
        }
    }

    fn stopped(&mut self, reason: Option<StopReason>) {
        self.stopped = self.stopped.or(reason);
    }

    fn status(&self, list: &RuleList, items: &Items) -> FitStatus {
        match self.stopped {
            Some(reason) => reason.into(),
            None if list.rules.is_empty() && list.default.is_none() => {
                let reason = if items.list.is_empty() {
                    "no condition is met by enough rows"
                } else {
                    "no allowed change leads from one frequent condition to another"
                };
                FitStatus::NoResult { reason: reason.to_owned() }
            }
            None if self.memory => FitStatus::MemoryLimit,
            None => FitStatus::Complete,
        }
    }
}

/// A rule to apply.
struct Rule {
    condition: Vec<Item>,
    /// New values by feature.
    to: Vec<(usize, f64)>,
    told: Group,
}

struct FittedAres {
    /// In the order in which they are tried for a person.
    rules: Vec<Rule>,
    default: Option<DefaultRule>,
    items: Items,
    moves: Moves,
    status: FitStatus,
}

struct DefaultRule {
    items: Vec<u32>,
    told: Group,
}

impl FittedAres {
    fn new(
        list: &RuleList,
        itemsets: &Itemsets,
        changes: &Changes,
        (items, moves): (Items, Moves),
        reference: &FeatureTable,
        status: FitStatus,
    ) -> FittedAres {
        let (features, reach) = (&reference.features, Reach::new(reference));
        let rules = precedence(list.rules.iter().map(|rule| rule.covers)).into_iter().map(|place| {
            let rule = &list.rules[place];
            let condition: Vec<Item> =
                itemsets.get(rule.set as usize).iter().map(|&item| items.list[item as usize]).collect();
            let edits = changes.actions.get(rule.action as usize);
            let to: Vec<(usize, f64)> = edits.iter().map(|&edit| moves.target(edit)).collect();
            let words = edits.iter().zip(&to);
            let told = Group {
                conditions: condition.iter().map(|item| words::condition(item, &reach, features)).collect(),
                edits: words
                    .map(|(&edit, &(_, to))| words::change(&moves.edits[edit as usize], to, features))
                    .collect(),
                rows: rule.people as usize,
                flipped: rule.flipped as usize,
            };
            Rule { condition, to, told }
        });
        let rules = rules.collect();
        let default = list.default.map(|best| {
            let set = itemsets.get(best.set as usize).to_vec();
            let told = Group {
                conditions: Vec::new(),
                edits: set
                    .iter()
                    .map(|&item| words::aim(&items.list[item as usize], &reach, features))
                    .collect(),
                rows: best.people as usize,
                flipped: (best.people - best.failed) as usize,
            };
            DefaultRule { items: set, told }
        });
        FittedAres { rules, default, items, moves, status }
    }

    fn choose(&self, row: &[f64]) -> Assigned {
        let covers = |rule: &Rule| rule.condition.iter().all(|item| item.holds(row[item.feature]));
        let (part, to) = match (self.rules.iter().position(covers), &self.default) {
            (Some(part), _) => (part, self.rules[part].to.clone()),
            (None, Some(default)) => (self.rules.len(), self.towards(default, row)),
            (None, None) => return Assigned::nothing(),
        };
        Assigned { to, part: Some(part as u32), covered: true }
    }

    fn towards(&self, default: &DefaultRule, row: &[f64]) -> Vec<(usize, f64)> {
        let value = |item: u32| row[self.items.list[item as usize].feature];
        let edits =
            default.items.iter().filter_map(|&item| self.moves.towards(item, &self.items, value(item)));
        edits.map(|edit| self.moves.target(edit)).collect()
    }
}

impl Fitted for FittedAres {
    fn assign(&self, _: &Prepared, table: &FeatureTable, rows: &[usize]) -> Result<Vec<Assigned>> {
        Ok(rows.iter().map(|&row| self.choose(&table.row(row))).collect())
    }

    fn describe(&self) -> Description {
        Description::RuleList {
            rules: self.rules.iter().map(|rule| rule.told.clone()).collect(),
            default: self.default.as_ref().map(|default| default.told.clone()),
        }
    }

    fn status(&self) -> FitStatus {
        self.status.clone()
    }
}
