//! Checks the splits and actions in use: are they among those that the configuration allows, and what do the actions do? The
//! verifier prices every edited row itself ([`Prices`]), and the model itself scores every edited row.

use rayon::prelude::*;

use super::numbering::{Numbering, rivals};
use super::plausible::Usual;
use super::pricing::Prices;
use super::{Verdict, defect};
use sogar_base::error::Result;
use sogar_front::summary::{ActionRef, FrontFile, Node, SplitRef};
use sogar_prepare::actions::{Edit, action_text};
use sogar_prepare::model::Rows;
use sogar_prepare::prepared::Prepared;
use sogar_table::binarize::Split;
use sogar_table::config::Agree;
use sogar_table::feature::FeatureTable;

/// Rows per call of the model.
const BATCH: usize = 4096;

/// An action in use, with its effect on every affected row.
pub(super) struct Action {
    /// Its edits.
    pub edits: Vec<Edit>,
    /// Its cost on every affected row, in units.
    pub costs: Vec<u64>,
    /// Which affected rows it flips.
    pub flips: Vec<bool>,
}

/// The splits in use: tests that the configuration allows, each listed once and used by some tree. Reports texts that differ from
/// the tests in `texts`.
pub(super) fn splits(
    front: &FrontFile,
    prepared: &Prepared,
    texts: &mut Vec<String>,
) -> Verdict<(Vec<Split>, String)> {
    let features = &prepared.table().features;
    let known: Vec<(SplitRef, Split)> =
        prepared.splits().iter().map(|split| (SplitRef::new(split, features), *split)).collect();
    let mut found = Vec::with_capacity(front.splits.len());
    for (number, split) in front.splits.iter().enumerate() {
        let asked = split.split(features)?;
        let Some((description, known)) = known.iter().find(|(_, known)| *known == asked) else {
            let question = asked.text(features);
            return defect(format!("split {number}, `{question}`, is none that the configuration gives"));
        };
        if split.text != description.text {
            texts.push(format!("split {number} says `{}`, but asks `{}`", split.text, description.text));
        }
        if (&split.feature, &split.test, &split.value)
            != (&description.feature, &description.test, &description.value)
        {
            return defect(format!("split {number} is not written as a result has `{}`", description.text));
        }
        if found.contains(known) {
            return defect(format!("split {number}, `{}`, is listed twice", split.text));
        }
        found.push(*known);
    }
    let mut used = vec![false; front.splits.len()];
    trees(front).for_each(|tree| mark_splits(tree, &mut used));
    if let Some(idle) = used.iter().position(|used| !used) {
        return defect(format!("split {idle}, `{}`, is used by no tree", front.splits[idle].text));
    }
    let text = format!("all {} in use are among the configuration's", found.len());
    Ok((found, text))
}

/// The trees of all points, and those of the sample's own front.
fn trees(front: &FrontFile) -> impl Iterator<Item = &Node> {
    let sample = front.sample.iter().flat_map(|sample| &sample.front);
    front.points.iter().chain(sample).map(|point| &point.tree)
}

fn mark_splits(node: &Node, used: &mut [bool]) {
    if let Node::Split { split, left, right } = node {
        used[*split] = true;
        mark_splits(left, used);
        mark_splits(right, used);
    }
}

fn mark_actions(node: &Node, used: &mut [bool]) {
    match node {
        Node::Leaf { action, .. } => used[*action] = true,
        Node::Split { left, right, .. } => {
            mark_actions(left, used);
            mark_actions(right, used);
        }
    }
}

