//! The kernels against the CPU's leaf evaluation, on whatever adapter there is (Mesa's software adapter will do).

#![allow(clippy::unwrap_used, clippy::print_stderr)] // a panic is the report, and a skipped test says so

use std::sync::Mutex;
use std::time::Duration;

use crate::random_problems::{Random, Sizes, draw};
use sogar_gpu::{AdapterKind, Fault, Gpu, Injected, LeafKernels, Options, Use, Verdict};
use sogar_solver::leaf::{GroupedLeaves, LeafBackend, LeafEvaluation, LeafRequest};
use sogar_solver::{
    Actions, BitTable, CancelToken, Combine, Limits, Outcome, Problem, ProblemParts, RowSet, SearchStatus,
    Solver, Stop, StopReason, Switches,
};

const MEMORY: u64 = 1 << 30;

/// An adapter, or a loud word that there is none.
fn gpu(options: Options) -> Option<Gpu> {
    match Gpu::open(options) {
        Ok(gpu) => Some(gpu),
        Err(fault) => {
            sogar_testing::skipped(
                "gpu",
                &format!("{fault}; scripts/lavapipe.sh installs a software adapter"),
            );
            None
        }
    }
}

fn solver() -> Solver {
    Solver::builder().threads(2).build().unwrap()
}

/// The outcome on the device, with what went wrong and what was found out about it.
fn on(gpu: &Gpu, problem: &Problem, solver: &Solver) -> (Outcome, Vec<Fault>, Verdict) {
    let faults = Mutex::new(Vec::new());
    let on_fault = |fault: &Fault| faults.lock().unwrap().push(fault.clone());
    let kernels = match LeafKernels::new(gpu, Use::Always, MEMORY, &on_fault) {
        Ok(kernels) => kernels,
        Err(fault) => return (solver.solve(problem, &()), vec![fault], Verdict::Faulty),
    };
    let outcome = solver.solve_with(problem, &(), Some(&kernels), &());
    let verdict = kernels.verdict();
    drop(kernels);
    (outcome, faults.into_inner().unwrap(), verdict)
}

fn assert_same_front(gpu: &Gpu, problem: &Problem, what: &str) {
    let cpu = solver().solve(problem, &());
    let (found, faults, verdict) = on(gpu, problem, &solver());
    assert_eq!((faults, verdict), (vec![], Verdict::Used { compared: None }), "{what}");
    assert_eq!((found.front, found.status, found.bound), (cpu.front, cpu.status, cpu.bound), "{what}");
}

/// Sets of at most three of `edits` edits, costs up to `max_cost`, some rows with weights.
fn larger(seed: u64, rows: usize, edits: u32, max_cost: u64, weighted: bool) -> ProblemParts {
    let mut random = Random(seed);
    let mut actions = Actions::default();
    actions.push(&[]);
    (0..edits).for_each(|a| actions.push(&[a]));
    (0..edits).for_each(|a| (a + 1..edits).for_each(|b| actions.push(&[a, b])));
    for a in 0..edits {
        (a + 1..edits).for_each(|b| (b + 1..edits).for_each(|c| actions.push(&[a, b, c])));
    }
    let mut flips = BitTable::new(actions.len(), rows);
    for action in 1..actions.len() {
        let words = flips.set_mut(action);
        for row in 0..rows {
            words[row / 64] |= u64::from(random.below(12) < actions.get(action).len() as u64) << (row % 64);
        }
    }
    ProblemParts {
        rows,
        splits: (0..8).map(|_| RowSet::from_fn(rows, |_| random.below(3) > 0)).collect(),
        edit_costs: (0..edits)
            .map(|edit| {
                (0..rows)
                    .map(|_| random.below(max_cost * u64::from(edit + 1) / u64::from(edits)) as u32)
                    .collect()
            })
            .collect(),
        combine: if seed.is_multiple_of(2) { Combine::Max } else { Combine::Sum },
        actions,
        flips,
        weights: match weighted {
            true => (0..rows).map(|_| random.between(1, 3000) as u32).collect(),
            false => Vec::new(),
        },
        limits: Limits { max_depth: 2, max_leaves: 4, min_leaf: rows as u32 / 20 + 1 },
    }
}

#[test]
fn fronts_of_random_problems_are_those_of_the_cpu() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let sizes = Sizes { rows: 150, splits: 6, actions: 60, depth: 3 };
    for seed in 0..60 {
        let problem = Problem::new(draw(seed, &sizes)).unwrap();
        assert_same_front(&gpu, &problem, &format!("seed {seed}"));
    }
}

#[test]
fn larger_shapes_weights_and_sums_of_64_bits() {
    let Some(gpu) = gpu(Options::default()) else { return };
    for (seed, rows, edits, max_cost, weighted) in [
        (1, 700, 12, 50, false),
        (2, 1000, 10, 4_000_000_000, false),
        (3, 333, 14, 4_000_000_000, true),
        (4, 2049, 6, 9, true),
    ] {
        let problem = Problem::new(larger(seed, rows, edits, max_cost, weighted)).unwrap();
        assert_same_front(&gpu, &problem, &format!("seed {seed}"));
    }
}

