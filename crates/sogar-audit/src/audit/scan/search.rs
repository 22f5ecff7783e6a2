//! The conjunction with the largest studentised gap, exactly, on the people as they are and on many shuffles of them at once.
//!
//! **The statistic.** People `i` have weights `w` (1 unless the table has weights) and values `v`. For a set `T` of them let
//! `D = Σ over T of w·(v − mean)`, the weighted deviation from everyone's mean. If values are shuffled among people, `D` has mean
//! 0 and variance `s²·q` with `s²` the variance of all values (n − 1) and `q = Q(1 − 2W/W₀) + (W/W₀)²Q₀`; `W` and `Q` are the sums
//! of `w` and `w²` over `T`, `W₀` and `Q₀` those over everyone. `z = D / (s·√q)` is the studentised gap: every subgroup, large or
//! small, has mean 0 and variance 1 under shuffling, so the largest is comparable across sizes. (Without weights `q` is
//! `n(N − n)/N`.)
//!
//! **All pairs at once.** For two columns, one pass over people adds their values to the cells of a table of codes × codes; after
//! prefix sums in both directions the sum over any two conditions, which are ranges of codes, takes four cells. Every cell holds
//! [`LANES`] numbers, one per shuffle: a pass over the people serves that many full scans. Only conjunctions of three and more
//! terms enumerate their first terms.
//!
//! **The bound.** Let `T ⊆ S`, and let values be shifted so that the smallest is 0, the largest `h` and the mean `m`. By convexity
//! `max(v − m, 0) ≤ v·(1 − m/h)`, so `D(T) ≤ (1 − m/h)·Σ over S of w·v =: P`; also `D(T) ≤ W(T)·(h − m)`. With `w ≥ u`,
//! `q(T) ≥ u·W(T)·(W₀ − W(T))/W₀`, because both parts of `q(T) = Σ over T of w²·(1 − W/W₀)² + Σ outside of w²·(W/W₀)²` are at least
//! that with `u·w` for `w²`. So `z(T)` is at most `min(P, t·(h − m)) / (s·√(u·t·(W₀ − t)/W₀))` for `t = W(T)`: the first part of the
//! minimum falls in `t` up to `W₀/2` and then rises, the second rises throughout. Over the admissible `t`, from the smallest size
//! to `W(S)`, the largest value is at `t* = P/(h − m)`, moved into that range, or at `W(S)`. A first term whose bound exceeds no
//! lane's best has no better extension. A test compares with the bound switched off, and with plain enumeration.

use std::ops::Range;

use sogar_solver::CancelToken;

/// Shuffles that are scanned together.
pub(super) const LANES: usize = 32;

/// The rank list keeps this many conjunctions; those that repeat a better one are dropped from it later.
const KEPT: usize = 400;

/// A condition of a conjunction: the positions of a column and of one of its conditions.
pub(super) type TermRef = (usize, usize);

/// One column of the scanned people.
pub(super) struct ScanColumn {
    /// The level of each person.
    pub codes: Vec<u32>,
    /// Number of codes.
    pub levels: usize,
    /// Conditions as ranges of codes.
    pub conditions: Vec<Range<u32>>,
}

/// Who is scanned, and for what.
pub(super) struct Plan {
    pub columns: Vec<ScanColumn>,
    /// The value of each person, a whole number; the smallest is 0.
    pub values: Vec<u64>,
    /// The weight of each person, at least 1.
    pub weights: Vec<u64>,
    /// The smallest weight of a subgroup, and of everyone else.
    pub least: u64,
    pub max_terms: usize,
    /// Whether to use the bound; only tests do without.
    pub bounded: bool,
}

/// A conjunction with its studentised gap.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Candidate {
    pub z: f64,
    pub terms: Vec<TermRef>,
}

/// The results of one block of lanes.
pub(super) struct Found {
    /// The largest studentised gap per lane; `-∞` if no conjunction is large enough.
    pub best: [f64; LANES],
    /// The best conjunctions of the first lane, best first.
    pub ranked: Vec<Candidate>,
    /// How many conjunctions were evaluated.
    pub evaluated: u64,
}

