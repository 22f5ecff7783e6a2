use std::sync::Arc;

use super::*;
use crate::actions::{Change, Follower, all_actions};
use crate::model::Missing;
use crate::model::single::largest_below;
use crate::model::{Arithmetic, Decision, ModelInfo, Node, Prediction, Rows, Test, Tree, TreeEnsemble};
use sogar_table::config::ModelConfig;
use sogar_table::feature::{Columns, Feature, Kind};

pub(super) use sogar_testing::Random;

struct Ensemble(ModelInfo, TreeEnsemble);

impl Predictor for Ensemble {
    fn info(&self) -> &ModelInfo {
        &self.0
    }

    fn predict(&self, rows: Rows<'_>) -> Result<Vec<Prediction>> {
        let mut outputs = vec![0.0; self.1.outputs];
        Ok(rows
            .iter()
            .map(|row| {
                self.1.outputs_of(row, &mut outputs);
                self.1.prediction(&outputs)
            })
            .collect())
    }

    fn tree_ensemble(&self) -> Option<&TreeEnsemble> {
        Some(&self.1)
    }
}

/// Two numbers (one with missing values), a one-hot category, a coded category and a binary.
pub(super) fn features() -> Vec<Feature> {
    let levels = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>();
    vec![
        Feature::new("x", Kind::Integer),
        Feature::new("y", Kind::Real),
        Feature {
            columns: Columns::OneHot((0..4).map(|i| Some(format!("c:{i}"))).collect()),
            ..Feature::new("c", Kind::Categorical { levels: levels(4), missing: None })
        },
        Feature::new("k", Kind::Categorical { levels: levels(5), missing: None }),
        Feature::new("b", Kind::Binary { levels: levels(2) }),
    ]
}

const COLUMNS: [&str; 8] = ["x", "y", "c:0", "c:1", "c:2", "c:3", "k", "b"];

fn random_test(random: &mut Random, column: usize) -> Test {
    let missing = [Missing::AsZero, Missing::ZeroIsMissing, Missing::NaNIsMissing][random.index(3)];
    let default_left = random.index(2) == 0;
    let at_most = |threshold| Test::AtMost { threshold, missing, default_left };
    // Some numbers are tested as categories, as XGBoost does with codes.
    if column < 2 && random.index(6) == 0 {
        let categories = (0..10).filter(|_| random.index(3) == 0).collect();
        return Test::NoneOf { categories, default_left };
    }
    match column {
        0 => at_most(random.index(12) as f64 - 1.5),
        1 if random.index(4) == 0 => {
            let ranges =
                (0..6).filter(|_| random.index(2) == 0).map(f64::from).map(|at| (at, at + 0.5)).collect();
            Test::Within { ranges, default_left }
        }
        1 if default_left => at_most((random.index(40) as f64 - 8.0) / 4.0),
        // `x < threshold` in single precision.
        1 => at_most(largest_below((random.index(40) as f32 - 8.0) / 4.0).unwrap()),
        6 if default_left => Test::InSet { words: vec![random.index(32) as u32] },
        6 => {
            let categories = (0..5).filter(|_| random.index(2) == 0).collect();
            Test::NoneOf { categories, default_left: random.index(2) == 0 }
        }
        _ => at_most(0.5),
    }
}

fn random_tree(random: &mut Random, depth: usize) -> Tree {
    let mut tree = Tree { nodes: vec![], leaves: vec![], covers: vec![] };
    grow(random, depth, &mut tree);
    tree
}

fn grow(random: &mut Random, depth: usize, tree: &mut Tree) -> i32 {
    if depth == 0 || random.index(8) == 0 {
        // Multiples of 1/8 are summed without rounding, so some margins hit the threshold exactly.
        tree.leaves.push((random.index(17) as f64 - 8.0) / 8.0);
        return !(tree.leaves.len() as i32 - 1);
    }
    let column = random.index(COLUMNS.len());
    let position = tree.nodes.len();
    tree.nodes.push(Node { column, test: random_test(random, column), left: 0, right: 0 });
    let left = grow(random, depth - 1, tree);
    let right = grow(random, depth - 1, tree);
    tree.nodes[position].left = left;
    tree.nodes[position].right = right;
    position as i32
}

/// How features are tied together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Links {
    None,
    /// To a feature with its own edits.
    Mutable,
    /// To a feature without edits, which comes before others that have edits.
    Immutable,
    /// From the first to the second to the last: the first and the last are compatible.
    Chain,
    /// From the first and the last to one without edits between them.
    Shared,
}

impl Links {
    pub(super) const ALL: [Links; 5] =
        [Links::None, Links::Mutable, Links::Immutable, Links::Chain, Links::Shared];
}

pub(super) fn edits(random: &mut Random, links: Links) -> Vec<Edit> {
    let plain = |feature, change| Edit { feature, change, followers: vec![] };
    let mut edits = Vec::new();
    for by in [1.0, -1.0, 3.0, -3.0, 6.0] {
        edits.push(plain(0, Change::shift(by, 0.0, 9.0)));
    }
    for by in [0.75, -1.5] {
        edits.push(plain(1, Change::shift(by, -2.0, 8.0)));
    }
    for to in 0..4 {
        edits.push(plain(
            2,
            Change::Set { to, not_from: if random.index(2) == 0 { vec![1] } else { vec![] } },
        ));
    }
    for (from, to) in [(0, 1), (2, 4), (3, 0)] {
        edits.push(plain(3, Change::Swap { from, to }));
    }
    edits.push(plain(4, Change::Flip));
    let mut link = |from: usize, to: usize, factor: f64| {
        let (lo, hi, whole) = if to == 0 { (0.0, 9.0, true) } else { (-2.0, 8.0, false) };
        for edit in edits.iter_mut().filter(|edit| edit.feature == from) {
            edit.followers.push(Follower { feature: to, factor, lo, hi, whole, codes: Vec::new() });
        }
    };
    match links {
        Links::None => {}
        Links::Mutable => link(0, 1, 0.5),
        Links::Immutable => link(4, 0, 4.0),
        Links::Chain => {
            link(4, 1, 1.5);
            link(1, 0, 2.0);
        }
        Links::Shared => {
            link(0, 1, 0.5);
            link(4, 1, 3.0);
        }
    }
    match links {
        Links::Immutable => edits.retain(|edit| edit.feature != 0),
        Links::Shared => edits.retain(|edit| edit.feature != 1),
        _ => {}
    }
    edits
}

