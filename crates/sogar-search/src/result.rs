//! Turns the solver's solutions into a result file: trees with the totals of their leaves, and the people whom the actions in use
//! flip.

use std::collections::BTreeMap;

use sogar_solver::{Problem, RowSet, Solution, TreeNode};

use super::{Search, Searched};
use sogar_front::summary::{
    ActionRef, Bits, CostRef, Counts, EditRef, FORMAT, FrontFile, ModelRef, Node, PointRef, PopulationRef,
    RunRef, SplitRef, TableRef, VERSION, WeightRef, means,
};
use sogar_prepare::actions::{Edit, action_text};
use sogar_prepare::model::ModelInfo;
use sogar_prepare::prepared::{Prepared, SolverProblem};

fn model_ref(info: &ModelInfo, hash: &str) -> ModelRef {
    ModelRef { format: info.format.clone(), description: info.description.clone(), hash: hash.to_owned() }
}

impl Search<'_> {
    /// The result file of a search: `solutions` of its problem, whose actions have the numbers `ids`.
    pub(super) fn file(
        &self,
        found: &Searched,
        solutions: Vec<Solution>,
        ids: &[u32],
        describe: &mut Describe,
    ) -> FrontFile {
        self.file_with(found, solutions, ids, describe, &[]).0
    }

    /// The same, with the points of `front` on the searched people. Their splits and actions count as in use too.
    pub(super) fn file_with(
        &self,
        found: &Searched,
        solutions: Vec<Solution>,
        ids: &[u32],
        describe: &mut Describe,
        front: &[Solution],
    ) -> (FrontFile, Vec<PointRef>) {
        let Searched { made, outcome, status, .. } = found;
        let run = RunRef {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            date: sogar_base::clock::utc_now(),
            table_path: self.table_path().display().to_string(),
            model_path: self.model().path.display().to_string(),
            also_paths: self.other_models().iter().map(|other| other.path.display().to_string()).collect(),
            folder: self.folder().display().to_string(),
            holdout_path: None,
            threads: self.threads(),
            device: found.device.clone(),
            seconds_outcomes: found.seconds_outcomes,
            seconds_search: found.seconds_search,
            leaf_sets: outcome.stats.leaf_sets,
            groups_tested: outcome.stats.leaf_work.groups,
            losses_counted: outcome.stats.leaf_work.losses,
            costs_summed: outcome.stats.leaf_work.costs,
            settled_outcomes: made.settled,
            outcome_method: made.method.to_owned(),
        };
        describe.start();
        let points: Vec<PointRef> =
            solutions.iter().map(|solution| describe.point(self, &made.problem, solution)).collect();
        let searched = self.searched_set();
        let front = front.iter().map(|one| describe.point_on(self, &made.problem, one, &searched)).collect();
        let features = &self.table().features;
        let info = self.model().predictor.info();
        let file = FrontFile {
            format: FORMAT.to_owned(),
            version: VERSION,
            status: *status,
            config: self.config().recorded(),
            table: TableRef { rows: self.reference().rows, hash: self.table_hash().to_owned() },
            model: model_ref(info, &self.model().hash),
            also: self
                .other_models()
                .iter()
                .map(|other| model_ref(other.predictor.info(), &other.hash))
                .collect(),
            population: PopulationRef {
                rows: self.reference().rows,
                affected: self.affected().len(),
                classes: self.classes().names.clone(),
                desired: self.classes().desired_names(),
                affected_rows: Bits::new(self.reference().rows, |place| {
                    self.affected().binary_search_by_key(&place, |&row| self.place(row)).is_ok()
                }),
            },
            weight: self.table().weights.as_ref().map(|weights| WeightRef {
                column: weights.column.clone(),
                unit: u64::from(weights.unit),
                total: self.reference().people,
                affected: self.affected_people(),
            }),
            features: features.clone(),
            counts: Counts {
                splits: self.splits().len(),
                edits: self.edits().len(),
                actions: made.actions.len(),
            },
            cost: CostRef {
                kind: self.config().cost.kind,
                unit: self.cost().unit(),
                table_hash: self.cost().table_hash().map(str::to_owned),
            },
            limits: self.limits(),
            splits: describe
                .splits
                .iter()
                .map(|&split| SplitRef::new(&self.splits()[split as usize], features))
                .collect(),
            actions: describe.actions.iter().map(|&action| self.action(action, ids, made)).collect(),
            points,
            bound: found.bound(),
            sample: None,
            fairness: None,
            plausibility: None,
            holdout: None,
            run,
        };
        (file, front)
    }

    fn action(&self, action: u32, ids: &[u32], made: &SolverProblem) -> ActionRef {
        let list = made.actions.get(action as usize);
        let edits: Vec<&Edit> = list.iter().map(|&edit| &self.edits()[edit as usize]).collect();
        let features = &self.table().features;
        let flips: Vec<bool> =
            self.in_table_order(|position| made.problem.flips(action as usize, position)).collect();
        ActionRef {
            id: ids[action as usize],
            text: action_text(&edits, features),
            edits: edits.iter().map(|edit| EditRef::new(edit, features)).collect(),
            flips: Bits::new(flips.len(), |row| flips[row]),
        }
    }
}

