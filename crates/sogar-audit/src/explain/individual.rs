//! Actions for one person: whether one works, and the cheapest of all that do.

use sogar_solver::{Actions, Stop};

use super::PersonQuery;
use sogar_base::error::{Error, ErrorKind, Result};
use sogar_prepare::actions::{Edit, all_actions};
use sogar_prepare::limits::{Size, memory_limit};
use sogar_prepare::outcomes::{OutcomeQuery, Outcomes, Watch, count_scorings, is_scored, outcomes};

/// Whether these edits together change the decision.
pub(super) fn works(asked: &PersonQuery<'_>, edits: &[Edit]) -> Result<bool> {
    if edits.is_empty() {
        return Ok(false);
    }
    // Outcomes are asked for all sets of some edits; the last is the one with every edit.
    let actions = all_actions(edits, edits.len() as u32);
    let last = actions.len() - 1;
    if actions.get(last).len() < edits.len() {
        return Err(Error::new(ErrorKind::ResultFile, "an action of this result moves a feature twice")
            .help("solve again: the result was made under earlier rules for links"));
    }
    Ok(flips(asked, edits, &actions)?.flips.contains(last, 0))
}

/// The cheapest action that changes the decision, and how many were tried. On ties it is the first in the order of actions: the
/// one with the fewest edits.
pub(super) fn cheapest(asked: &PersonQuery<'_>) -> Result<(Option<Vec<Edit>>, u64)> {
    let prepared = asked.prepared;
    let (edits, max_edits) = (&prepared.edits, prepared.limits.max_edits);
    let features = &prepared.table.features;
    let size = Size { rows: 1, edits, features, actions: prepared.action_count, max_edits };
    let outputs = prepared.model.predictor.tree_ensemble().map_or(1, |trees| trees.outputs);
    size.refuse_if_too_large(size.memory(1, outputs), memory_limit(&prepared.config.limits)?)?;
    let actions = all_actions(edits, max_edits);
    let query = outcome_query(asked, edits, &actions);
    if is_scored(query.predictor)
        && let Some(scorings) = count_scorings(&query, &Stop::default())
    {
        size.refuse_if_too_many(scorings, prepared.config.limits.max_scorings)?;
    }
    let found = flips(asked, edits, &actions)?;
    let row = &asked.person.values;
    let costs: Vec<u64> =
        edits.iter().map(|edit| prepared.cost.edit_cost(edit, row).map(u64::from)).collect::<Result<_>>()?;
    let cost = |action: usize| {
        prepared.cost.combine().of(actions.get(action).iter().map(|&edit| costs[edit as usize]))
    };
    let best = (1..actions.len())
        .filter(|&action| found.flips.contains(action, 0))
        .min_by_key(|&action| cost(action));
    let chosen =
        best.map(|action| actions.get(action).iter().map(|&edit| edits[edit as usize].clone()).collect());
    Ok((chosen, actions.len() as u64 - 1))
}

fn outcome_query<'a>(
    asked: &'a PersonQuery<'_>,
    edits: &'a [Edit],
    actions: &'a Actions,
) -> OutcomeQuery<'a> {
    let prepared = asked.prepared;
    OutcomeQuery {
        predictor: &*prepared.model.predictor,
        encoder: &prepared.encoder,
        desired: &prepared.classes.desired,
        table: asked.one,
        rows: &[0],
        edits,
        actions,
        rules: &prepared.rules,
    }
}

fn flips(asked: &PersonQuery<'_>, edits: &[Edit], actions: &Actions) -> Result<Outcomes> {
    let watch = Watch { progress: &|_, _| {}, stop: &Stop::default() };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(asked.prepared.threads()).build();
    let pool =
        pool.map_err(|cause| Error::new(ErrorKind::Usage, format!("threads could not be started: {cause}")))?;
    let found = pool.install(|| outcomes(outcome_query(asked, edits, actions), &watch))?;
    found.ok_or_else(|| Error::new(ErrorKind::Usage, "the outcomes were not computed to their end"))
}
