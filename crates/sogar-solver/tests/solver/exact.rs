//! The solver against the exhaustive oracle on thousands of random problems.

#![allow(clippy::unwrap_used)] // a panic is the report

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::pools::{campaign, pool};
use crate::random_problems::{Random, Sizes, draw, draw_steps, draw_unweighted, repeated};
use sogar_solver::leaf::GroupedLeaves;
use sogar_solver::{
    BitTable, BoxesOfActions, CancelToken, Combine, CompactRows, Kernel, Limits, Observer, Outcome,
    PartsOfActions, Point, Problem, ProblemParts, Progress, RowSet, SearchStatus, Solver, Switches, TreeNode,
    exhaustive,
};

fn solve(problem: &Problem, threads: usize, memory: usize) -> Outcome {
    Solver::builder().pool(pool(threads)).memory_limit(memory).build().unwrap().solve(problem, &())
}

fn points(outcome: &Outcome) -> Vec<Point> {
    outcome.front.iter().map(|s| Point { cost: s.cost, loss: s.loss }).collect()
}

fn check(problem: &Problem, outcome: &Outcome, expected: &[Point], seed: u64) {
    assert_eq!(outcome.status, SearchStatus::Complete, "seed {seed}");
    assert_eq!(points(outcome), expected, "seed {seed}");
    assert_eq!(outcome.bound, expected, "seed {seed}");
    for solution in &outcome.front {
        let (point, smallest) = exhaustive::apply(problem, &solution.tree);
        assert_eq!((point.cost, point.loss), (solution.cost, solution.loss), "seed {seed}");
        assert!(smallest >= problem.limits().min_leaf as usize, "seed {seed}");
        assert!(solution.tree.depth() <= problem.limits().max_depth, "seed {seed}");
        assert!(solution.tree.leaves() <= problem.limits().max_leaves, "seed {seed}");
        assert_simplified(&solution.tree, seed);
    }
}

fn assert_simplified(tree: &TreeNode, seed: u64) {
    if let TreeNode::Split { left, right, .. } = tree {
        if let (TreeNode::Leaf { action: a }, TreeNode::Leaf { action: b }) = (&**left, &**right) {
            assert_ne!(a, b, "seed {seed}: both leaves of a split carry the same action");
        }
        assert_simplified(left, seed);
        assert_simplified(right, seed);
    }
}

#[test]
fn fronts_equal_the_exhaustive_solvers_on_3000_random_problems() {
    let sizes = Sizes { rows: 30, splits: 6, actions: 32, depth: 3 };
    campaign(0..3000, |seed| {
        let problem = Problem::new(draw(seed, &sizes)).unwrap();
        let outcome = solve(&problem, 1, usize::MAX);
        check(&problem, &outcome, &exhaustive::front(&problem), seed);
    });
}

#[test]
fn weights_count_as_rows_that_are_repeated_do() {
    let sizes = Sizes { rows: 30, splits: 6, actions: 32, depth: 3 };
    let (mut compared, mut seed) = (0, 0);
    while compared < 500 {
        let parts = draw(seed, &sizes);
        if !parts.weights.is_empty() && parts.weights.iter().sum::<u32>() < 1000 {
            let (once, many) =
                (Problem::new(parts.clone()).unwrap(), Problem::new(repeated(&parts)).unwrap());
            let (once, many) = (solve(&once, 1, usize::MAX), solve(&many, 1, usize::MAX));
            assert_eq!(once.front, many.front, "seed {seed}: points or witnesses");
            compared += 1;
        }
        seed += 1;
    }
}

#[test]
fn both_equal_a_plain_enumeration_of_all_trees_on_tiny_problems() {
    let sizes = Sizes { rows: 12, splits: 3, actions: 4, depth: 2 };
    campaign(0..400, |seed| {
        let problem = Problem::new(draw(seed, &sizes)).unwrap();
        let all_trees = exhaustive::enumerate(&problem);
        assert_eq!(exhaustive::front(&problem), all_trees, "seed {seed}");
        check(&problem, &solve(&problem, 1, usize::MAX), &all_trees, seed);
    });
}