/// A whole number to add up in lanes: the narrowest that cannot overflow, which is a matter of speed.
pub(super) trait Number: Copy + Default + Send + Sync {
    fn of(value: u64) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn float(self) -> f64;
}

macro_rules! number {
    ($type:ty) => {
        impl Number for $type {
            fn of(value: u64) -> Self {
                value as $type
            }
            // Prefix sums wrap around and back: a sum over some people fits.
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            fn float(self) -> f64 {
                self as f64
            }
        }
    };
}
number!(i32);
number!(i64);

impl Plan {
    /// The largest sum of weighted values that a shuffle can have.
    pub fn largest_sum(&self) -> u128 {
        let highest = self.values.iter().copied().max().unwrap_or(0);
        self.weights.iter().map(|&weight| u128::from(weight) * u128::from(highest)).sum()
    }

    /// Scans lanes, each of which gives the person whose value every person gets. `None` if cancelled.
    pub fn scan<N: Number>(&self, lanes: &[Vec<u32>], ranked: bool, cancel: &CancelToken) -> Option<Found> {
        Block::<N>::new(self, lanes, ranked, cancel).run()
    }

    /// Who meets a conjunction.
    pub fn members(&self, terms: &[TermRef]) -> Vec<bool> {
        (0..self.values.len())
            .map(|person| {
                terms.iter().all(|&(column, condition)| {
                    let column = &self.columns[column];
                    column.conditions[condition].contains(&column.codes[person])
                })
            })
            .collect()
    }
}

/// The scan of some lanes.
struct Block<'a, N> {
    plan: &'a Plan,
    cancel: &'a CancelToken,
    ranked: bool,
    /// Weighted values, `LANES` for each person.
    products: Vec<[N; LANES]>,
    /// Per lane, the mean of everyone.
    mean: [f64; LANES],
    /// Weight of everyone, and its squares.
    whole: f64,
    whole_squares: f64,
    /// The smallest weight, the largest value, and the standard deviation of values.
    lightest: f64,
    highest: f64,
    deviation: f64,
    /// Lanes in use.
    lanes: usize,
    cells: Vec<[N; LANES]>,
    counts: Vec<(u64, f64)>,
    /// What a conjunction must attain to be ranked.
    cut: f64,
    found: Found,
}

impl<'a, N: Number> Block<'a, N> {
    fn new(plan: &'a Plan, lanes: &[Vec<u32>], ranked: bool, cancel: &'a CancelToken) -> Self {
        let people = plan.values.len();
        let mut products = vec![[N::default(); LANES]; people];
        for (lane, from) in lanes.iter().enumerate() {
            for (person, &from) in from.iter().enumerate() {
                products[person][lane] = N::of(plan.values[from as usize] * plan.weights[person]);
            }
        }
        let whole = plan.weights.iter().sum::<u64>() as f64;
        let mut totals = [0.0; LANES];
        for row in &products {
            totals.iter_mut().zip(row).for_each(|(total, value)| *total += value.float());
        }
        let values = || plan.values.iter().map(|&value| value as f64);
        let plain = values().sum::<f64>() / people as f64;
        let squares: f64 = values().map(|value| (value - plain) * (value - plain)).sum();
        Block {
            plan,
            cancel,
            ranked,
            products,
            mean: totals.map(|total| total / whole),
            whole,
            whole_squares: plan.weights.iter().map(|&weight| (weight as f64).powi(2)).sum(),
            lightest: plan.weights.iter().copied().min().unwrap_or(1) as f64,
            highest: plan.values.iter().copied().max().unwrap_or(0) as f64,
            deviation: (squares / (people as f64 - 1.0)).sqrt(),
            lanes: lanes.len(),
            cells: Vec::new(),
            counts: Vec::new(),
            cut: f64::NEG_INFINITY,
            found: Found { best: [f64::NEG_INFINITY; LANES], ranked: Vec::new(), evaluated: 0 },
        }
    }

    fn run(mut self) -> Option<Found> {
        if self.deviation > 0.0 {
            let everyone: Vec<u32> = (0..self.plan.values.len() as u32).collect();
            self.extend(&everyone, &mut Vec::new(), 0)?;
        }
        self.keep_the_best();
        Some(self.found)
    }

