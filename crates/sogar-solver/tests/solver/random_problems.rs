//! Small random problems, reproducible from a seed.

#![allow(dead_code)] // each test file uses some of them

use sogar_solver::{Actions, BitTable, Combine, Limits, ProblemParts, RowSet};

pub use sogar_testing::Random;

/// Sizes of the problems to draw.
pub struct Sizes {
    pub rows: u64,
    pub splits: u64,
    pub actions: usize,
    pub depth: u64,
}

/// A random problem; few distinct costs, so that ties are common.
pub fn draw(seed: u64, sizes: &Sizes) -> ProblemParts {
    let mut random = Random(seed);
    let rows = random.between(1, sizes.rows) as usize;
    let density = random.between(1, 9);
    let splits = (0..random.below(sizes.splits + 1))
        .map(|_| RowSet::from_fn(rows, |_| random.below(10) < density))
        .collect();
    let edits = random.between(1, 5);
    let costs = random.between(1, 12);
    let mut edit_costs: Vec<Vec<u32>> =
        (0..edits).map(|_| (0..rows).map(|_| random.below(costs) as u32).collect()).collect();
    if random.below(2) == 0 {
        // Edits that cost every row at least as much as the one before, as larger steps of a feature do.
        for edit in 1..edit_costs.len() {
            let (before, rest) = edit_costs.split_at_mut(edit);
            rest[0].iter_mut().zip(&before[edit - 1]).for_each(|(own, before)| *own = (*own).max(*before));
        }
    }
    let lists = if random.below(2) == 0 {
        all_sets(&mut random, edits, sizes)
    } else {
        some_sets(&mut random, edits, sizes)
    };
    let flipping = random.between(1, 9);
    let useless = random.below(10);
    let mut flips: Vec<RowSet> = Vec::with_capacity(lists.len());
    for list in &lists {
        let own = match list.len() {
            0 => RowSet::empty(rows),
            _ => RowSet::from_fn(rows, |_| random.below(10) < flipping),
        };
        // Some actions flip nobody whom an earlier one does not flip, too.
        let earlier = random.below(flips.len().max(1) as u64) as usize;
        let nothing_new = random.below(10) < useless;
        flips.push(match flips.get(earlier) {
            Some(earlier) if nothing_new => own.and(earlier),
            _ => own,
        });
    }
    let max_depth = random.below(sizes.depth + 1) as u32;
    let mut parts = ProblemParts {
        rows,
        splits,
        edit_costs,
        combine: if random.below(2) == 0 { Combine::Max } else { Combine::Sum },
        flips: BitTable::from_sets(rows, &flips),
        actions: lists.into_iter().collect::<Actions>(),
        weights: Vec::new(),
        limits: Limits {
            max_depth,
            max_leaves: random.between(1, 1 << max_depth) as u32,
            min_leaf: random.between(1, (rows as u64 / 3).max(1)) as u32,
        },
    };
    if random.below(3) == 0 {
        // Rows that nothing tells apart.
        let kinds = random.between(1, rows as u64);
        let like: Vec<usize> = (0..rows).map(|_| random.below(kinds) as usize).collect();
        parts = with_rows(&parts, &like);
    }
    if random.below(3) == 0 {
        // Rows that count more than once; now and then so much more that losses are in the hundred thousands.
        let (most, times) = (random.between(1, 6), if random.below(8) == 0 { 60_000 } else { 1 });
        parts.weights = (0..rows).map(|_| (random.between(1, most) * times) as u32).collect();
        parts.limits.min_leaf *= random.between(times, most * times).min(2 * times) as u32;
        let total: u32 = parts.weights.iter().sum();
        parts.limits.min_leaf = parts.limits.min_leaf.min(total);
    }
    parts
}