#[test]
fn threads_and_memory_change_nothing_not_even_a_witness() {
    let sizes = Sizes { rows: 60, splits: 10, actions: 26, depth: 3 };
    campaign(0..150, |seed| {
        let problem = Problem::new(draw(seed, &sizes)).unwrap();
        let one = solve(&problem, 1, usize::MAX);
        for (threads, memory) in [(2, usize::MAX), (8, usize::MAX), (1, 0), (1, 2048), (2, 4096), (8, 20_000)]
        {
            let own_threads = Solver::builder().threads(threads).memory_limit(memory).build().unwrap();
            let front = own_threads.solve(&problem, &()).front;
            assert_eq!(front, one.front, "seed {seed}, {threads} threads");
        }
    });
}

/// A front that a stopped search gave: attained, mutually non-dominated, and with a bound that no tree lies below.
fn check_stopped(problem: &Problem, outcome: &Outcome, complete: &[Point], seed: u64) {
    for solution in &outcome.front {
        let (point, _) = exhaustive::apply(problem, &solution.tree);
        assert_eq!((point.cost, point.loss), (solution.cost, solution.loss), "seed {seed}");
    }
    for point in complete {
        let covered = outcome.bound.iter().any(|b| b.cost <= point.cost && b.loss <= point.loss);
        assert!(covered, "seed {seed}: {point:?} lies below the bound");
    }
    assert!(outcome.front.windows(2).all(|w| w[0].cost < w[1].cost && w[0].loss > w[1].loss));
    assert_eq!(outcome.front.first().map(|s| s.cost), Some(0), "seed {seed}");
    if outcome.status == SearchStatus::Complete {
        assert_eq!(points(outcome), complete, "seed {seed}");
    }
}

#[test]
fn a_search_past_its_deadline_gives_attained_points_and_a_bound_below_the_complete_front() {
    let sizes = Sizes { rows: 60, splits: 10, actions: 26, depth: 3 };
    campaign(0..200, |seed| {
        let problem = Problem::new(draw(seed, &sizes)).unwrap();
        let limit = std::time::Duration::from_micros(seed * 20);
        let outcome =
            Solver::builder().pool(pool(2)).time_limit(Some(limit)).build().unwrap().solve(&problem, &());
        check_stopped(&problem, &outcome, &exhaustive::front(&problem), seed);
    });
}

/// Cancels at the given report, and keeps every improvement.
struct Watcher {
    token: CancelToken,
    cancel_at: usize,
    reports: AtomicUsize,
    fronts: Mutex<Vec<Vec<Point>>>,
    bounds: Mutex<Vec<Vec<Point>>>,
    waits: bool,
}

impl Observer for Watcher {
    fn progress(&self, _: Progress) {
        // The first report waits until the other thread has told the bound.
        let start = std::time::Instant::now();
        while self.waits && self.bounds.lock().unwrap().is_empty() && start.elapsed().as_secs() < 20 {
            std::thread::yield_now();
        }
        if self.reports.fetch_add(1, Ordering::Relaxed) == self.cancel_at {
            self.token.cancel();
        }
    }

    fn improved(&self, front: &[Point]) {
        self.fronts.lock().unwrap().push(front.to_vec());
    }

    fn wants_bound(&self) -> bool {
        true
    }

    fn bound(&self, front: &[Point]) {
        self.bounds.lock().unwrap().push(front.to_vec());
    }
}

fn watched(problem: &Problem, cancel_at: usize, waits: bool) -> (Outcome, Watcher) {
    let token = CancelToken::new();
    let watcher = Watcher {
        token: token.clone(),
        cancel_at,
        reports: AtomicUsize::new(0),
        fronts: Mutex::default(),
        bounds: Mutex::default(),
        waits,
    };
    let outcome = Solver::builder().pool(pool(2)).cancel(token).build().unwrap().solve(problem, &watcher);
    (outcome, watcher)
}