#[test]
fn small_buffers_cut_the_work_without_changing_it() {
    for largest in [3000, 6000, 20_000, 100_000] {
        let Some(gpu) = gpu(Options { largest: Some(largest), ..Options::default() }) else { return };
        let problem = Problem::new(larger(5, 130, 9, 100, false)).unwrap();
        let cpu = solver().solve(&problem, &());
        let (found, faults, _) = on(&gpu, &problem, &solver());
        // What does not fit even so is left to the CPU, and said.
        assert!(faults.iter().all(|fault| matches!(fault, Fault::TooSmall(_))), "{largest}: {faults:?}");
        assert!(largest < 6000 || faults.is_empty(), "{largest}: {faults:?}");
        assert_eq!(found.front, cpu.front, "{largest}");
    }
}

/// Costs without structure: every action is one edit of its own.
#[test]
fn plain_tables_of_costs() {
    let mut random = Random(7);
    let (rows, count) = (200, 300);
    let problem = Problem::new(ProblemParts {
        rows,
        splits: (0..5).map(|_| RowSet::from_fn(rows, |_| random.below(2) > 0)).collect(),
        edit_costs: (0..count).map(|_| (0..rows).map(|_| random.below(99) as u32).collect()).collect(),
        combine: Combine::Max,
        actions: std::iter::once(vec![]).chain((0..count).map(|edit| vec![edit])).collect(),
        flips: BitTable::from_sets(
            rows,
            &std::iter::once(RowSet::empty(rows))
                .chain((0..count).map(|_| RowSet::from_fn(rows, |_| random.below(3) == 0)))
                .collect::<Vec<_>>(),
        ),
        weights: Vec::new(),
        limits: Limits { max_depth: 2, max_leaves: 3, min_leaf: 10 },
    })
    .unwrap();
    for largest in [None, Some(50_000)] {
        let Some(gpu) = gpu(Options { largest, ..Options::default() }) else { return };
        assert_same_front(&gpu, &problem, &format!("{largest:?}"));
    }
}

#[test]
fn leaf_fronts_are_those_of_the_cpu_whatever_is_known_before() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let problem = Problem::new(larger(8, 500, 11, 1000, false)).unwrap();
    let grouped = GroupedLeaves::new(&problem, Switches::default());
    let on_fault = |fault: &Fault| panic!("{fault}");
    let kernels = LeafKernels::new(&gpu, Use::Always, MEMORY, &on_fault).unwrap();
    let leaves = kernels.leaves(&problem, &grouped);
    let mut random = Random(9);
    let sets: Vec<RowSet> = (0..100)
        .map(|_| {
            let density = random.between(1, 9);
            RowSet::from_fn(500, |&row| row == 3 || random.below(10) < density)
        })
        .collect();
    let warm: Vec<u32> = (0..problem.actions() as u32).step_by(7).collect();
    for warm in [&[][..], &warm] {
        let requests: Vec<LeafRequest<'_>> =
            sets.iter().map(|set| LeafRequest { set, sides: &[], warm }).collect();
        let all = RowSet::full(500);
        let stop = Stop::default();
        let found = leaves.among(&all).leaf_fronts(&requests, &stop).unwrap();
        let again = leaves.among(&all).leaf_fronts(&requests, &stop).unwrap();
        let expected = grouped.among(&all).leaf_fronts(&requests, &stop).unwrap();
        assert!(found == expected && again == expected);
    }
}

#[test]
fn every_fault_ends_with_the_cpus_front_and_is_told_once() {
    let problem = Problem::new(larger(10, 300, 9, 100, false)).unwrap();
    let cpu = solver().solve(&problem, &());
    for inject in [
        Injected::TooSmall,
        Injected::Shader,
        Injected::OutOfMemory,
        Injected::Lost { after: 0 },
        Injected::Lost { after: 2 },
        Injected::Lost { after: 4 },
        Injected::Wrong,
    ] {
        let Some(gpu) = gpu(Options { inject: Some(inject), ..Options::default() }) else { return };
        let (found, faults, verdict) = on(&gpu, &problem, &solver());
        assert_eq!(found.front, cpu.front, "{inject:?}");
        let as_injected = match inject {
            Injected::TooSmall => matches!(faults[..], [Fault::TooSmall(_)]),
            Injected::Shader => matches!(faults[..], [Fault::Shader(_)]),
            Injected::OutOfMemory => matches!(faults[..], [Fault::OutOfMemory(_)]),
            Injected::Wrong => matches!(faults[..], [Fault::Wrong]),
            _ => matches!(faults[..], [Fault::Lost(_)]),
        };
        assert!(as_injected, "{inject:?}: {faults:?}");
        assert_eq!(verdict, Verdict::Faulty);
    }
    let none = Gpu::open(Options { inject: Some(Injected::NoAdapter), ..Options::default() });
    assert_eq!(none.err(), Some(Fault::NoAdapter));
}