/// Turns the solver's trees into those of the result file; numbers splits and actions in order of appearance.
#[derive(Default)]
pub(super) struct Describe {
    splits: Vec<u32>,
    actions: Vec<u32>,
    /// Totals of leaves (rows, flipped, cost), by the number of people of the tree, the path and the action: neighbours on a
    /// front share most leaves.
    leaves: BTreeMap<(usize, Way, u32), [u64; 3]>,
    /// Number of people of the tree.
    about: usize,
}

/// Splits on the path to a leaf, and whether people passed them.
type Way = Vec<(u32, bool)>;

fn position(list: &mut Vec<u32>, item: u32) -> usize {
    list.iter().position(|&known| known == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    })
}

impl Describe {
    /// Starts new numbers for splits and actions; keeps the totals of leaves.
    fn start(&mut self) {
        self.splits.clear();
        self.actions.clear();
    }

    /// A tree with its totals on the problem's rows.
    pub(super) fn point(&mut self, prepared: &Prepared, problem: &Problem, solution: &Solution) -> PointRef {
        self.point_on(prepared, problem, solution, &RowSet::full(problem.rows()))
    }

    /// The same on some of the rows: all of them, or the sample.
    fn point_on(
        &mut self,
        prepared: &Prepared,
        problem: &Problem,
        solution: &Solution,
        rows: &RowSet,
    ) -> PointRef {
        self.about = rows.count();
        let tree = self.node(problem, &solution.tree, rows, &mut Vec::new());
        let (cost_sum, loss_count) = totals(&tree);
        let means = means(cost_sum, loss_count, prepared.cost().unit(), problem.weight_of(rows));
        PointRef {
            cost: means.cost,
            loss: means.loss,
            invalidity: means.invalidity,
            cost_sum,
            loss_count,
            leaves: solution.tree.leaves(),
            depth: solution.tree.depth(),
            tree,
        }
    }

    /// The node at the end of the path `way`, with `rows` of the people.
    fn node(&mut self, problem: &Problem, tree: &TreeNode, rows: &RowSet, way: &mut Way) -> Node {
        match tree {
            TreeNode::Leaf { action } => {
                let key = (self.about, way.clone(), *action);
                let [rows, flipped, cost_sum] = *self.leaves.entry(key).or_insert_with(|| {
                    let at = *action as usize;
                    [problem.weight_of(rows), problem.flipped_among(at, rows), problem.cost_over(at, rows)]
                });
                Node::Leaf { action: position(&mut self.actions, *action), rows, flipped, cost_sum }
            }
            TreeNode::Split { split, left, right } => {
                let passing = problem.split(*split as usize);
                let position = position(&mut self.splits, *split);
                let mut child = |tree, passed: bool| {
                    let rows = if passed { rows.and(passing) } else { rows.and_not(passing) };
                    way.push((*split, passed));
                    let node = self.node(problem, tree, &rows, way);
                    way.pop();
                    Box::new(node)
                };
                Node::Split { split: position, left: child(left, true), right: child(right, false) }
            }
        }
    }
}

/// Total cost and loss of the leaves of a tree.
fn totals(tree: &Node) -> (u64, u64) {
    match tree {
        Node::Leaf { rows, flipped, cost_sum, .. } => (*cost_sum, rows - flipped),
        Node::Split { left, right, .. } => {
            let (left, right) = (totals(left), totals(right));
            (left.0 + right.0, left.1 + right.1)
        }
    }
}
