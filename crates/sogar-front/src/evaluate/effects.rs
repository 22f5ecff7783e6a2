//! What the actions of a front do to held-out people: the cost for each, and whether it works.
//!
//! A sum of trees gives the outcomes of all sets of some edits for the price of a few scorings ([`sogar_prepare::outcomes`]). A
//! front uses few of a problem's edits, so all sets of these are few enough. Any other model scores the edited rows.

use std::collections::BTreeMap;

use sogar_base::error::Result;
use sogar_prepare::actions::{Edit, all_actions, count_actions};
use sogar_prepare::cost::edit_costs;
use sogar_prepare::model::Rows;
use sogar_prepare::outcomes::blocks::in_blocks;
use sogar_prepare::outcomes::{OutcomeQuery, Watch, outcomes};
use sogar_prepare::prepared::Prepared;
use sogar_prepare::require::OtherModel;
use sogar_solver::{Actions, BitTable, CancelToken, Stop};

use super::HeldOut;

/// More sets of edits than this per action of the front are not worth their price.
const MOST_SETS: u128 = 64;
/// Rows whose outcomes of all sets are in memory at a time, a multiple of 64.
const ROWS_AT_ONCE: usize = 4096;

impl HeldOut {
    /// Cost in units and outcome of every action on every affected row.
    pub fn apply(&self, prepared: &Prepared, actions: &[Vec<Edit>]) -> Result<Vec<Vec<(u64, bool)>>> {
        if self.affected.is_empty() {
            return Ok(vec![Vec::new(); actions.len()]);
        }
        let (edits, lists) = distinct_edits(actions);
        let costs = edit_costs(prepared.cost(), &edits, &self.table, &self.affected)?;
        let none = Actions::default();
        let query = prepared.outcome_query(&self.affected, &none);
        let flips = match self.native_flips(query, &edits, &lists)? {
            Some(flips) => flips,
            None => self.scored_flips(prepared, actions)?,
        };
        let combine = prepared.cost().combine();
        let of_action = |(list, flips): (&Vec<u32>, Vec<bool>)| {
            let cost = |row: usize| combine.of(list.iter().map(|&edit| u64::from(costs[edit as usize][row])));
            flips.into_iter().enumerate().map(|(row, flipped)| (cost(row), flipped)).collect()
        };
        Ok(lists.iter().zip(flips).map(of_action).collect())
    }

    /// Whether another model accepts every affected row after every action.
    pub(super) fn accepted(
        &self,
        prepared: &Prepared,
        other: &OtherModel,
        actions: &[Vec<Edit>],
    ) -> Result<Vec<Vec<bool>>> {
        let (edits, lists) = distinct_edits(actions);
        let none = Actions::default();
        let query = OutcomeQuery {
            predictor: &*other.predictor,
            encoder: &other.encoder,
            rules: &[],
            required: None,
            ..prepared.outcome_query(&self.affected, &none)
        };
        if let Some(found) = self.native_flips(query, &edits, &lists)? {
            return Ok(found);
        }
        let of_action = |edits: &Vec<Edit>| {
            let edited = self.affected.iter().map(|&row| {
                let mut after = self.table.row(row);
                edits.iter().for_each(|edit| edit.apply(&mut after));
                after
            });
            other.accepts(&prepared.classes().desired, &edited.collect::<Vec<_>>())
        };
        actions.iter().map(of_action).collect()
    }