#[test]
fn a_number_that_no_adapter_has() {
    let opened = Gpu::open(Options { adapter: Some(1000), ..Options::default() });
    assert!(matches!(opened.err(), Some(Fault::NoSuchAdapter { wanted: 1000, .. } | Fault::NoAdapter)));
}

#[test]
fn cancelling_and_deadlines_are_heeded_and_leave_a_valid_front() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let problem = Problem::new(larger(12, 900, 12, 1000, false)).unwrap();
    let cancel = CancelToken::new();
    cancel.cancel();
    let cancelled = Solver::builder().threads(2).cancel(cancel).build().unwrap();
    let limited = Solver::builder().threads(2).time_limit(Some(Duration::from_millis(1))).build().unwrap();
    for (solver, status) in [(cancelled, SearchStatus::Cancelled), (limited, SearchStatus::TimeLimit)] {
        let (found, faults, _) = on(&gpu, &problem, &solver);
        assert_eq!((found.status, faults), (status, vec![]));
        assert!(!found.front.is_empty());
        for solution in &found.front {
            let (point, _) = sogar_solver::exhaustive::apply(&problem, &solution.tree);
            assert_eq!((point.cost, point.loss), (solution.cost, solution.loss));
        }
    }
    let grouped = GroupedLeaves::new(&problem, Switches::default());
    let on_fault = |fault: &Fault| panic!("{fault}");
    let kernels = LeafKernels::new(&gpu, Use::Always, MEMORY, &on_fault).unwrap();
    let leaves = kernels.leaves(&problem, &grouped);
    let all = RowSet::full(900);
    let context = leaves.among(&all);
    let request = LeafRequest { set: &all, sides: &[], warm: &[] };
    context.leaf_fronts(&[request], &Stop::default()).unwrap();
    let stop = Stop::default();
    stop.cancel.cancel();
    assert_eq!(context.leaf_fronts(&[request; 50], &stop), Err(StopReason::Cancelled));
}

#[test]
fn a_device_that_is_slower_is_not_chosen() {
    let Some(gpu) = gpu(Options::default()) else { return };
    let problem = Problem::new(larger(13, 200, 8, 100, false)).unwrap();
    let on_fault = |fault: &Fault| panic!("{fault}");
    // Nothing is as fast as a million threads.
    let kernels = LeafKernels::new(&gpu, Use::IfFaster { threads: 1_000_000 }, MEMORY, &on_fault).unwrap();
    let found = Solver::builder().threads(1).build().unwrap().solve_with(&problem, &(), Some(&kernels), &());
    assert_eq!(found.front, solver().solve(&problem, &()).front);
    assert!(!matches!(kernels.verdict(), Verdict::Used { .. } | Verdict::Faulty));
}

/// Mesa's software adapter ends long loops early (`device.rs`): what it would cut short is not asked of it.
#[test]
fn loops_that_would_be_cut_short_are_left_to_the_cpu() {
    let Some(gpu) = gpu(Options::default()) else { return };
    for (rows, fits) in [(12_800, true), (13_000, false)] {
        let edits = 3;
        let mut lists: Vec<Vec<u32>> =
            (0..1u32 << edits).map(|set| (0..edits).filter(|edit| set >> edit & 1 == 1).collect()).collect();
        lists.sort_by_key(|list| (list.len(), list.clone()));
        let flips = |list: &Vec<u32>| match list.len() {
            3 => RowSet::full(rows),
            _ => RowSet::empty(rows),
        };
        let problem = Problem::new(ProblemParts {
            rows,
            splits: vec![RowSet::from_fn(rows, |&row| row % 2 == 0)],
            // Different rows, so that none are merged.
            edit_costs: (0..edits).map(|edit| (0..rows as u32).map(|row| row + edit).collect()).collect(),
            combine: Combine::Max,
            actions: lists.iter().cloned().collect(),
            flips: BitTable::from_sets(rows, &lists.iter().map(flips).collect::<Vec<_>>()),
            weights: Vec::new(),
            limits: Limits { max_depth: 1, max_leaves: 2, min_leaf: 10 },
        })
        .unwrap();
        let (found, faults, _) = on(&gpu, &problem, &solver());
        assert_eq!(found.front, solver().solve(&problem, &()).front, "{rows} rows");
        let refused = matches!(faults[..], [Fault::TooSmall(_)]);
        let in_software = gpu.adapter().kind == AdapterKind::Software;
        assert_eq!(refused, in_software && !fits, "{rows} rows: {faults:?}");
        assert!(refused || faults.is_empty(), "{rows} rows: {faults:?}");
    }
}
