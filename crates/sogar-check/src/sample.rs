//! The draws, for checks that cannot cover everything. All draws follow from the verifier's own seed, which the author of the
//! file cannot know; two checks with the same seed draw the same.

use rayon::prelude::*;
use sogar_solver::{Problem, RowSet};

use super::admissible::{Action, flips};
use super::plain::{LeafFronts, Pair, Plain};
use super::plausible::Usual;
use super::pricing::Prices;
use super::trees;
use super::{Defect, Verdict, defect};
pub(super) use sogar_base::draw::Draw;
use sogar_front::summary::{FrontFile, Node};
use sogar_prepare::actions::{Edit, action_text};
use sogar_prepare::prepared::Prepared;

/// Number of actions whose outcomes the model checks, and rows of each.
const ACTIONS: usize = 500;
const ROWS: usize = 200;
/// Sub-searches at full depth.
pub(super) const DRAWS: usize = 100;
/// Splits of each of them: those of a tree of the front, and others up to this number (or at least two others).
const SPLITS: usize = 6;

/// The search below uses the pipeline's fast outcomes: are they the model's own? Checks all of them for the actions in use, and a
/// sample for the others.
pub(super) fn outcomes(
    front: &FrontFile,
    (prepared, usual): (&Prepared, Option<&Usual<'_>>),
    problem: &Problem,
    used: &[Action],
    seed: u64,
) -> Verdict<((), String)> {
    let searched = prepared.searched_rows();
    let differs = |edits: &[Edit], row: usize| {
        let edits: Vec<&Edit> = edits.iter().collect();
        let text = action_text(&edits, &prepared.table().features);
        Defect(format!("the fast outcome of `{text}` on data row {} is not the model's", row + 1))
    };
    for (action, said) in used.iter().zip(&front.actions) {
        let listed = problem.edits_of(said.id as usize).iter().map(|&edit| &prepared.edits()[edit as usize]);
        if !listed.eq(&action.edits) {
            return defect(format!("action {} is another one in the list of all actions", said.id));
        }
        for (row, position) in trees::searched(prepared).into_iter().enumerate() {
            if problem.flips(said.id as usize, row) != action.flips[position] {
                return Err(differs(&action.edits, searched[row]));
            }
        }
    }
    let mut draw = Draw::new(seed, 0);
    let actions: Vec<usize> = match problem.actions() {
        few if few <= ACTIONS => (0..few).collect(),
        many => (0..ACTIONS).map(|_| draw.below(many)).collect(),
    };
    let rows: Vec<usize> = match problem.rows() {
        few if few <= ROWS => (0..few).collect(),
        many => (0..ROWS).map(|_| draw.below(many)).collect(),
    };
    let in_table: Vec<usize> = rows.iter().map(|&row| searched[row]).collect();
    let lists: Vec<Vec<Edit>> = actions
        .iter()
        .map(|&action| {
            problem.edits_of(action).iter().map(|&edit| prepared.edits()[edit as usize].clone()).collect()
        })
        .collect();
    let found = flips(prepared, usual, prepared.table(), &lists, &in_table)?;
    for ((&action, edits), found) in actions.iter().zip(&lists).zip(&found) {
        if let Some(i) = (0..rows.len()).find(|&i| found[i] != problem.flips(action, rows[i])) {
            return Err(differs(edits, in_table[i]));
        }
    }
    let asked = actions.len() * rows.len();
    let text = if asked == problem.actions() * problem.rows() {
        format!("all {asked} outcomes of all actions are the model's own")
    } else {
        format!("a sample of {asked} outcomes of all actions are the model's own (seed {seed})")
    };
    Ok(((), text))
}

/// The search below uses the pipeline's costs of single edits: are they the verifier's own prices? Checks all of them.
pub(super) fn costs(prepared: &Prepared, problem: &Problem, prices: &Prices<'_>) -> Verdict<((), String)> {
    let searched = prepared.searched_rows();
    let people: Vec<(usize, Vec<f64>)> =
        searched.into_iter().map(|row| (row, prepared.table().row(row))).collect();
    let differing = prepared.edits().par_iter().enumerate().find_map_first(|(number, edit)| {
        let costs = problem.edit_cost(number);
        people.iter().zip(costs).find_map(|((row, person), &cost)| {
            match prices.price(person, std::slice::from_ref(edit)) {
                Ok(price) if price == u64::from(cost) => None,
                Ok(price) => {
                    let text = edit.text(&prepared.table().features);
                    let row = row + 1;
                    Some(Defect(format!(
                        "to {text} costs data row {row} {cost} units in the search and {price} by itself"
                    )))
                }
                Err(defect) => Some(defect),
            }
        })
    });
    match differing {
        Some(defect) => Err(defect),
        None => {
            let count = prepared.edits().len() * people.len();
            Ok(((), format!("all {count} costs of edits are those of the verifier's own prices")))
        }
    }
}

/// Full-depth searches over a few splits each: the splits of a drawn tree of the front, and some other drawn splits. Each gives
/// the exact front of all trees over its splits, and so covers every gap and every weighting at once. Returns one front per
/// finished draw.
pub(super) fn sub_searches(
    front: &FrontFile,
    prepared: &Prepared,
    plain: &Plain<'_>,
    known: &LeafFronts,
    seed: u64,
) -> Vec<Vec<Pair>> {
    let depth = prepared.limits().max_depth as usize;
    (0..DRAWS)
        .into_par_iter()
        .filter_map(|number| {
            let mut draw = Draw::new(seed, 1 + number as u64);
            let splits = drawn_splits(front, prepared, &mut draw);
            let mut levels: Vec<Vec<RowSet>> = vec![vec![plain.root()]];
            for level in 0..depth {
                levels.push(plain.level(&levels[level], &splits, usize::MAX)?);
            }
            let mut leaves = LeafFronts::new();
            for set in levels.iter().flatten() {
                if let Some(front) = known.get(set) {
                    leaves.insert(set.clone(), front.clone());
                }
            }
            levels.iter().all(|sets| plain.add_leaves(sets, &mut leaves)).then_some(())?;
            plain.front(&levels, &splits, &leaves)
        })
        .collect()
}

/// Positions among the problem's splits, ascending.
fn drawn_splits(front: &FrontFile, prepared: &Prepared, draw: &mut Draw) -> Vec<usize> {
    let mut names = Vec::new();
    let points = front.claim().points;
    asked(&points[draw.below(points.len())].tree, &mut names);
    let features = &prepared.table().features;
    let mut splits: Vec<usize> = names
        .iter()
        .filter_map(|&name| {
            let wanted = front.splits[name].split(features).ok()?;
            prepared.splits().iter().position(|split| *split == wanted)
        })
        .collect();
    splits.sort_unstable();
    splits.dedup();
    let wanted = SPLITS.max(splits.len() + 2).min(prepared.splits().len());
    while splits.len() < wanted {
        let more = draw.below(prepared.splits().len());
        if let Err(place) = splits.binary_search(&more) {
            splits.insert(place, more);
        }
    }
    splits
}

fn asked(node: &Node, splits: &mut Vec<usize>) {
    if let Node::Split { split, left, right } = node {
        splits.push(*split);
        asked(left, splits);
        asked(right, splits);
    }
}
