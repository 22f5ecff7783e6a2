//! From candidates to the rule list: tries each weighting of the aims and chooses the best.

use rayon::prelude::*;
use sogar::error::Result;
use sogar::pipeline::Prepared;
use sogar_solver::stop::{Stop, StopReason};

use super::candidates::Scoring;
use super::default_rule::{Best, DefaultRules, Tried};
use super::greedy::{Aims, Choice, Pick};
use super::itemsets::cover;

/// Weights of incorrectness and of cost to try, in all combinations. Coverage has weight 1.
const GRID: [f64; 5] = [0.01, 0.1, 1.0, 10.0, 100.0];

/// The weightings among which the best on the affected rows is chosen.
pub(super) fn grid() -> Vec<Aims> {
    let pair = |incorrectness| GRID.map(|cost| Aims { incorrectness, coverage: 1.0, cost });
    GRID.into_iter().flat_map(pair).collect()
}

/// A rule of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chosen {
    /// The frequent set of its condition.
    pub set: u32,
    /// Its proposal.
    pub action: u32,
    /// Affected people who meet the condition.
    pub covers: u32,
    /// Of the people whom no rule with a larger coverage covers: their number, …
    pub people: u64,
    /// … how many of them it flips, …
    pub flipped: u64,
    /// … and the sum of their costs.
    pub cost: u64,
}

/// A rule list with its default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RuleList {
    /// The rules in the order in which they were chosen.
    pub rules: Vec<Chosen>,
    /// The rule for everyone else.
    pub default: Option<Best>,
}

/// The rule list of the best weighting, and why the search for it ended early, if it did.
pub(super) fn best_list(
    prepared: &Prepared,
    choice: &Choice<'_>,
    scoring: &Scoring<'_>,
    defaults: &DefaultRules<'_>,
    (weightings, rules): (&[Aims], usize),
    stop: &Stop,
) -> Result<(RuleList, Option<StopReason>)> {
    let lists: Vec<Vec<Pick>> = weightings.par_iter().map(|aims| choice.greedy(aims, rules, stop)).collect();
    let people = prepared.problem_rows().len();
    let ruled: Vec<(Vec<Chosen>, Vec<u64>)> =
        lists.iter().map(|picks| assigned(picks, choice, scoring, people)).collect();
    let mut groups: Vec<Vec<u64>> = Vec::new();
    let group_of: Vec<usize> = ruled
        .iter()
        .map(|(_, left)| {
            groups.iter().position(|group| group == left).unwrap_or_else(|| {
                groups.push(left.clone());
                groups.len() - 1
            })
        })
        .collect();
    let tried = defaults.try_on(prepared, scoring.costs, &groups, stop)?;
    let mut best: Option<(u64, RuleList)> = None;
    for ((aims, (rules, _)), &group) in weightings.iter().zip(ruled).zip(&group_of) {
        let list = RuleList { rules, default: defaults.best(&tried, group, aims, choice.unit) };
        let invalidity = invalidity(&list, people as u64, choice.unit);
        if best.as_ref().is_none_or(|(least, _)| invalidity < *least) {
            best = Some((invalidity, list));
        }
    }
    let list = best.map_or_else(|| RuleList { rules: Vec::new(), default: None }, |(_, list)| list);
    let Tried { stopped, .. } = tried;
    Ok((list, stopped.or_else(|| stop.check().err())))
}

/// Gives everyone the covering rule that covers most people, the one chosen first on ties; and who is left.
fn assigned(
    picks: &[Pick],
    choice: &Choice<'_>,
    scoring: &Scoring<'_>,
    people: usize,
) -> (Vec<Chosen>, Vec<u64>) {
    let mut chosen: Vec<Chosen> = picks
        .iter()
        .map(|pick| {
            let condition = &choice.candidates.conditions[pick.condition];
            let action = choice.candidates.list[pick.candidate].action;
            Chosen { set: condition.set, action, covers: condition.people, people: 0, flipped: 0, cost: 0 }
        })
        .collect();
    let mut left = sogar_solver::RowSet::full(people).words().to_vec();
    let mut rows = Vec::new();
    for place in precedence(chosen.iter().map(|rule| rule.covers)) {
        let rule = &mut chosen[place];
        cover(choice.met, choice.itemsets.get(rule.set as usize), &mut rows);
        for (rows, left) in rows.iter_mut().zip(&mut left) {
            *rows &= *left;
            *left &= !*rows;
        }
        rule.people = rows.iter().map(|word| u64::from(word.count_ones())).sum();
        (rule.cost, rule.flipped) = scoring.outcome(rule.action, &rows);
    }
    (chosen, left)
}

/// The order in which rules are tried for a person: larger coverage first, then as chosen.
pub(super) fn precedence(covers: impl Iterator<Item = u32>) -> Vec<usize> {
    let covers: Vec<u32> = covers.collect();
    let mut order: Vec<usize> = (0..covers.len()).collect();
    order.sort_by_key(|&rule| std::cmp::Reverse(covers[rule])); // stable
    order
}

/// Sum of costs and losses over all affected people, in units of cost. A person without a proposal is a loss.
fn invalidity(list: &RuleList, people: u64, unit: u64) -> u64 {
    let rules = list.rules.iter().map(|rule| (rule.cost, rule.flipped));
    let default = list.default.iter().map(|best| (best.cost, best.people - best.failed));
    let (cost, flipped) = rules
        .chain(default)
        .fold((0, 0), |(cost, flipped), (own_cost, own_flipped)| (cost + own_cost, flipped + own_flipped));
    cost + unit * (people - flipped)
}