    /// Evaluates every conjunction that adds two terms to these (at the root, one or two).
    fn extend(&mut self, members: &[u32], terms: &mut Vec<TermRef>, start: usize) -> Option<()> {
        let plan = self.plan;
        let columns = plan.columns.len();
        for first in start..columns {
            if self.cancel.is_cancelled() {
                return None;
            }
            if terms.is_empty() {
                self.pair(members, terms, first, None);
            }
            if terms.len() + 2 <= plan.max_terms {
                for second in first + 1..columns {
                    self.pair(members, terms, first, Some(second));
                }
            }
        }
        if terms.len() + 3 > plan.max_terms {
            return Some(());
        }
        // A third term needs two more columns behind the first.
        for column in start..columns.saturating_sub(2) {
            for (condition, codes) in plan.columns[column].conditions.iter().enumerate() {
                let of_person = &plan.columns[column].codes;
                let inside: Vec<u32> = members
                    .iter()
                    .copied()
                    .filter(|&person| codes.contains(&of_person[person as usize]))
                    .collect();
                // A condition that everybody meets adds nothing.
                if inside.len() == members.len() || !self.is_promising(&inside) {
                    continue;
                }
                terms.push((column, condition));
                self.extend(&inside, terms, column + 1)?;
                terms.pop();
            }
        }
        Some(())
    }

    /// Whether a subset of these people may have a larger studentised gap than those found so far, in any lane.
    fn is_promising(&self, members: &[u32]) -> bool {
        let weight: u64 = members.iter().map(|&person| self.plan.weights[person as usize]).sum();
        if weight < self.plan.least {
            return false;
        }
        if !self.plan.bounded {
            return true;
        }
        let mut sums = [N::default(); LANES];
        for &person in members {
            add(&mut sums, &self.products[person as usize]);
        }
        let (least, most) = (self.plan.least as f64, weight as f64);
        (0..self.lanes).any(|lane| {
            let gain = self.highest - self.mean[lane];
            let positive = (1.0 - self.mean[lane] / self.highest) * sums[lane].float();
            let place = (positive / gain).clamp(least, most);
            let at = |t: f64| {
                let q = self.lightest * t * (self.whole - t) / self.whole;
                if q > 0.0 { positive.min(t * gain) / (self.deviation * q.sqrt()) } else { f64::INFINITY }
            };
            // Rounding must not rule out what is a hair better.
            let bound = at(place).max(at(most)) * (1.0 + 1e-9);
            bound.is_nan() || bound >= self.threshold(lane)
        })
    }

    /// What a conjunction must attain to matter in a lane.
    fn threshold(&self, lane: usize) -> f64 {
        if lane == 0 && self.ranked { self.cut } else { self.found.best[lane] }
    }

    /// Evaluates all conditions on two columns (or on one), among these people.
    fn pair(&mut self, members: &[u32], terms: &[TermRef], first: usize, second: Option<usize>) {
        let plan = self.plan;
        let (rows, columns) = (&plan.columns[first], second.map(|second| &plan.columns[second]));
        let width = columns.map_or(1, |column| column.levels) + 1;
        let height = rows.levels + 1;
        self.cells.clear();
        self.cells.resize(width * height, [N::default(); LANES]);
        self.counts.clear();
        self.counts.resize(width * height, (0, 0.0));
        for &person in members {
            let person = person as usize;
            let column = columns.map_or(0, |column| column.codes[person] as usize);
            let cell = (rows.codes[person] as usize + 1) * width + column + 1;
            add(&mut self.cells[cell], &self.products[person]);
            let weight = plan.weights[person];
            let count = &mut self.counts[cell];
            *count = (count.0 + weight, count.1 + (weight as f64).powi(2));
        }
        prefix_sums(&mut self.cells, width, |cell, other| add(cell, other));
        prefix_sums(&mut self.counts, width, |count, other| *count = (count.0 + other.0, count.1 + other.1));
        let everybody = 0..(width as u32 - 1);
        let alone = [everybody.clone()];
        let others = columns.map_or(&alone[..], |column| &column.conditions[..]);
        let every_row = 0..(height as u32 - 1);
        for (row, codes) in rows.conditions.iter().enumerate() {
            let corners = Corners::new(width, codes, &everybody);
            let of_row = corners.count(&self.counts).0;
            if of_row < plan.least {
                continue;
            }
            for (column, other) in others.iter().enumerate() {
                let corners = Corners::new(width, codes, other);
                let (weight, squares) = corners.count(&self.counts);
                if weight < plan.least || self.whole as u64 - weight < plan.least {
                    continue;
                }
                // Where one of the two conditions adds nothing, a shorter conjunction is the same set.
                if second.is_some()
                    && (weight == of_row
                        || weight == Corners::new(width, &every_row, other).count(&self.counts).0)
                {
                    continue;
                }
                let sums = corners.sums(&self.cells);
                let added = [Some((first, row)), second.map(|second| (second, column))];
                self.judge(weight as f64, squares, &sums, terms, added);
            }
        }
    }

