//! Actions that are sets of edits on different features, and a model with main effects and interactions of two features.
//!
//! What an edit, and a pair of edits, adds to a row's score is worked out once, so that an action's outcome is a few additions per row.

use sogar_solver::{Actions, BitTable, Combine, ProblemParts, RowSet};

use super::{Options, Random};

/// A feature: a number with steps to either side, or a category.
struct Feature {
    /// Levels of a category; 0 for a number.
    levels: usize,
    /// Edits: shifts in steps, or the level that is set.
    edits: Vec<i32>,
    step: f64,
    /// What a value adds to the score: jumps at thresholds, or by level.
    jumps: Vec<(f64, f64)>,
    /// What it costs to go from level to level, as a share.
    prices: Vec<Vec<f64>>,
}

impl Feature {
    fn number(random: &mut Random, reach: i32) -> Feature {
        let sign = if random.below(2) == 0 { 1.0 } else { -1.0 };
        let strength = 20.0 + 160.0 * random.share() * random.share();
        let jumps =
            (0..8).map(|_| (random.normal(), strength * (if random.share() < 0.8 { sign } else { -sign })));
        Feature {
            levels: 0,
            jumps: jumps.collect(),
            edits: (-reach..=reach).filter(|&step| step != 0).collect(),
            step: 0.15 + 0.2 * random.share(),
            prices: Vec::new(),
        }
    }

    fn category(random: &mut Random, levels: usize) -> Feature {
        let strength = 100.0 + 250.0 * random.share();
        let shares: Vec<f64> = (0..levels).map(|_| 0.05 + 0.6 * random.share()).collect();
        let price = |from: usize, to: usize| if from == to { 0.0 } else { (shares[from] + shares[to]) / 2.0 };
        Feature {
            levels,
            jumps: (0..levels).map(|level| (level as f64, strength * random.normal() / 2.0)).collect(),
            edits: (0..levels as i32).collect(),
            step: 0.0,
            prices: (0..levels).map(|from| (0..levels).map(|to| price(from, to)).collect()).collect(),
        }
    }

    fn draw(&self, random: &mut Random, common: f64) -> f64 {
        match self.levels {
            0 => 0.5 * common + 0.85 * random.normal(),
            levels => (random.share() * random.share() * levels as f64).floor(),
        }
    }

    fn after(&self, value: f64, edit: i32) -> f64 {
        match self.levels {
            0 => (value + f64::from(edit) * self.step).clamp(-3.0, 3.0),
            _ => f64::from(edit),
        }
    }

    fn effect(&self, value: f64) -> f64 {
        match self.levels {
            0 => self.jumps.iter().filter(|jump| jump.0 < value).map(|jump| jump.1).sum(),
            _ => self.jumps[value as usize].1,
        }
    }

    fn cost(&self, kind: &str, from: f64, to: f64) -> f64 {
        let rank = |value: f64| 1.0 / (1.0 + (-1.7 * value).exp());
        match (self.levels, kind) {
            (0, "mps") => 12_000.0 * (rank(to) - rank(from)).abs(),
            (0, "cet") => 1e6 * ((1.0 - rank(to)) / (1.0 - rank(from))).ln().abs().min(6.0),
            (0, _) => 1e6 * (to - from).abs(),
            (_, "mps") => 12_000.0 * self.prices[from as usize][to as usize],
            _ => 1e6 * self.prices[from as usize][to as usize],
        }
    }
}

/// An interaction: added where both features are above a threshold (or, for categories, at a level).
struct Both {
    features: [usize; 2],
    above: [f64; 2],
    adds: f64,
}