#[test]
fn a_search_cancelled_anywhere_gives_attained_points_and_a_bound_below_the_complete_front() {
    let sizes = Sizes { rows: 60, splits: 10, actions: 26, depth: 3 };
    let mut cancelled = 0;
    for seed in 0.. {
        let problem = Problem::new(draw(seed, &sizes)).unwrap();
        let (outcome, _) = watched(&problem, seed as usize % 23, false);
        check_stopped(&problem, &outcome, &exhaustive::front(&problem), seed);
        // Small problems are often done before.
        cancelled += usize::from(outcome.status == SearchStatus::Cancelled);
        if cancelled == 200 {
            break;
        }
        assert!(seed < 5000, "only {cancelled} searches were stopped");
    }
}

#[test]
fn every_improvement_is_reported_and_the_last_is_the_front() {
    let sizes = Sizes { rows: 60, splits: 10, actions: 26, depth: 3 };
    campaign(0..200, |seed| {
        let problem = Problem::new(draw(seed, &sizes)).unwrap();
        let (outcome, watcher) = watched(&problem, usize::MAX, false);
        let fronts = watcher.fronts.into_inner().unwrap();
        assert_eq!(fronts.last(), Some(&points(&outcome)), "seed {seed}");
        for pair in fronts.windows(2) {
            assert_ne!(pair[0], pair[1], "seed {seed}");
            let kept = |p: &Point| pair[1].iter().any(|q| q.cost <= p.cost && q.loss <= p.loss);
            assert!(pair[0].iter().all(kept), "seed {seed}: a point was lost");
        }
    });
}

#[test]
fn a_bound_told_while_the_search_runs_lies_below_the_complete_front() {
    let sizes = Sizes { rows: 60, splits: 10, actions: 26, depth: 3 };
    let mut told = 0;
    for seed in 0..30 {
        let problem = Problem::new(draw(seed, &sizes)).unwrap();
        let (outcome, watcher) = watched(&problem, usize::MAX, true);
        let bounds = watcher.bounds.into_inner().unwrap();
        assert!(bounds.len() <= 1, "seed {seed}");
        for bound in &bounds {
            for point in points(&outcome) {
                let covered = bound.iter().any(|b| b.cost <= point.cost && b.loss <= point.loss);
                assert!(covered, "seed {seed}: {point:?} lies below the bound");
            }
        }
        told += bounds.len();
    }
    assert!(told > 0, "no search told a bound");
}

#[test]
fn a_cancelled_search_is_never_called_complete() {
    let mut parts = draw_unweighted(7, &Sizes { rows: 40, splits: 6, actions: 12, depth: 3 });
    parts.splits = vec![RowSet::from_fn(parts.rows, |row| row % 2 == 0)];
    parts.limits = Limits { max_depth: 1, max_leaves: 2, min_leaf: 1 };
    let problem = Problem::new(parts).unwrap();
    let token = CancelToken::new();
    token.cancel();
    let outcome = Solver::builder().pool(pool(1)).cancel(token).build().unwrap().solve(&problem, &());
    assert_eq!(outcome.status, SearchStatus::Cancelled);
    assert!(!outcome.front.is_empty());
}

fn solve_with(problem: &Problem, switches: Switches, threads: usize) -> Outcome {
    Solver::builder().pool(pool(threads)).switches(switches).build().unwrap().solve(problem, &())
}

/// Every combination of the switches.
fn all_switches() -> Vec<Switches> {
    let mut all = Vec::new();
    for kernel in [Kernel::Portable, Kernel::Avx2, Kernel::Avx512] {
        for compact_rows in [CompactRows::Never, CompactRows::WhereItPays, CompactRows::Always] {
            for bits in 0..128 {
                let [merge, reduce, bounds, warm_start, memo, boxed, held] =
                    [0, 1, 2, 3, 4, 5, 6].map(|bit| bits >> bit & 1 == 1);
                let boxes = if boxed { BoxesOfActions::Always } else { BoxesOfActions::Never };
                let parts = if held { PartsOfActions::Always } else { PartsOfActions::Never };
                let switches = Switches {
                    kernel,
                    merge,
                    reduce,
                    bounds,
                    compact_rows,
                    boxes,
                    parts,
                    tiles: true,
                    warm_start,
                    memo,
                };
                all.push(switches);
            }
        }
    }
    all
}