/// The actions in use: admissible, under their own number, used by some tree, and flipping the recorded people.
pub(super) fn actions(
    front: &FrontFile,
    prepared: &Prepared,
    (prices, usual): (&Prices<'_>, Option<&Usual<'_>>),
    texts: &mut Vec<String>,
) -> Verdict<(Vec<Action>, String)> {
    let mut used = vec![false; front.actions.len()];
    trees(front).for_each(|tree| mark_actions(tree, &mut used));
    let mut numbering = Numbering::new(prepared.edits());
    let mut edits: Vec<Vec<u32>> = Vec::with_capacity(front.actions.len());
    for (position, action) in front.actions.iter().enumerate() {
        let own = admitted_edits(action, prepared, texts)?;
        let number = numbering.of(&own);
        if u128::from(action.id) != number {
            return defect(format!(
                "action {}, `{}`, has the number {number} among all actions",
                action.id, action.text
            ));
        }
        if edits.contains(&own) {
            return defect(format!("action {} is listed twice", action.id));
        }
        if !used[position] {
            return defect(format!("action {}, `{}`, is used by no tree", action.id, action.text));
        }
        edits.push(own);
    }
    let rows = prepared.affected().len();
    let lists: Vec<Vec<Edit>> = edits
        .iter()
        .map(|own| own.iter().map(|&edit| prepared.edits()[edit as usize].clone()).collect())
        .collect();
    let flips = flips(prepared, usual, prepared.table(), &lists, prepared.affected())?;
    let costs: Vec<Vec<u64>> = lists
        .par_iter()
        .map(|edits| {
            let people = prepared.affected().iter().map(|&row| prepared.table().row(row));
            people.map(|person| prices.price(&person, edits)).collect::<Verdict<_>>()
        })
        .collect::<Verdict<_>>()?;
    let actions: Vec<Action> = lists
        .into_iter()
        .zip(costs)
        .zip(flips)
        .map(|((edits, costs), flips)| Action { edits, costs, flips })
        .collect();
    for (action, said) in actions.iter().zip(&front.actions) {
        let Some(said_flips) = said.flips.flags(rows) else {
            return defect(format!("the flips of action {} are not a set of the affected rows", said.id));
        };
        let differing: Vec<usize> = (0..rows).filter(|&row| action.flips[row] != said_flips[row]).collect();
        if let Some(&first) = differing.first() {
            let (model, file) =
                if action.flips[first] { ("flips", "does not") } else { ("does not flip", "does") };
            return defect(format!(
                "action {}, `{}`: its flips are wrong on {} affected rows; by the model it {model} data row {}, by the file it {file}",
                said.id,
                said.text,
                differing.len(),
                prepared.affected()[first] + 1
            ));
        }
    }
    let text = format!(
        "all {} in use are admissible; the model's own predictions for {} edited rows agree with the file",
        actions.len(),
        actions.len() * rows
    );
    Ok((actions, text))
}

/// An action's edits as positions among all edits, or why the configuration does not allow them.
fn admitted_edits(action: &ActionRef, prepared: &Prepared, texts: &mut Vec<String>) -> Verdict<Vec<u32>> {
    let features = &prepared.table().features;
    let id = action.id;
    let mut positions: Vec<u32> = Vec::with_capacity(action.edits.len());
    for edit in &action.edits {
        let edit = edit.edit(features)?;
        let Some(position) = prepared.edits().iter().position(|known| *known == edit) else {
            let name = &features[edit.feature].name;
            let settings = prepared.config().features.get(name);
            let why = if settings.is_some_and(|settings| settings.protected == Some(true)) {
                format!("`{name}` is protected")
            } else if settings.is_some_and(sogar_table::config::FeatureConfig::is_fixed) {
                format!("`{name}` is immutable")
            } else {
                "the configuration gives no edit of this feature with this amount, range or value".into()
            };
            return defect(format!("action {id}: to {} is not admissible, {why}", edit.text(features)));
        };
        if positions.last().is_some_and(|&last| {
            last as usize >= position || prepared.edits()[last as usize].feature == edit.feature
        }) {
            return defect(format!("action {id} edits a feature twice, or its edits are out of order"));
        }
        positions.push(position as u32);
    }
    if positions.len() > prepared.limits().max_edits as usize {
        let (has, most) = (positions.len(), prepared.limits().max_edits);
        return defect(format!("action {id} has {has} edits; max_edits is {most}"));
    }
    let edits: Vec<&Edit> = positions.iter().map(|&edit| &prepared.edits()[edit as usize]).collect();
    if edits.iter().enumerate().any(|(at, edit)| edits[..at].iter().any(|other| rivals(edit, other))) {
        return defect(format!("action {id} moves a feature twice: two of its edits do, or a link of them"));
    }
    let text = action_text(&edits, features);
    if action.text != text {
        texts.push(format!("action {id} says `{}`, but its edits are `{text}`", action.text));
    }
    Ok(positions)
}

