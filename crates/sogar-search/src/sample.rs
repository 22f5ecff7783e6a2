//! Searches a sample of the affected people and evaluates what it finds on all of them.
//!
//! The time of a search grows with the number of people; evaluating a tree on millions of them takes a moment. The sample is
//! stratified: similar affected rows are neighbours, the rows are cut into as many stretches as the sample has rows, and one row
//! is drawn from each. What the search finds is only a candidate. A summary counts with its exact cost and loss on all people,
//! and stays if no leaf is too small and no other candidate dominates it *there*. Doing nothing is always a candidate.

use std::collections::BTreeSet;

use sogar_solver::{Actions, CancelToken, Solution, TreeNode};

use super::result::Describe;
use super::{Search, Searched};
use sogar_base::error::Result;
use sogar_front::summary::{EvaluatedPoint, FrontFile, Node, PointRef, SampleRef, Status, distances, means};
use sogar_prepare::outcomes::{OutcomeQuery, Watch};
use sogar_prepare::prepared::{ProblemPopulation, Reporter};

/// The results of a search on a sample, to be evaluated on all people.
pub(super) struct Candidates<'a> {
    /// The sample.
    pub sample: &'a ProblemPopulation,
    /// The front of the sample; actions are numbered among all actions.
    pub found: Vec<Solution>,
    /// The actions in use, ascending.
    pub ids: &'a [u32],
    /// How many actions there are.
    pub actions: usize,
    /// A bound that no summary beats on the sample, if the search was stopped and the bound is known.
    pub bound: Option<Vec<[u64; 2]>>,
}

impl Search<'_> {
    /// Searches a sample of the affected people and evaluates what it finds on all of them.
    pub(super) fn solve_on_sample(&self, reporter: &dyn Reporter, cancel: &CancelToken) -> Result<FrontFile> {
        let sample = self.searched();
        let found = self.search(&sample, reporter, cancel)?;
        let clock = std::time::Instant::now();
        let front = found.outcome.front.clone();
        let bound = found.bound();
        let (ids, actions) = used(&front, &found.made.actions);
        let all = &found.made.actions;
        let find = |query: OutcomeQuery<'_>, watch: &Watch<'_>| self.outcomes_of_few(query, all, &ids, watch);
        let made = self.problem_over(&self.everybody(), actions, find, reporter, cancel)?;
        if !made.finished {
            let status = if cancel.is_cancelled() { Status::Cancelled } else { Status::TimeLimit };
            return Ok(self.nothing_known(Searched { status, made, ..found }));
        }
        let actions = all.len();
        let candidates = Candidates { sample: &sample, found: front, ids: &ids, actions, bound };
        let seconds_outcomes = found.seconds_outcomes + clock.elapsed().as_secs_f64();
        Ok(self.on_everybody(candidates, Searched { made, seconds_outcomes, ..found }))
    }

    /// The result if only "no change" is known for all people.
    pub(super) fn nothing_known(&self, stopped: Searched) -> FrontFile {
        let nothing = Solution { cost: 0, loss: self.affected_people(), tree: TreeNode::Leaf { action: 0 } };
        self.file(&stopped, vec![nothing], &[0], &mut Describe::default())
    }

    /// The result: candidates that are admissible on all people and that no other candidate dominates there. `found` has the
    /// problem of all people, with the actions in use.
    pub(super) fn on_everybody(&self, candidates: Candidates<'_>, mut found: Searched) -> FrontFile {
        let Candidates { sample, found: front, ids, actions, bound } = candidates;
        let people = self.table().people_among(&sample.rows);
        let front: Vec<Solution> =
            front.into_iter().map(|one| Solution { tree: renamed(&one.tree, ids), ..one }).collect();
        let mut candidates = front.clone();
        if !front.iter().any(|candidate| matches!(candidate.tree, TreeNode::Leaf { action: 0 })) {
            candidates.push(Solution { cost: 0, loss: people, tree: TreeNode::Leaf { action: 0 } });
        }
        // In the order of the front to be made, each with its position among the candidates.
        let mut describe = Describe::default();
        let mut evaluated: Vec<(Solution, EvaluatedPoint)> = Vec::new();
        let mut too_small = 0;
        for candidate in &candidates {
            let point = describe.point(self, &found.made.problem, candidate);
            if smallest(&point.tree) < u64::from(self.min_leaf()) {
                too_small += 1;
                continue;
            }
            let there = means(candidate.cost, candidate.loss, self.cost().unit(), people);
            let tree = candidate.tree.clone();
            evaluated.push((Solution { cost: point.cost_sum, loss: point.loss_count, tree }, there));
        }
        let admissible = evaluated.len();
        let (solutions, points): (Vec<Solution>, Vec<EvaluatedPoint>) =
            non_dominated(evaluated).into_iter().unzip();
        let status = found.status;
        if status == Status::Complete {
            found.status = Status::CompleteOnSample;
        }
        let dominated = admissible - solutions.len();
        let (mut file, front) = self.file_with(&found, solutions, ids, &mut describe, &front);
        file.counts.actions = actions;
        file.bound = None; // the bound is about the sample
        let pair =
            |(here, there): (&PointRef, &EvaluatedPoint)| ((here.cost, here.loss), (there.cost, there.loss));
        let (mean_distance, sd_distance) = distances(file.points.iter().zip(&points).map(pair));
        file.sample = Some(SampleRef {
            rows: sample.rows.len(),
            min_leaf: sample.min_leaf,
            status,
            front,
            bound,
            found: candidates.len(),
            too_small,
            dominated,
            points,
            mean_distance,
            sd_distance,
        });
        file
    }
}