/// The default with each switch set otherwise, alone; and with every two of them.
fn one_or_two_switches_off() -> Vec<Switches> {
    let changes: [fn(&mut Switches); 13] = [
        |s| s.kernel = Kernel::Portable,
        |s| s.kernel = Kernel::Avx2,
        |s| s.boxes = BoxesOfActions::Always,
        |s| s.boxes = BoxesOfActions::Never,
        |s| s.parts = PartsOfActions::Always,
        |s| s.merge = false,
        |s| s.reduce = false,
        |s| s.bounds = false,
        |s| s.compact_rows = CompactRows::Never,
        |s| s.compact_rows = CompactRows::Always,
        |s| s.tiles = false,
        |s| s.warm_start = false,
        |s| s.memo = false,
    ];
    let mut all = Vec::new();
    for i in 0..changes.len() {
        for j in i..changes.len() {
            let mut switches = Switches::default();
            changes[i](&mut switches);
            changes[j](&mut switches);
            all.push(switches);
        }
    }
    all
}

#[test]
fn no_combination_of_switches_changes_a_front_or_a_witness() {
    let sizes = Sizes { rows: 50, splits: 6, actions: 60, depth: 3 };
    campaign(10_000..10_100, |seed| {
        let problem = Problem::new(draw(seed, &sizes)).unwrap();
        let expected = solve(&problem, 1, usize::MAX);
        for switches in all_switches() {
            assert_eq!(solve_with(&problem, switches, 1).front, expected.front, "seed {seed}, {switches:?}");
        }
    });
}

#[test]
fn each_switch_and_every_two_off_equal_the_exhaustive_solver_on_2000_random_problems() {
    let sizes = Sizes { rows: 24, splits: 5, actions: 32, depth: 3 };
    let variants = one_or_two_switches_off();
    campaign(20_000..22_000, |seed| {
        let problem = Problem::new(draw(seed, &sizes)).unwrap();
        let expected = exhaustive::front(&problem);
        for &switches in &variants {
            assert_eq!(points(&solve_with(&problem, switches, 1)), expected, "seed {seed}, {switches:?}");
        }
    });
}

#[test]
fn larger_leaves_agree_with_and_without_bounds() {
    // More rows than the stairs have places: the coarse tests must stay sound.
    let sizes = Sizes { rows: 9000, splits: 4, actions: 60, depth: 2 };
    campaign(0..6, |seed| {
        let problem = Problem::new(draw(seed, &sizes)).unwrap();
        let fast = solve_with(&problem, Switches::default(), 2);
        for kernel in [Kernel::Portable, Kernel::Avx512] {
            let plain =
                Switches { bounds: false, compact_rows: CompactRows::Always, kernel, ..Switches::default() };
            assert_eq!(fast.front, solve_with(&problem, plain, 1).front, "seed {seed}");
        }
    });
}

#[test]
fn steps_of_features_in_boxes_equal_the_exhaustive_solver_on_2000_random_problems() {
    let always = Switches { boxes: BoxesOfActions::Always, ..Switches::default() };
    let variants = [
        always,
        Switches { kernel: Kernel::Portable, ..always },
        Switches { kernel: Kernel::Avx2, compact_rows: CompactRows::Always, ..always },
        Switches { reduce: false, ..always },
        Switches { warm_start: false, merge: false, ..always },
        Switches { boxes: BoxesOfActions::Never, ..always },
        Switches { parts: PartsOfActions::Always, ..always },
        Switches { parts: PartsOfActions::Always, boxes: BoxesOfActions::Never, ..always },
        Switches { bounds: false, ..always },
    ];
    campaign(0..2000, |seed| {
        let problem = Problem::new(draw_steps(seed, 40, 4, 3)).unwrap();
        let expected = exhaustive::front(&problem);
        let usual = solve(&problem, 1, usize::MAX);
        check(&problem, &usual, &expected, seed);
        for switches in variants {
            assert_eq!(solve_with(&problem, switches, 1).front, usual.front, "seed {seed}, {switches:?}");
        }
    });
}