    fn judge(
        &mut self,
        weight: f64,
        squares: f64,
        sums: &[N; LANES],
        terms: &[TermRef],
        added: [Option<TermRef>; 2],
    ) {
        let share = weight / self.whole;
        let q = squares * (1.0 - 2.0 * share) + share * share * self.whole_squares;
        if q <= 0.0 {
            return;
        }
        let scale = 1.0 / (self.deviation * q.sqrt());
        self.found.evaluated += 1;
        let z: [f64; LANES] =
            std::array::from_fn(|lane| (sums[lane].float() - weight * self.mean[lane]) * scale);
        for (best, z) in self.found.best.iter_mut().zip(z) {
            *best = if z > *best { z } else { *best };
        }
        if self.ranked && z[0] >= self.cut {
            let terms = terms.iter().copied().chain(added.into_iter().flatten()).collect();
            self.found.ranked.push(Candidate { z: z[0], terms });
            if self.found.ranked.len() >= 4 * KEPT {
                self.keep_the_best();
            }
        }
    }

    fn keep_the_best(&mut self) {
        self.found.ranked.sort_by(|a, b| {
            b.z.total_cmp(&a.z).then(a.terms.len().cmp(&b.terms.len())).then(a.terms.cmp(&b.terms))
        });
        self.found.ranked.truncate(KEPT);
        if self.found.ranked.len() == KEPT {
            self.cut = self.found.ranked[KEPT - 1].z;
        }
    }
}

fn add<N: Number>(to: &mut [N; LANES], more: &[N; LANES]) {
    for lane in 0..LANES {
        to[lane] = to[lane].plus(more[lane]);
    }
}

/// Turns cells into sums over all cells above and to the left.
fn prefix_sums<T: Copy>(cells: &mut [T], width: usize, add: impl Fn(&mut T, &T)) {
    for at in 0..cells.len() {
        if at % width > 0 {
            let left = cells[at - 1];
            add(&mut cells[at], &left);
        }
    }
    for at in width..cells.len() {
        let above = cells[at - width];
        add(&mut cells[at], &above);
    }
}

/// The four prefix sums of a rectangle of codes.
struct Corners {
    plus: [usize; 2],
    minus: [usize; 2],
}

impl Corners {
    fn new(width: usize, rows: &Range<u32>, columns: &Range<u32>) -> Corners {
        let at = |row: u32, column: u32| row as usize * width + column as usize;
        Corners {
            plus: [at(rows.end, columns.end), at(rows.start, columns.start)],
            minus: [at(rows.start, columns.end), at(rows.end, columns.start)],
        }
    }

    fn count(&self, counts: &[(u64, f64)]) -> (u64, f64) {
        let [a, b] = self.plus.map(|at| counts[at]);
        let [c, d] = self.minus.map(|at| counts[at]);
        (a.0 + b.0 - c.0 - d.0, a.1 + b.1 - c.1 - d.1)
    }

    fn sums<N: Number>(&self, cells: &[[N; LANES]]) -> [N; LANES] {
        let [a, b] = self.plus.map(|at| &cells[at]);
        let [c, d] = self.minus.map(|at| &cells[at]);
        let mut sums = [N::default(); LANES];
        for lane in 0..LANES {
            sums[lane] = a[lane].plus(b[lane]).minus(c[lane]).minus(d[lane]);
        }
        sums
    }
}