/// Leaf values like XGBoost's: single precision, with sums that lose digits, some of them close together.
fn narrow(random: &mut Random, ensemble: &mut TreeEnsemble) {
    let scale = [1.0, 1.0 / 3.0, 0.7, 1e-6][random.index(4)];
    for value in ensemble.trees.iter_mut().flat_map(|tree| &mut tree.leaves).chain(&mut ensemble.base) {
        *value = f64::from((*value * scale) as f32);
    }
    if random.index(3) == 0 {
        // A large constant that two trees cancel: single precision drops most of what is added in between.
        for (round, value) in [(0, 1e5), (ensemble.trees.len() - ensemble.outputs, -1e5)] {
            for tree in &mut ensemble.trees[round..round + ensemble.outputs] {
                tree.leaves.iter_mut().for_each(|leaf| *leaf = f64::from((*leaf + value) as f32));
            }
        }
    }
}

/// Compares the decomposition with scoring on one random problem; returns the number of settled outcomes.
fn compare(seed: u64, arithmetic: Arithmetic) -> u64 {
    let mut random = Random(seed);
    let outputs = [1, 1, 1, 3][random.index(4)];
    let decision = match (outputs, random.index(4)) {
        (1, 0) => Decision::Raw { threshold: 0.25 },
        (1, 3) => Decision::Margin { above: 0.0, slope: 1.0 },
        (1, 1) => Decision::Sigmoid { slope: 1.0, threshold: 0.5 },
        (1, _) => Decision::Sigmoid { slope: 2.0, threshold: 0.7 },
        (_, 0) => Decision::OneVsAll { slope: 1.0 },
        (_, 1) => Decision::Largest { softmax_scores: true },
        _ => Decision::Softmax,
    };
    let rounds = 1 + random.index(6);
    let mut ensemble = TreeEnsemble {
        trees: (0..rounds * outputs).map(|_| random_tree(&mut random, 4)).collect(),
        outputs,
        base: (0..outputs).map(|_| random.index(3) as f64 / 8.0).collect(),
        base_last: random.index(2) == 0,
        divisor: if random.index(4) == 0 { rounds as f64 } else { 1.0 },
        arithmetic,
        decision,
    };
    if arithmetic == Arithmetic::Single {
        narrow(&mut random, &mut ensemble);
    }
    let info = ModelInfo {
        format: "test".into(),
        description: String::new(),
        columns: COLUMNS.iter().map(|&name| name.to_owned()).collect(),
        categories: vec![vec![]; COLUMNS.len()],
        unplaced_categories: vec![],
        classes: outputs.max(2) as u32,
        class_names: Vec::new(),
        threshold: None,
    };
    let features = features();
    let (encoder, _) = Encoder::match_columns(&info, &features, &ModelConfig::default()).unwrap();
    let rows = 70;
    let values = vec![
        (0..rows).map(|_| random.index(10) as f64).collect(),
        (0..rows)
            .map(|_| if random.index(5) == 0 { f64::NAN } else { random.index(40) as f64 / 4.0 - 2.0 })
            .collect(),
        (0..rows).map(|_| random.index(5) as f64).collect(), // 4: an unknown category
        (0..rows).map(|_| random.index(5) as f64).collect(),
        (0..rows).map(|_| random.index(2) as f64).collect(),
    ];
    let table = FeatureTable { features, values, rows, weights: None };
    let predictor: Arc<dyn Predictor> = Arc::new(Ensemble(info, ensemble));
    let links = Links::ALL[random.index(Links::ALL.len())];
    let edits = edits(&mut random, links);
    let actions = all_actions(&edits, 1 + (seed % 4) as u32);
    let mut desired = vec![false; outputs.max(2)];
    desired[random.index(outputs.max(2))] = true;
    let rows: Vec<usize> = (0..rows).collect();
    let query =
        OutcomeQuery::of_model((&*predictor, &encoder), &desired, (&table, &rows), (&edits, &actions));
    let watch = Watch { progress: &|_, _| (), stop: &Stop::default() };
    let fast = outcomes(query, &watch).unwrap().unwrap();
    let slow = by_scoring(query, &watch).unwrap().unwrap();
    assert!(fast.method.starts_with("tree ensemble"));
    // The identity flips nobody by definition; every other outcome must agree.
    for action in 1..actions.len() {
        assert_eq!(
            fast.flips.set(action),
            slow.flips.set(action),
            "seed {seed}, action {:?}",
            actions.get(action)
        );
    }
    fast.settled
}

#[test]
fn decomposed_outcomes_equal_scored_ones_on_all_cells_of_200_random_problems() {
    let settled: u64 = (0..200).map(|seed| compare(seed, Arithmetic::Double)).sum();
    assert!(settled > 0, "no margin ever came close to the threshold: the settling was not tested");
}

#[test]
fn decomposed_outcomes_equal_scored_ones_where_the_library_adds_in_single_precision() {
    let settled: u64 = (1000..1200).map(|seed| compare(seed, Arithmetic::Single)).sum();
    assert!(settled > 0, "no margin ever came close to the threshold: the settling was not tested");
}
