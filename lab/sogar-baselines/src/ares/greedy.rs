//! The choice of rules: one after the other, each the best addition to the previous ones.
//!
//! A candidate adds `coverage × people newly covered − incorrectness × people failed − cost × mean cost`. Only the first term
//! depends on the earlier choices, and it is the same for all candidates with one condition; so each condition is represented by
//! the best of its candidates.

use sogar_solver::bits::BitTable;
use sogar_solver::stop::Stop;

use super::candidates::{Candidate, Candidates, Condition};
use super::itemsets::{Itemsets, cover};

/// The weights of the three aims of a rule list.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Aims {
    /// λ₁, per person covered and not flipped.
    pub incorrectness: f64,
    /// λ₂, per person covered.
    pub coverage: f64,
    /// λ₃, per unit of mean cost.
    pub cost: f64,
}

impl Aims {
    /// What a candidate subtracts from the objective, regardless of the other choices.
    pub fn price(&self, candidate: &Candidate, people: u32, unit: u64) -> f64 {
        let mean = candidate.cost as f64 / (unit as f64 * f64::from(people));
        self.incorrectness * f64::from(candidate.failed) + self.cost * mean
    }
}

/// A chosen candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Pick {
    /// Its condition's number.
    pub condition: usize,
    /// Its own number.
    pub candidate: usize,
}

/// Chooses among candidates.
pub(super) struct Choice<'a> {
    pub candidates: &'a Candidates,
    pub itemsets: &'a Itemsets,
    /// The affected rows that meet each item.
    pub met: &'a BitTable,
    /// Units in a cost of 1.
    pub unit: u64,
}

impl Choice<'_> {
    /// Exactly `rules` rules (or all candidates, if there are fewer), even if the objective falls; the first on ties. If stopped,
    /// those chosen so far, but at least one.
    pub fn greedy(&self, aims: &Aims, rules: usize, stop: &Stop) -> Vec<Pick> {
        let conditions = &self.candidates.conditions;
        let mut picks: Vec<Pick> = Vec::new();
        let mut best: Vec<Option<(f64, usize)>> =
            conditions.iter().map(|condition| self.best(aims, condition, &picks)).collect();
        let mut covered = vec![0u64; self.met.words_per_set()];
        let mut rows = Vec::new();
        for round in 0..rules {
            let mut leader: Option<(f64, Pick)> = None;
            for (number, condition) in conditions.iter().enumerate() {
                if round > 0 && number % 1024 == 0 && stop.check().is_err() {
                    return picks;
                }
                let Some((price, candidate)) = best[number] else { continue };
                let gain = |people: u32| aims.coverage * f64::from(people) - price;
                let ahead = |gain: f64| leader.is_none_or(|(most, _)| gain > most);
                // No condition gains more than by covering all of its people anew.
                if !ahead(gain(condition.people)) {
                    continue;
                }
                let newly = if round == 0 { condition.people } else { self.newly(condition, &covered) };
                if ahead(gain(newly)) {
                    leader = Some((gain(newly), Pick { condition: number, candidate }));
                }
            }
            let Some((_, pick)) = leader else { break };
            cover(self.met, self.itemsets.get(conditions[pick.condition].set as usize), &mut rows);
            for (covered, rows) in covered.iter_mut().zip(&rows) {
                *covered |= rows;
            }
            picks.push(pick);
            best[pick.condition] = self.best(aims, &conditions[pick.condition], &picks);
        }
        picks
    }

    /// The candidate of a condition with the lowest price that is not chosen yet, the first on ties.
    fn best(&self, aims: &Aims, condition: &Condition, picks: &[Pick]) -> Option<(f64, usize)> {
        let mut best: Option<(f64, usize)> = None;
        for number in condition.candidates.clone() {
            if picks.iter().any(|pick| pick.candidate == number) {
                continue;
            }
            let price = aims.price(&self.candidates.list[number], condition.people, self.unit);
            if best.is_none_or(|(least, _)| price < least) {
                best = Some((price, number));
            }
        }
        best
    }

    /// How many people a condition newly covers.
    fn newly(&self, condition: &Condition, covered: &[u64]) -> u32 {
        let items = self.itemsets.get(condition.set as usize);
        let word =
            |at: usize| items.iter().fold(!covered[at], |rows, &item| rows & self.met.set(item as usize)[at]);
        (0..covered.len()).map(|at| word(at).count_ones()).sum()
    }
}
