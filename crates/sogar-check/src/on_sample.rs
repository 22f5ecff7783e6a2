//! The block of a sample: draws its people again from the seed, sends its own front through every tree, and derives the front on
//! all people. [`super::completeness`] tests whether a point is missing.

use super::holdout::{distance, spread};
use super::trees::{self, Walk, searched};
use super::{Defect, Verdict, defect, order, same};
use sogar_front::summary::{Node, SampleRef, means};

/// Checks everything in the block. `everybody` is the walk of all affected people.
pub(super) fn check(said: &SampleRef, everybody: &Walk<'_>) -> Verdict<((), String)> {
    let prepared = everybody.prepared;
    let drawn = searched(prepared);
    same("the number of rows", said.rows, drawn.len())?;
    // The same share of the sample as of all, rounded up.
    let (sample, all) = (everybody.weight(&drawn), everybody.weight(everybody.rows));
    let least = (u128::from(everybody.least) * u128::from(sample)).div_ceil(u128::from(all)).max(1) as u64;
    same("min_leaf", u64::from(said.min_leaf), least)?;
    let on_sample = Walk { rows: &drawn, least, ..*everybody };
    let own = |Defect(text)| Defect(format!("the sample's front: {text}"));
    trees::check(&on_sample, &said.front).map_err(own)?;
    order::front(&said.front).map_err(own)?;
    let (kept, too_small, dominated) = kept(said, everybody);
    same("the number of summaries that were found", said.found, kept.len() + too_small + dominated)?;
    same("the number of those with too small a leaf", said.too_small, too_small)?;
    same("the number of dominated ones", said.dominated, dominated)?;
    let points = &everybody.front.points;
    same("the number of points", points.len(), kept.len())?;
    same("the number of points on the sample", said.points.len(), kept.len())?;
    let mut distances = Vec::with_capacity(kept.len());
    for (number, ((point, there), candidate)) in points.iter().zip(&said.points).zip(&kept).enumerate() {
        if (point.cost_sum, point.loss_count) != (candidate.cost, candidate.loss)
            || !candidate
                .tree
                .map_or_else(|| is_nothing(everybody, &point.tree), |tree| same_tree(&point.tree, tree))
        {
            return defect(format!("point {number} is not what becomes of the sample's front on everybody"));
        }
        let of_point = |what: &str| format!("{what} of point {number} on the sample");
        let (cost, loss, _) = evaluated(&on_sample, candidate.tree);
        let means = means(cost, loss, everybody.front.cost.unit, sample);
        same(&of_point("cost_sum"), there.cost_sum, cost)?;
        same(&of_point("loss_count"), there.loss_count, loss)?;
        same(&of_point("the mean cost"), there.cost, means.cost)?;
        same(&of_point("the mean loss"), there.loss, means.loss)?;
        same(&of_point("the invalidity"), there.invalidity, means.invalidity)?;
        distances.push(distance((point.cost, point.loss), (means.cost, means.loss)));
    }
    spread(&distances, said.mean_distance, said.sd_distance)?;
    let text = format!(
        "{} rows drawn anew from the seed; its {} points applied row by row, to them and to everybody; {} of them stand there, as \
         recorded",
        drawn.len(),
        said.front.len(),
        kept.len()
    );
    Ok(((), text))
}

/// A summary with its cost and loss on all people.
struct Candidate<'a> {
    cost: u64,
    loss: u64,
    /// Its tree; `None` is "no change", if it is not a point of the sample's front.
    tree: Option<&'a Node>,
}

/// Cost and loss of a candidate, and the weight of its smallest leaf.
fn evaluated(walk: &Walk<'_>, tree: Option<&Node>) -> (u64, u64, u64) {
    let all = || walk.weight(walk.rows);
    tree.map_or_else(|| (0, all(), all()), |tree| walk.evaluated(tree, walk.rows))
}

/// Whether a tree recommends "no change" to everyone.
fn is_nothing(walk: &Walk<'_>, tree: &Node) -> bool {
    matches!(tree, Node::Leaf { action, .. } if walk.front.actions[*action].edits.is_empty())
}

/// The part of a sample's front that remains on all people, cost ascending; and how many have too small a leaf there, or are
/// dominated.
fn kept<'a>(said: &'a SampleRef, everybody: &Walk<'_>) -> (Vec<Candidate<'a>>, usize, usize) {
    let mut trees: Vec<Option<&Node>> = said.front.iter().map(|point| Some(&point.tree)).collect();
    if !said.front.iter().any(|point| is_nothing(everybody, &point.tree)) {
        trees.push(None);
    }
    let (mut candidates, mut too_small) = (Vec::new(), 0);
    for tree in trees {
        let (cost, loss, smallest) = evaluated(everybody, tree);
        if smallest < everybody.least {
            too_small += 1;
        } else {
            candidates.push(Candidate { cost, loss, tree });
        }
    }
    let all = candidates.len();
    candidates.sort_by_key(|candidate| (candidate.cost, candidate.loss)); // stable: keeps the first of equal ones
    let mut least = u64::MAX;
    candidates.retain(|candidate| {
        let better = candidate.loss < least;
        least = least.min(candidate.loss);
        better
    });
    let dominated = all - candidates.len();
    (candidates, too_small, dominated)
}

/// Whether two trees have the same splits and actions.
fn same_tree(a: &Node, b: &Node) -> bool {
    match (a, b) {
        (Node::Leaf { action: a, .. }, Node::Leaf { action: b, .. }) => a == b,
        (Node::Split { split: a, left, right }, Node::Split { split: b, left: other_left, right: other }) => {
            a == b && same_tree(left, other_left) && same_tree(right, other)
        }
        _ => false,
    }
}