#[test]
#[ignore = "a long campaign"]
fn actions_held_against_their_parts_leave_the_same_witnesses_on_6000_random_problems() {
    let sizes = Sizes { rows: 40, splits: 5, actions: 60, depth: 3 };
    campaign(30_000..36_000, |seed| {
        let parts = if seed % 2 == 0 { draw_steps(seed, 40, 4, 3) } else { draw(seed, &sizes) };
        let problem = Problem::new(parts).unwrap();
        let never = Switches { parts: PartsOfActions::Never, ..Switches::default() };
        let without = solve_with(&problem, never, 1);
        check(&problem, &without, &exhaustive::front(&problem), seed);
        for boxes in [BoxesOfActions::Never, BoxesOfActions::Always] {
            let always = Switches { parts: PartsOfActions::Always, boxes, ..never };
            assert_eq!(solve_with(&problem, always, 1).front, without.front, "seed {seed}, {boxes:?}");
        }
    });
}

#[test]
fn boxes_spare_most_actions_where_features_have_many_steps() {
    let (mut in_boxes, mut by_pairs, mut all) = (0, 0, 0);
    for seed in 0..20 {
        let mut parts = draw_steps(seed, 400, 6, 6);
        parts.limits = Limits { max_depth: 1, max_leaves: 2, min_leaf: 1 };
        let problem = Problem::new(parts).unwrap();
        let work = |boxes| {
            let outcome = solve_with(&problem, Switches { boxes, ..Switches::default() }, 1);
            (outcome.front, outcome.stats.leaf_work)
        };
        let (boxed, paired) = (work(BoxesOfActions::Always), work(BoxesOfActions::Never));
        assert_eq!(boxed.0, paired.0, "seed {seed}");
        in_boxes += boxed.1.losses;
        by_pairs += paired.1.losses;
        all += boxed.1.sets * problem.actions() as u64;
    }
    assert!(in_boxes < by_pairs && in_boxes * 10 < all, "{in_boxes} of {by_pairs} of {all}");
}

/// A random problem whose actions have nothing in common: a plain table of costs.
fn draw_plain(seed: u64, rows: u64, actions: u64) -> ProblemParts {
    let mut random = Random(seed);
    let mut parts = draw(seed, &Sizes { rows, splits: 5, actions: 1, depth: 3 });
    let edits = random.between(70, actions);
    let costs = random.between(2, 40);
    // Some actions are alike, as they are in practice.
    let kinds: Vec<Vec<u32>> =
        (0..5).map(|_| (0..parts.rows).map(|_| random.below(costs) as u32).collect()).collect();
    parts.edit_costs = (0..edits)
        .map(|edit| kinds[edit as usize % 5].iter().map(|cost| cost + random.below(3) as u32).collect())
        .collect();
    parts.actions = std::iter::once(vec![]).chain((0..edits as u32).map(|edit| vec![edit])).collect();
    let flipping = random.between(1, 9);
    let flips: Vec<RowSet> = (0..=edits)
        .map(|action| RowSet::from_fn(parts.rows, |_| action > 0 && random.below(10) < flipping))
        .collect();
    parts.flips = BitTable::from_sets(parts.rows, &flips);
    parts
}

#[test]
fn plain_tables_of_costs_equal_the_exhaustive_solver_with_and_without_clusters() {
    campaign(0..500, |seed| {
        let mut parts = draw_plain(seed, 30, 200);
        if seed % 3 == 0 {
            // Costs that are rounded down for quick sums.
            let factor = [40_000, 9_999_991, 50_000_017][seed as usize / 3 % 3];
            let costs = parts.edit_costs.iter_mut().flatten();
            costs.enumerate().for_each(|(at, cost)| *cost = *cost * factor + (at % 7) as u32);
        }
        let problem = Problem::new(parts).unwrap();
        let expected = exhaustive::front(&problem);
        let usual = solve(&problem, 2, usize::MAX);
        check(&problem, &usual, &expected, seed);
        for switches in one_or_two_switches_off() {
            assert_eq!(solve_with(&problem, switches, 1).front, usual.front, "seed {seed}, {switches:?}");
        }
    });
}