/// The actions that trees use, with all their prefixes: their numbers, ascending, and themselves.
pub(super) fn used(candidates: &[Solution], all: &Actions) -> (Vec<u32>, Actions) {
    let mut lists: BTreeSet<(usize, &[u32])> = BTreeSet::from([(0, &[][..])]);
    let mut open: Vec<&TreeNode> = candidates.iter().map(|candidate| &candidate.tree).collect();
    while let Some(node) = open.pop() {
        match node {
            TreeNode::Split { left, right, .. } => open.extend([&**left, &**right]),
            TreeNode::Leaf { action } => {
                let edits = all.get(*action as usize);
                lists.extend((0..=edits.len()).map(|length| (length, &edits[..length])));
            }
        }
    }
    // Both lists are sorted by length, then lexicographically.
    let number = |edits: &[u32]| {
        let (mut low, mut high) = (0, all.len());
        while low < high {
            let middle = (low + high) / 2;
            let there = all.get(middle);
            if (there.len(), there) < (edits.len(), edits) { low = middle + 1 } else { high = middle }
        }
        low as u32
    };
    let ids = lists.iter().map(|(_, edits)| number(edits)).collect();
    (ids, lists.iter().map(|(_, edits)| edits).collect())
}

/// A tree whose actions are positions among `ids`.
pub(super) fn renamed(tree: &TreeNode, ids: &[u32]) -> TreeNode {
    match tree {
        TreeNode::Leaf { action } => TreeNode::Leaf { action: ids.partition_point(|id| id < action) as u32 },
        TreeNode::Split { split, left, right } => TreeNode::Split {
            split: *split,
            left: Box::new(renamed(left, ids)),
            right: Box::new(renamed(right, ids)),
        },
    }
}

fn smallest(tree: &Node) -> u64 {
    match tree {
        Node::Leaf { rows, .. } => *rows,
        Node::Split { left, right, .. } => smallest(left).min(smallest(right)),
    }
}

/// The candidates that no other dominates on all people, cost ascending; the first of equal ones.
fn non_dominated(mut evaluated: Vec<(Solution, EvaluatedPoint)>) -> Vec<(Solution, EvaluatedPoint)> {
    evaluated.sort_by_key(|(solution, _)| (solution.cost, solution.loss)); // stable
    let mut least = u64::MAX;
    evaluated.retain(|(solution, _)| {
        let better = solution.loss < least;
        least = least.min(solution.loss);
        better
    });
    evaluated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn used_actions_bring_what_they_begin_with_and_keep_their_numbers() {
        let all: Actions = [&[][..], &[0], &[1], &[2], &[0, 1], &[0, 2], &[1, 2]].into_iter().collect();
        let leaf = |action| Box::new(TreeNode::Leaf { action });
        let tree = TreeNode::Split { split: 3, left: leaf(5), right: leaf(2) };
        let candidate = Solution { cost: 1, loss: 1, tree: tree.clone() };
        let (ids, actions) = used(&[candidate], &all);
        assert_eq!(ids, [0, 1, 2, 5]);
        assert_eq!(actions.iter().collect::<Vec<_>>(), [&[][..], &[0], &[1], &[0, 2]]);
        assert_eq!(renamed(&tree, &ids), TreeNode::Split { split: 3, left: leaf(3), right: leaf(2) });
    }
}