    /// Whom each action flips, from the model's trees; `None` if it has none, or if scoring is cheaper.
    fn native_flips(
        &self,
        query: OutcomeQuery<'_>,
        edits: &[Edit],
        lists: &[Vec<u32>],
    ) -> Result<Option<Vec<Vec<bool>>>> {
        let most = lists.iter().map(Vec::len).max().unwrap_or(0) as u32;
        if query.predictor.tree_ensemble().is_none()
            || count_actions(edits, most) > MOST_SETS * lists.len() as u128
        {
            return Ok(None);
        }
        let all = all_actions(edits, most);
        let position: BTreeMap<&[u32], u32> = all.iter().zip(0..).collect();
        let Some(wanted) = lists.iter().map(|list| position.get(list.as_slice()).copied()).collect() else {
            return Ok(None);
        };
        let wanted: Vec<u32> = wanted;
        let query = OutcomeQuery { table: &self.table, edits, actions: &all, ..query };
        let stop = Stop { deadline: None, cancel: CancelToken::new() };
        let watch = Watch { progress: &|_, _| (), stop: &stop };
        let table = BitTable::new(wanted.len(), self.affected.len());
        let find = |_: usize, query: OutcomeQuery<'_>, watch: &Watch<'_>| outcomes(query, watch);
        let found = in_blocks(query, ROWS_AT_ONCE, &watch, table, Some(&wanted), find)?;
        let flags = |flips: &BitTable, action: usize| {
            (0..self.affected.len()).map(|row| flips.contains(action, row)).collect()
        };
        Ok(found.map(|found| (0..lists.len()).map(|action| flags(&found.flips, action)).collect()))
    }

    /// Whom each action flips. The model gets as many rows per call as it prefers.
    fn scored_flips(&self, prepared: &Prepared, actions: &[Vec<Edit>]) -> Result<Vec<Vec<bool>>> {
        let batch = prepared.model().predictor.batching().rows;
        let mut found = Vec::with_capacity(actions.len() * self.affected.len());
        // Whether a flip of a row in the block would count.
        let mut open: Vec<bool> = Vec::new();
        let mut block = Vec::new();
        let (mut own, mut edited) = (Vec::new(), Vec::new());
        for edits in actions {
            for &row in &self.affected {
                let before = self.table.row(row);
                let mut after = before.clone();
                edits.iter().for_each(|edit| edit.apply(&mut after));
                let broken = prepared.rules().iter().any(|rule| rule.broken_by(&before, &after));
                open.push(!edits.is_empty() && !broken);
                prepared.encoder().encode_row(&after, &mut block);
                if prepared.requirements().is_some() {
                    own.push(before);
                    edited.push(after);
                }
            }
            if open.len() >= batch {
                settle(prepared, &mut open, &mut block, (&mut own, &mut edited), &mut found)?;
            }
        }
        settle(prepared, &mut open, &mut block, (&mut own, &mut edited), &mut found)?;
        Ok(found.chunks(self.affected.len()).map(<[_]>::to_vec).collect())
    }
}

/// Scores the rows in a block and stores the outcomes.
fn settle(
    prepared: &Prepared,
    open: &mut Vec<bool>,
    block: &mut Vec<f64>,
    (own, edited): (&mut Vec<Vec<f64>>, &mut Vec<Vec<f64>>),
    found: &mut Vec<bool>,
) -> Result<()> {
    let rows = Rows { values: block, columns: prepared.encoder().columns.len() };
    let predictions = prepared.model().predictor.predict(rows)?;
    let holds = match prepared.requirements() {
        Some(required) => required.hold(own, edited)?,
        None => vec![true; predictions.len()],
    };
    let settled = open.drain(..).zip(&predictions).zip(holds);
    found.extend(
        settled.map(|((counts, label), holds)| counts && holds && prepared.classes().is_desired(label)),
    );
    block.clear();
    own.clear();
    edited.clear();
    Ok(())
}

/// The distinct edits of some actions in the order of their features, and each action as positions among them, ascending.
fn distinct_edits(actions: &[Vec<Edit>]) -> (Vec<Edit>, Vec<Vec<u32>>) {
    // Edits are looked up by their text, which is faster than comparing with all of them.
    let mut known: BTreeMap<(usize, String), &Edit> = BTreeMap::new();
    for edit in actions.iter().flatten() {
        known.entry((edit.feature, format!("{edit:?}"))).or_insert(edit);
    }
    let position: BTreeMap<&(usize, String), u32> = known.keys().zip(0..).collect();
    let lists = actions.iter().map(|edits| {
        let mut list: Vec<u32> = edits
            .iter()
            .filter_map(|edit| position.get(&(edit.feature, format!("{edit:?}"))).copied())
            .collect();
        list.sort_unstable();
        list
    });
    (known.values().map(|&edit| edit.clone()).collect(), lists.collect())
}
