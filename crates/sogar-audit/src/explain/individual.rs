//! Actions for single people: whether one works, and the cheapest ones that do.

use sogar_solver::{Actions, Stop};

use super::PersonQuery;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_prepare::actions::{Edit, all_actions};
use sogar_prepare::limits::{Size, memory_limit};
use sogar_prepare::outcomes::{OutcomeQuery, Outcomes, Watch, count_scorings, is_scored, outcomes};
use sogar_prepare::prepared::Prepared;
use sogar_table::feature::FeatureTable;

/// Whether these edits together change the decision.
pub(super) fn works(asked: &PersonQuery<'_>, edits: &[Edit]) -> Result<bool> {
    if edits.is_empty() {
        return Ok(false);
    }
    // Outcomes cover all sets of some edits; the last is the one with every edit.
    let actions = all_actions(edits, edits.len() as u32);
    let last = actions.len() - 1;
    if actions.get(last).len() < edits.len() {
        return Err(Error::new(ErrorKind::ResultFile, "an action of this result moves a feature twice")
            .help("solve again: the result was made under earlier rules for links"));
    }
    let query = outcome_query(asked.prepared, asked.one, &[0], edits, &actions);
    Ok(flips(query, asked.pool)?.flips.contains(last, 0))
}

/// For each of these features, how many of its allowed changes flip the person, and how many there are. Changes are counted by
/// the row that they lead to; one that changes nothing, or that breaks a rule, is not allowed.
pub(super) fn flips_alone(asked: &PersonQuery<'_>, features: &[usize]) -> Result<Vec<(usize, usize)>> {
    let before = &asked.person.values;
    let edits: Vec<Edit> =
        asked.prepared.edits().iter().filter(|edit| features.contains(&edit.feature)).cloned().collect();
    let actions = all_actions(&edits, 1);
    let query = outcome_query(asked.prepared, asked.one, &[0], &edits, &actions);
    let found = if edits.is_empty() { None } else { Some(flips(query, asked.pool)?) };
    let of_feature = |&feature: &usize| {
        let mut seen: Vec<Vec<u64>> = Vec::new();
        let mut flipping = 0;
        // The action with number 0 has no edit.
        for (number, edit) in edits.iter().enumerate().filter(|(_, edit)| edit.feature == feature) {
            let mut after = before.clone();
            edit.apply(&mut after);
            let bits: Vec<u64> = after.iter().map(|value| value.to_bits()).collect();
            let stays = bits.iter().zip(before).all(|(after, before)| *after == before.to_bits());
            let breaks = asked.prepared.rules().iter().any(|rule| rule.broken_by(before, &after));
            if stays || breaks || seen.contains(&bits) {
                continue;
            }
            seen.push(bits);
            flipping += usize::from(found.as_ref().is_some_and(|found| found.flips.contains(number + 1, 0)));
        }
        (flipping, seen.len())
    };
    Ok(features.iter().map(of_feature).collect())
}

/// The actions of a problem that change the answer for single people.
pub(super) struct Individual<'a> {
    prepared: &'a Prepared,
    pool: &'a rayon::ThreadPool,
    pub actions: Actions,
}

/// The actions that change one person's answer, the cheapest first.
pub(super) struct Flipping {
    /// `(cost in units, number of the action)`, ascending: of equal ones, the one with the fewest edits first.
    pub by_cost: Vec<(u64, usize)>,
}

/// People whose outcomes are computed together.
pub(super) const AT_ONCE: usize = 64;

impl<'a> Individual<'a> {
    /// All actions of the problem, unless their outcomes for some people at once need too much memory.
    pub fn new(prepared: &'a Prepared, pool: &'a rayon::ThreadPool) -> Result<Individual<'a>> {
        let (edits, max_edits) = (prepared.edits(), prepared.limits().max_edits);
        let features = &prepared.table().features;
        let size = Size { rows: AT_ONCE, edits, features, actions: prepared.action_count(), max_edits };
        let outputs = prepared.model().predictor.tree_ensemble().map_or(1, |trees| trees.outputs);
        size.refuse_if_too_large(size.memory(1, outputs), memory_limit(&prepared.config().limits)?)?;
        Ok(Individual { prepared, pool, actions: all_actions(edits, max_edits) })
    }

    /// How many actions are tried.
    pub fn tried(&self) -> u64 {
        self.actions.len() as u64 - 1
    }

    /// The edits of an action.
    pub fn edits(&self, action: usize) -> Vec<Edit> {
        self.actions.get(action).iter().map(|&edit| self.prepared.edits()[edit as usize].clone()).collect()
    }

    /// The actions that flip each of the people in a table, which has at most [`AT_ONCE`] rows, all turned down.
    pub fn flipping(&self, people: &FeatureTable) -> Result<Vec<Flipping>> {
        let prepared = self.prepared;
        let edits = prepared.edits();
        let rows: Vec<usize> = (0..people.rows).collect();
        let query = outcome_query(prepared, people, &rows, edits, &self.actions);
        if is_scored(query.predictor)
            && let Some(scorings) = count_scorings(&query, &Stop::default())
        {
            let features = &prepared.table().features;
            let max_edits = prepared.limits().max_edits;
            let size =
                Size { rows: people.rows, edits, features, actions: prepared.action_count(), max_edits };
            size.refuse_if_too_many(scorings, prepared.config().limits.max_scorings)?;
        }
        let found = flips(query, self.pool)?;
        let of_row = |&row: &usize| {
            let values = people.row(row);
            let costs: Vec<u64> = edits
                .iter()
                .map(|edit| prepared.cost().edit_cost(edit, &values).map(u64::from))
                .collect::<Result<_>>()?;
            let cost = |action: usize| {
                prepared.cost().combine().of(self
                    .actions
                    .get(action)
                    .iter()
                    .map(|&edit| costs[edit as usize]))
            };
            let mut by_cost: Vec<(u64, usize)> = (1..self.actions.len())
                .filter(|&action| found.flips.contains(action, row))
                .map(|action| (cost(action), action))
                .collect();
            by_cost.sort_unstable();
            Ok(Flipping { by_cost })
        };
        rows.iter().map(of_row).collect()
    }
}

fn outcome_query<'a>(
    prepared: &'a Prepared,
    table: &'a FeatureTable,
    rows: &'a [usize],
    edits: &'a [Edit],
    actions: &'a Actions,
) -> OutcomeQuery<'a> {
    OutcomeQuery {
        predictor: &*prepared.model().predictor,
        encoder: prepared.encoder(),
        desired: &prepared.classes().desired,
        table,
        rows,
        edits,
        actions,
        rules: prepared.rules(),
        required: prepared.requirements(),
    }
}

fn flips(query: OutcomeQuery<'_>, pool: &rayon::ThreadPool) -> Result<Outcomes> {
    let watch = Watch { progress: &|_, _| {}, stop: &Stop::default() };
    let found = pool.install(|| outcomes(query, &watch))?;
    found.ok_or_else(|| Error::new(ErrorKind::Usage, "the outcomes were not computed to their end"))
}