/// Which of these rows of a table each action flips, as scored by the model itself. Rows of several actions share a call if the
/// model prefers large batches.
pub(super) fn flips(
    prepared: &Prepared,
    usual: Option<&Usual<'_>>,
    table: &FeatureTable,
    actions: &[Vec<Edit>],
    rows: &[usize],
) -> Result<Vec<Vec<bool>>> {
    let batch = prepared.model().predictor.batching().rows.max(BATCH);
    let together = (batch / rows.len().max(1)).max(1);
    let groups: Vec<Vec<bool>> = actions
        .par_chunks(together)
        .map(|actions| {
            let pairs: Vec<(&[Edit], usize)> =
                actions.iter().flat_map(|edits| rows.iter().map(|&row| (&edits[..], row))).collect();
            let flips: Vec<Vec<bool>> = pairs
                .chunks(batch)
                .map(|pairs| flips_of_pairs(prepared, usual, table, pairs))
                .collect::<Result<_>>()?;
            Ok(flips.concat())
        })
        .collect::<Result<_>>()?;
    let flips = groups.concat();
    Ok((0..actions.len())
        .map(|action| flips[action * rows.len()..(action + 1) * rows.len()].to_vec())
        .collect())
}

fn flips_of_pairs(
    prepared: &Prepared,
    usual: Option<&Usual<'_>>,
    table: &FeatureTable,
    pairs: &[(&[Edit], usize)],
) -> Result<Vec<bool>> {
    let columns = prepared.encoder().columns.len();
    let mut block = Vec::with_capacity(pairs.len() * columns);
    let mut counts = Vec::with_capacity(pairs.len());
    let (mut own, mut edited) = (Vec::new(), Vec::with_capacity(pairs.len()));
    for &(edits, row) in pairs {
        let before = table.row(row);
        let mut after = before.clone();
        edits.iter().for_each(|edit| edit.apply(&mut after));
        let broken = prepared.rules().iter().any(|rule| rule.broken_by(&before, &after));
        counts.push(!edits.is_empty() && !broken);
        prepared.encoder().encode_row(&after, &mut block);
        edited.push(after);
        own.push(before);
    }
    let predictions = prepared.model().predictor.predict(Rows { values: &block, columns })?;
    let flipped = predictions.iter().zip(&counts);
    let mut flips: Vec<bool> =
        flipped.map(|(label, counts)| *counts && prepared.classes().is_desired(label)).collect();
    // Every further model has a vote; the first has had its own.
    let others = prepared.other_models();
    let needed = match &prepared.config().model.agree {
        Some(Agree::Count(models)) => *models as usize,
        _ => others.len() + 1,
    };
    let mut votes = vec![1usize; edited.len()];
    for other in others {
        let accepted = other.accepts(&prepared.classes().desired, &edited)?;
        votes.iter_mut().zip(accepted).for_each(|(votes, accepted)| *votes += usize::from(accepted));
    }
    flips.iter_mut().zip(votes).for_each(|(flips, votes)| *flips &= votes >= needed);
    if let Some(usual) = usual {
        let allowed = usual.allowed(&own, &edited)?;
        flips.iter_mut().zip(allowed).for_each(|(flips, allowed)| *flips &= allowed);
    }
    Ok(flips)
}