pub fn problem(options: &Options) -> ProblemParts {
    let mut random = Random(options.seed);
    let (numbers, reach, categories, levels, rows, splits) = match options.shape.as_str() {
        "numeric24" => (24, 5, 0, 0, 6000, 150),
        "numeric12" => (12, 5, 0, 0, 4000, 72),
        "mixed" => (7, 4, 9, 5, 4000, 110),
        "demo" => (3, 3, 15, 5, 331, 109),
        "adult" => (5, 4, 8, 6, 20_000, 160),
        other => panic!("unknown shape {other}"),
    };
    let numbers = options.features.unwrap_or(numbers);
    let (rows, splits) = (options.rows.unwrap_or(rows), options.splits.unwrap_or(splits));
    let mut features: Vec<Feature> = (0..numbers).map(|_| Feature::number(&mut random, reach)).collect();
    features.extend((0..categories).map(|_| Feature::category(&mut random, levels)));
    let both: Vec<Both> = (0..3 * features.len())
        .map(|_| {
            let one = random.below(features.len() as u64) as usize;
            let other = (one + 1 + random.below(features.len() as u64 - 1) as usize) % features.len();
            let mut above = || random.normal() / 2.0;
            Both { features: [one, other], above: [above(), above()], adds: 150.0 * random.normal() }
        })
        .collect();
    let hit = |feature: usize, threshold: f64, value: f64| match features[feature].levels {
        0 => value > threshold,
        levels => value as usize == (threshold.abs() * 10.0) as usize % levels,
    };
    let score = |row: &[f64]| -> f64 {
        let alone: f64 = features.iter().zip(row).map(|(feature, &value)| feature.effect(value)).sum();
        let joint = both
            .iter()
            .filter(|both| (0..2).all(|i| hit(both.features[i], both.above[i], row[both.features[i]])));
        alone + joint.map(|both| both.adds).sum::<f64>()
    };
    let draw = |random: &mut Random| -> Vec<f64> {
        let common = random.normal();
        features.iter().map(|feature| feature.draw(random, common)).collect()
    };
    let mut sample: Vec<f64> = (0..2000).map(|_| score(&draw(&mut random))).collect();
    sample.sort_by(f64::total_cmp);
    let threshold = sample[900].round();
    let mut people: Vec<Vec<f64>> = Vec::with_capacity(rows);
    while people.len() < rows {
        let row = draw(&mut random);
        if score(&row) < threshold {
            people.push(row);
        }
    }
    // Like next to like, as the pipeline has it.
    people.sort_by(|a, b| score(a).total_cmp(&score(b)));
    let edits: Vec<(usize, i32)> = features
        .iter()
        .enumerate()
        .flat_map(|(at, feature)| feature.edits.iter().map(move |&edit| (at, edit)))
        .collect();
    let after = |row: &[f64], edit: (usize, i32)| features[edit.0].after(row[edit.0], edit.1);
    let whole = |score: f64| score.round().clamp(-30_000.0, 30_000.0) as i16;
    let base: Vec<i16> = people.iter().map(|row| whole(score(row) - threshold)).collect();
    // In whole numbers, so that sums have no order.
    let singles: Vec<Vec<i16>> = edits
        .iter()
        .map(|&edit| {
            let change = |row: &Vec<f64>| {
                let mut changed = row.clone();
                changed[edit.0] = after(row, edit);
                whole(score(&changed) - score(row)).clamp(-4000, 4000)
            };
            people.iter().map(change).collect()
        })
        .collect();
    let joint = |a: (usize, i32), b: (usize, i32)| -> Option<Vec<i16>> {
        let these: Vec<&Both> =
            both.iter().filter(|both| both.features == [a.0, b.0] || both.features == [b.0, a.0]).collect();
        if these.is_empty() {
            return None;
        }
        let change = |row: &Vec<f64>| -> i16 {
            let mut sum = 0.0;
            for both in &these {
                let at = |feature: usize, threshold: f64| {
                    let edit = if feature == a.0 { a } else { b };
                    let (before, then) = (row[feature], after(row, edit));
                    f64::from(u8::from(hit(feature, threshold, then)))
                        - f64::from(u8::from(hit(feature, threshold, before)))
                };
                sum += both.adds * at(both.features[0], both.above[0]) * at(both.features[1], both.above[1]);
            }
            whole(sum).clamp(-2000, 2000)
        };
        Some(people.iter().map(change).collect())
    };
    let mut pairs: Vec<Option<Vec<i16>>> = vec![None; edits.len() * edits.len()];
    for a in 0..edits.len() {
        for b in a + 1..edits.len() {
            pairs[a * edits.len() + b] = joint(edits[a], edits[b]);
        }
    }
    let mut actions = Actions::default();
    actions.push(&[]);
    let n = edits.len() as u32;
    let feature = |edit: u32| edits[edit as usize].0;
    (0..n).for_each(|a| actions.push(&[a]));
    for a in 0..n {
        (a + 1..n).filter(|&b| feature(a) != feature(b)).for_each(|b| actions.push(&[a, b]));
    }
    for a in 0..n {
        for b in (a + 1..n).filter(|&b| feature(a) != feature(b)) {
            (b + 1..n).filter(|&c| feature(b) != feature(c)).for_each(|c| actions.push(&[a, b, c]));
        }
    }
    let mut flips = BitTable::new(actions.len(), rows);
    for (action, list) in actions.iter().enumerate().skip(1) {
        let mut columns: Vec<&[i16]> = vec![&base];
        columns.extend(list.iter().map(|&edit| singles[edit as usize].as_slice()));
        for (i, &a) in list.iter().enumerate() {
            let with = |&b: &u32| pairs[a as usize * edits.len() + b as usize].as_deref();
            columns.extend(list[i + 1..].iter().filter_map(with));
        }
        outcomes(&columns, flips.set_mut(action));
    }
    let mut split_sets = Vec::new();
    let each = splits.div_ceil(features.len());
    for (at, feature) in features.iter().enumerate() {
        let mut values: Vec<f64> = people.iter().map(|row| row[at]).collect();
        values.sort_by(f64::total_cmp);
        for cut in 1..=each {
            let set = match feature.levels {
                0 => {
                    let threshold = values[rows * cut / (each + 1)];
                    RowSet::from_fn(rows, |&row| people[row][at] <= threshold)
                }
                levels => RowSet::from_fn(rows, |&row| people[row][at] as usize == cut % levels),
            };
            split_sets.push(set);
        }
    }
    split_sets.truncate(splits);
    let edit_costs = edits
        .iter()
        .map(|&edit| {
            let cost = |row: &Vec<f64>| {
                let cost = features[edit.0].cost(&options.cost, row[edit.0], after(row, edit));
                (cost.round() as u64 * options.scale) as u32
            };
            people.iter().map(cost).collect()
        })
        .collect();
    ProblemParts {
        rows,
        splits: split_sets,
        edit_costs,
        combine: if options.cost == "l1" { Combine::Sum } else { Combine::Max },
        actions,
        flips,
        weights: Vec::new(),
        limits: options.limits(rows),
    }
}