/// Features with some steps to either side, costs that mostly grow with the step, and all sets of at most three edits of different features.
/// Ties are common; costs go up to 10^9.
pub fn draw_steps(seed: u64, rows: u64, features: u64, steps: u64) -> ProblemParts {
    let mut random = Random(seed ^ 0x5eed);
    let mut parts = draw(seed, &Sizes { rows, splits: 4, actions: 1, depth: 2 });
    let rows = parts.rows;
    let features = random.between(1, features);
    let factor = [1, 1, 3_000, 1_000_003, 50_000_017][random.below(5) as usize];
    let mut feature_of = Vec::new();
    let mut pushes: Vec<Vec<i64>> = Vec::new();
    parts.edit_costs.clear();
    for feature in 0..features {
        let ordered = random.below(4) > 0;
        for direction in [-1i64, 1] {
            let mut cost = vec![0u64; rows];
            let mut push = vec![0i64; rows];
            for _ in 0..random.between(0, steps) {
                for row in 0..rows {
                    cost[row] = if ordered { cost[row] + random.below(3) } else { random.below(6) };
                    push[row] += direction * (random.below(5) as i64 - 1);
                }
                feature_of.push(feature);
                let rounded =
                    |cost: u64| (cost * factor + u64::from(factor > 1) * (cost % 2)).min(1_000_000_000);
                parts.edit_costs.push(cost.iter().map(|&cost| rounded(cost) as u32).collect());
                pushes.push(push.clone());
            }
        }
    }
    let edits = feature_of.len() as u32;
    let other = |a: u32, b: u32| feature_of[a as usize] != feature_of[b as usize];
    let mut lists: Vec<Vec<u32>> = vec![vec![]];
    lists.extend((0..edits).map(|a| vec![a]));
    for a in 0..edits {
        lists.extend((a + 1..edits).filter(|&b| other(a, b)).map(|b| vec![a, b]));
    }
    for a in 0..edits {
        for b in (a + 1..edits).filter(|&b| other(a, b)) {
            lists.extend((b + 1..edits).filter(|&c| other(b, c)).map(|c| vec![a, b, c]));
        }
    }
    let missing: Vec<i64> = (0..rows).map(|_| random.between(1, 9) as i64).collect();
    let noise = random.below(2);
    let flips: Vec<RowSet> = lists
        .iter()
        .map(|list| {
            RowSet::from_fn(rows, |&row| {
                let pushed: i64 = list.iter().map(|&edit| pushes[edit as usize][row]).sum();
                !list.is_empty() && pushed + (noise * random.below(3)) as i64 >= missing[row]
            })
        })
        .collect();
    parts.flips = BitTable::from_sets(rows, &flips);
    parts.actions = lists.into_iter().collect();
    parts
}

/// A problem in which every row counts once.
pub fn draw_unweighted(seed: u64, sizes: &Sizes) -> ProblemParts {
    let mut parts = draw(seed, sizes);
    parts.weights.clear();
    parts.limits.min_leaf = parts.limits.min_leaf.min((parts.rows as u32 / 3).max(1));
    parts
}

/// The same problem with every row repeated as often as it counts, each by itself.
pub fn repeated(parts: &ProblemParts) -> ProblemParts {
    let rows: Vec<usize> = (0..parts.rows)
        .flat_map(|row| vec![row; parts.weights.get(row).copied().unwrap_or(1) as usize])
        .collect();
    ProblemParts { weights: Vec::new(), ..with_rows(parts, &rows) }
}

/// The problem with these of its rows, some perhaps more than once; weights stay behind.
fn with_rows(parts: &ProblemParts, rows: &[usize]) -> ProblemParts {
    let set =
        |words: &[u64]| RowSet::from_fn(rows.len(), |&at| words[rows[at] / 64] >> (rows[at] % 64) & 1 == 1);
    let flips: Vec<RowSet> = (0..parts.flips.sets()).map(|action| set(parts.flips.set(action))).collect();
    ProblemParts {
        rows: rows.len(),
        splits: parts.splits.iter().map(|split| set(split.words())).collect(),
        edit_costs: parts
            .edit_costs
            .iter()
            .map(|costs| rows.iter().map(|&row| costs[row]).collect())
            .collect(),
        flips: BitTable::from_sets(rows.len(), &flips),
        weights: Vec::new(),
        ..parts.clone()
    }
}

/// All sets of at most k edits on distinct features, as the pipeline makes them, as long as there are few enough.
fn all_sets(random: &mut Random, edits: u64, sizes: &Sizes) -> Vec<Vec<u32>> {
    let mut feature = vec![0u64; edits as usize];
    for edit in 1..feature.len() {
        feature[edit] = feature[edit - 1] + random.below(2);
    }
    let most = random.between(1, 4);
    let mut lists: Vec<Vec<u32>> = vec![vec![]];
    let mut level = lists.clone();
    for _ in 0..most {
        let mut next = Vec::new();
        for list in &level {
            for edit in list.last().map_or(0, |&e| e + 1)..edits as u32 {
                if list.iter().all(|&known| feature[known as usize] != feature[edit as usize]) {
                    next.push([list.as_slice(), &[edit]].concat());
                }
            }
        }
        if lists.len() + next.len() > sizes.actions {
            break;
        }
        lists.extend(next.iter().cloned());
        level = next;
    }
    lists
}

/// A random part of all sets of at most four edits, closed under dropping the last edit.
fn some_sets(random: &mut Random, edits: u64, sizes: &Sizes) -> Vec<Vec<u32>> {
    let mut lists: Vec<Vec<u32>> = vec![vec![]];
    let mut level = lists.clone();
    for _ in 0..4 {
        let mut next = Vec::new();
        for list in &level {
            for edit in list.last().map_or(0, |&e| e + 1)..edits as u32 {
                if random.below(4) > 0 {
                    next.push([list.as_slice(), &[edit]].concat());
                }
            }
        }
        lists.extend(next.iter().cloned());
        level = next;
    }
    lists.truncate(sizes.actions);
    lists
}
