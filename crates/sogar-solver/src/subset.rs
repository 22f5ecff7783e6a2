//! A set of rows in the search, with the splits that lead to it, and its cuts.

use rustc_hash::FxHashMap;

use crate::bits::RowSet;
use crate::problem::Problem;

/// Limit of splits on the path from all rows to a subset. Sets below longer paths are not cached.
const MOST_STEPS: usize = 8;

/// A path from all rows to a subset: which side of which splits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SplitPath {
    /// `2 · split`, plus 1 for the rows that fail it.
    steps: [u32; MOST_STEPS],
    count: u8,
}

impl SplitPath {
    const NONE: SplitPath = SplitPath { steps: [0; MOST_STEPS], count: 0 };

    fn with(mut self, step: u32) -> SplitPath {
        if let Some(place) = self.steps.get_mut(self.count as usize) {
            *place = step;
        }
        self.count = self.count.saturating_add(1);
        self
    }

    /// The steps, as far as they are stored.
    pub fn as_slice(&self) -> &[u32] {
        &self.steps[..(self.count as usize).min(MOST_STEPS)]
    }

    /// Whether the whole path is stored.
    pub fn is_whole(&self) -> bool {
        self.count as usize <= MOST_STEPS
    }

    /// Whether this path leads to exactly these rows.
    pub fn leads_to(&self, problem: &Problem, rows: &RowSet) -> bool {
        let steps = self.as_slice();
        let sides: [(&[u64], u64); MOST_STEPS] = std::array::from_fn(|i| match steps.get(i) {
            Some(step) => (problem.splits[(step / 2) as usize].words(), (u64::from(step % 2)).wrapping_neg()),
            None => (&[][..], 0),
        });
        let (full, last) = (rows.words().len() - 1, problem.rows % 64);
        rows.words().iter().enumerate().all(|(i, &word)| {
            // There are no members beyond the last row, on either side.
            let all = if i == full && last > 0 { (1 << last) - 1 } else { u64::MAX };
            sides[..steps.len()].iter().fold(all, |set, (split, fails)| set & (split[i] ^ fails)) == word
        })
    }
}

/// Some of the problem's rows.
#[derive(Debug, Clone)]
pub(crate) struct Subset {
    pub rows: RowSet,
    /// Their number, by weight.
    pub size: usize,
    pub path: SplitPath,
    /// Depends only on the rows: equal sets have equal hashes, regardless of the path.
    pub hash: u64,
}

impl Subset {
    /// All rows.
    pub fn all(problem: &Problem) -> Subset {
        Subset::new(RowSet::full(problem.rows), problem.size, SplitPath::NONE)
    }

    /// The rows after one more step, a side of a split of the problem.
    pub fn side(&self, problem: &Problem, step: u32) -> Subset {
        let split = &problem.splits[(step / 2) as usize];
        let passing = problem.weight_of_both(self.rows.words(), split.words()) as usize;
        let (rows, size) = match step % 2 {
            0 => (self.rows.and(split), passing),
            _ => (self.rows.and_not(split), self.size - passing),
        };
        Subset::new(rows, size, self.path.with(step))
    }

    fn new(rows: RowSet, size: usize, path: SplitPath) -> Subset {
        let hash = hash(rows.words());
        Subset { rows, size, path, hash }
    }
}

impl PartialEq for Subset {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.rows == other.rows
    }
}

impl Eq for Subset {}

impl std::hash::Hash for Subset {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// A well-mixed hash of a set's words, four lanes at a time.
fn hash(words: &[u64]) -> u64 {
    const ODD: [u64; 4] =
        [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93];
    let mut lanes = ODD;
    for chunk in words.chunks(4) {
        for (lane, (&word, &odd)) in lanes.iter_mut().zip(chunk.iter().zip(&ODD)) {
            *lane = (*lane ^ word).wrapping_mul(odd).rotate_left(29);
        }
    }
    let mixed = lanes.iter().zip(&ODD).fold(0u64, |sum, (&lane, &odd)| {
        let product = u128::from(lane ^ sum) * u128::from(odd);
        (product >> 64) as u64 ^ product as u64
    });
    mixed ^ mixed >> 32
}

/// One way to cut a subset in two.
#[derive(Debug)]
pub(crate) struct Cut {
    pub split: u32,
    pub left: Subset,
    pub right: Subset,
}

/// Every way to cut a set into two parts of at least `min_leaf` rows, each once: if several splits cut it alike, the first
/// represents them (the others give the same points and lose every tie).
pub(crate) fn cuts(problem: &Problem, set: &Subset) -> Vec<Cut> {
    let min_leaf = problem.limits.min_leaf as usize;
    let first = set.rows.iter().next().unwrap_or(0);
    let mut cuts: Vec<Cut> = Vec::new();
    let mut seen: FxHashMap<u64, usize> = FxHashMap::default();
    for (split, rows) in problem.splits.iter().enumerate() {
        let left_size = problem.weight_of_both(set.rows.words(), rows.words()) as usize;
        let right_size = set.size - left_size;
        if left_size < min_leaf || right_size < min_leaf {
            continue;
        }
        let path = |side| set.path.with(split as u32 * 2 + side);
        let left = Subset::new(set.rows.and(rows), left_size, path(0));
        let right = Subset::new(set.rows.and_not(rows), right_size, path(1));
        // Two cuts are equal iff their parts with the set's first row are equal.
        let side = if left.rows.contains(first) { &left } else { &right };
        let known = seen.get(&side.hash).is_some_and(|&at| cuts[at].left == *side || cuts[at].right == *side);
        if !known {
            seen.insert(side.hash, cuts.len());
            cuts.push(Cut { split: split as u32, left, right });
        }
    }
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::BitTable;
    use crate::problem::{Combine, Limits, ProblemParts};

    fn problem(rows: usize) -> Problem {
        Problem::new(ProblemParts {
            rows,
            splits: (0..9).map(|split| RowSet::from_fn(rows, |row| row % (split + 2) == 0)).collect(),
            edit_costs: vec![],
            combine: Combine::Max,
            actions: std::iter::once(vec![]).collect(),
            flips: BitTable::new(1, rows),
            weights: Vec::new(),
            limits: Limits { max_depth: 9, max_leaves: 512, min_leaf: 1 },
        })
        .unwrap()
    }

    #[test]
    fn a_path_leads_to_its_own_rows_and_to_no_others() {
        for rows in [63, 64, 65, 200] {
            let problem = problem(rows);
            let mut level = vec![Subset::all(&problem)];
            for _ in 0..3 {
                level = level
                    .iter()
                    .flat_map(|set| cuts(&problem, set))
                    .flat_map(|cut| [cut.left, cut.right])
                    .step_by(7)
                    .take(40)
                    .collect();
                for one in &level {
                    for other in &level {
                        let same = one.rows == other.rows;
                        assert_eq!(one.path.leads_to(&problem, &other.rows), same);
                        assert!(!same || one.hash == other.hash);
                    }
                }
            }
        }
    }

    #[test]
    fn a_path_that_is_too_long_is_not_taken_for_a_whole_one() {
        let mut path = SplitPath::NONE;
        for step in 0..MOST_STEPS as u32 {
            path = path.with(step);
            assert!(path.is_whole());
        }
        assert!((0..300).all(|step| {
            path = path.with(step);
            !path.is_whole()
        }));
    }
}