#[test]
fn a_plain_table_whose_every_action_is_better_than_those_before_gives_the_witnesses_of_clusters() {
    for (seed, actions) in [(1, 1500), (2, 3000)] {
        let mut parts = draw_plain(seed, 30, 100);
        parts.weights.clear();
        parts.limits = Limits { max_depth: 1, max_leaves: 2, min_leaf: 1 };
        parts.edit_costs = (0..actions).map(|action| vec![actions - action; parts.rows]).collect();
        parts.actions = std::iter::once(vec![]).chain((0..actions).map(|edit| vec![edit])).collect();
        let flips: Vec<RowSet> = (0..=actions)
            .map(|action| {
                RowSet::from_fn(parts.rows, |&row| action > 0 && !(row + action as usize).is_multiple_of(40))
            })
            .collect();
        parts.flips = BitTable::from_sets(parts.rows, &flips);
        let problem = Problem::new(parts).unwrap();
        let clusters = Switches { tiles: false, reduce: false, ..Switches::default() };
        let tiles = Switches { reduce: false, ..Switches::default() };
        let expected = solve_with(&problem, clusters, 1);
        check(&problem, &expected, &exhaustive::front(&problem), seed);
        assert_eq!(solve_with(&problem, tiles, 1).front, expected.front);
    }
}

#[test]
fn tiles_of_a_plain_table_give_the_witnesses_of_clusters() {
    // Leaves of all sizes: sums that fit and such that do not, sides of a split with and without the other one.
    campaign(0..150, |seed| {
        let rows = [40, 300, 700][seed as usize % 3];
        let mut parts = draw_plain(seed, rows, 400);
        let factor = [1, 50, 3_000, 9_999_991][seed as usize / 3 % 4];
        let costs = parts.edit_costs.iter_mut().flatten();
        costs
            .enumerate()
            .for_each(|(at, cost)| *cost = *cost * factor + (at % 7) as u32 * u32::from(factor > 1));
        parts.weights = Vec::new();
        let min_leaf = (1 + seed % 5).min(parts.rows as u64) as u32;
        parts.limits = Limits { max_depth: 3, max_leaves: 8, min_leaf };
        let problem = Problem::new(parts).unwrap();
        let clusters = solve_with(&problem, Switches { tiles: false, ..Switches::default() }, 1);
        for kernel in [Kernel::Portable, Kernel::Avx2, Kernel::Avx512] {
            for memo in [true, false] {
                let tiles = Switches { kernel, memo, merge: false, ..Switches::default() };
                assert_eq!(solve_with(&problem, tiles, 1).front, clusters.front, "seed {seed}, {tiles:?}");
            }
        }
    });
}

#[test]
fn clusters_of_a_plain_table_spare_most_actions() {
    // Twenty kinds of twenty actions each, alike in whom they flip; the later kinds cost more.
    let (rows, mut random) = (400, Random(5));
    let mut flips = vec![RowSet::empty(rows)];
    let mut edit_costs = Vec::new();
    for kind in 0..20 {
        let share = random.between(20, 80);
        let base: Vec<bool> = (0..rows).map(|_| random.below(100) < share).collect();
        for _ in 0..20 {
            flips.push(RowSet::from_fn(rows, |&row| base[row] != (random.below(100) < 2)));
            edit_costs.push((0..rows).map(|_| 20 * kind + random.below(20) as u32).collect());
        }
    }
    let problem = Problem::new(ProblemParts {
        rows,
        splits: (0..6).map(|split| RowSet::from_fn(rows, |row| row >> split & 1 == 1)).collect(),
        edit_costs,
        combine: Combine::Max,
        actions: std::iter::once(vec![]).chain((0..400).map(|edit| vec![edit])).collect(),
        flips: BitTable::from_sets(rows, &flips),
        weights: Vec::new(),
        limits: Limits { max_depth: 2, max_leaves: 4, min_leaf: 20 },
    })
    .unwrap();
    let usual = solve_with(&problem, Switches { tiles: false, ..Switches::default() }, 1);
    let (work, cells) = (usual.stats.leaf_work, usual.stats.leaf_work.sets * problem.actions() as u64);
    assert!(work.losses < cells * 2 / 3 && work.costs < cells / 4, "{work:?} of {cells}");
    let plain = solve_with(&problem, Switches { bounds: false, ..Switches::default() }, 1);
    assert_eq!(usual.front, plain.front);
}