/// The rows whose sums are not negative.
fn outcomes(columns: &[&[i16]], flips: &mut [u64]) {
    let mut sums = [0i16; 64];
    for (word, flips) in flips.iter_mut().enumerate() {
        let start = word * 64;
        let length = (columns[0].len() - start).min(64);
        sums.fill(-1);
        sums[..length].copy_from_slice(&columns[0][start..start + length]);
        for column in &columns[1..] {
            sums[..length]
                .iter_mut()
                .zip(&column[start..start + length])
                .for_each(|(sum, more)| *sum += more);
        }
        *flips = signs(&sums);
    }
}

#[cfg(target_arch = "x86_64")]
fn signs(sums: &[i16; 64]) -> u64 {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16};
    (0..4).fold(0, |bits, i| {
        // SAFETY: SSE2 is part of x86-64, and 16 numbers from 16·i on are inside the array.
        let negative = unsafe {
            let low = _mm_loadu_si128(sums.as_ptr().add(16 * i).cast());
            let high = _mm_loadu_si128(sums.as_ptr().add(16 * i + 8).cast());
            _mm_movemask_epi8(_mm_packs_epi16(low, high))
        };
        bits | u64::from(!(negative as u16)) << (16 * i)
    })
}

#[cfg(not(target_arch = "x86_64"))]
fn signs(sums: &[i16; 64]) -> u64 {
    (0..64).fold(0, |bits, i| bits | u64::from(sums[i] >= 0) << i)
}