#[test]
fn totals_over_a_set_are_sums_over_its_rows() {
    let sizes = Sizes { rows: 150, splits: 3, actions: 60, depth: 1 };
    campaign(0..100, |seed| {
        let problem = Problem::new(draw(seed, &sizes)).unwrap();
        let all = RowSet::full(problem.rows());
        for rows in (0..problem.splits()).map(|split| problem.split(split)).chain([&all]) {
            for action in 0..problem.actions() {
                let weighed = |row: usize| u64::from(problem.weight(row)) * problem.cost(action, row);
                let cost: u64 = rows.iter().map(weighed).sum();
                let flipping = rows.iter().filter(|&row| problem.flips(action, row));
                let flipped = flipping.map(|row| u64::from(problem.weight(row))).sum::<u64>();
                assert_eq!(problem.cost_over(action, rows), cost, "seed {seed}");
                assert_eq!(problem.flipped_among(action, rows), flipped, "seed {seed}");
            }
        }
    });
}

#[test]
fn the_individual_bound_is_the_cheapest_flip_of_every_row() {
    let sizes = Sizes { rows: 150, splits: 1, actions: 60, depth: 1 };
    campaign(0..100, |seed| {
        let problem = Problem::new(draw(seed, &sizes)).unwrap();
        let plain: Vec<Option<u64>> = (0..problem.rows())
            .map(|row| {
                let flipping = (0..problem.actions()).filter(|&action| problem.flips(action, row));
                flipping.map(|action| problem.cost(action, row)).min()
            })
            .collect();
        assert_eq!(sogar_solver::bound::cheapest_flips(&problem), plain, "seed {seed}");
        let leaves = GroupedLeaves::new(&problem, Switches::default());
        for (quick, exact) in leaves.cheapest_at_least().iter().zip(&plain) {
            match (quick, exact) {
                (Some(quick), Some(exact)) => assert!(quick <= exact, "seed {seed}"),
                (quick, exact) => assert_eq!(quick.is_some(), exact.is_some(), "seed {seed}"),
            }
        }
    });
}

#[test]
fn large_costs_with_and_without_room_in_32_bits_equal_the_exhaustive_solver() {
    // Beyond 15 bits costs are kept in longer columns; beyond 32 bits of total the quick tests drop low bits.
    let sizes = Sizes { rows: 24, splits: 5, actions: 32, depth: 2 };
    campaign(30_000..30_400, |seed| {
        for factor in [5_000, 300_000_000] {
            let mut parts = draw_unweighted(seed, &sizes);
            for (edit, column) in parts.edit_costs.iter_mut().enumerate() {
                for (row, cost) in column.iter_mut().enumerate() {
                    *cost = *cost * factor + ((row * 7 + edit * 13) % 5) as u32;
                }
            }
            let problem = Problem::new(parts).unwrap();
            let expected = exhaustive::front(&problem);
            for kernel in [Kernel::Portable, Kernel::Avx2, Kernel::Avx512] {
                for compact_rows in [CompactRows::Never, CompactRows::Always] {
                    let switches = Switches { kernel, compact_rows, ..Switches::default() };
                    let outcome = solve_with(&problem, switches, 1);
                    check(&problem, &outcome, &expected, seed);
                }
            }
        }
    });
}

#[test]
fn a_search_ends_at_once_if_no_action_flips_anybody() {
    let sizes = Sizes { rows: 60, splits: 40, actions: 64, depth: 4 };
    for seed in 0..20 {
        let mut parts = draw(seed, &sizes);
        parts.flips = BitTable::new(parts.actions.len(), parts.rows);
        let problem = Problem::new(parts).unwrap();
        let outcome = solve(&problem, 1, usize::MAX);
        let no_change = Point { cost: 0, loss: problem.size() as u64 };
        check(&problem, &outcome, &[no_change], seed);
        assert_eq!(outcome.stats.leaf_sets, 1, "seed {seed}: only all rows were looked at");
    }
}
