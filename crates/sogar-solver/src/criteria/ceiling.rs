//! What a point must not cost: for losses up to a cell of a table, the least cost that is known to be attained.
//!
//! The table has few cells; where there are more losses than cells, a cell stands for a power of two of them. A known point counts from the first cell
//! on whose every loss it does not exceed; a question is answered by the cell in which it lies. So an answer is never too strict: what costs more
//! than the cell is dominated, strictly, and nothing else is said.

use super::front::Totals;

/// Least known costs by losses.
#[derive(Debug, Clone)]
pub(crate) struct Ceiling<const G: usize> {
    /// Losses per cell, as a power of two.
    shift: [u32; G],
    cells: [usize; G],
    stride: [usize; G],
    least: Vec<u64>,
    /// Entries since the table was last spread.
    fresh: usize,
}

impl<const G: usize> Ceiling<G> {
    /// A table for losses up to `sizes`, of at most `most` cells.
    pub fn new(sizes: &[u32; G], most: usize) -> Self {
        let mut shift = [0; G];
        let cells_of = |shift: &[u32; G]| -> [usize; G] {
            std::array::from_fn(|group| (sizes[group] >> shift[group]) as usize + 1)
        };
        let mut cells = cells_of(&shift);
        while cells.iter().map(|&cells| cells as u128).product::<u128>() > most.max(1) as u128 {
            // Halves the longest side.
            let longest = (0..G).max_by_key(|&group| cells[group]).unwrap_or(0);
            shift[longest] += 1;
            cells = cells_of(&shift);
        }
        let mut stride = [1; G];
        for group in 1..G {
            stride[group] = stride[group - 1] * cells[group - 1];
        }
        Ceiling { shift, cells, stride, least: vec![u64::MAX; cells.iter().product()], fresh: 0 }
    }

    /// Whether a point with these totals, or larger ones, is strictly dominated.
    #[inline(always)]
    pub fn rules_out(&self, totals: &Totals<G>) -> bool {
        let place = |group: usize| (totals.losses[group] >> self.shift[group]) as usize * self.stride[group];
        let at: usize = (0..G).map(place).sum();
        self.least[at] < totals.cost
    }

    /// A point is attained.
    #[inline(always)]
    pub fn lower(&mut self, totals: &Totals<G>) {
        let mut at = 0;
        for group in 0..G {
            let cell = (u64::from(totals.losses[group]) + (1 << self.shift[group]) - 1) >> self.shift[group];
            if cell as usize >= self.cells[group] {
                return;
            }
            at += cell as usize * self.stride[group];
        }
        if totals.cost < self.least[at] {
            self.least[at] = totals.cost;
            self.fresh += 1;
        }
    }

    /// Lets every point count for all cells of at least its losses, if that is worth the time.
    pub fn spread(&mut self) {
        if self.fresh * 8 < self.least.len().min(1 << 10) {
            return;
        }
        self.fresh = 0;
        for group in 0..G {
            let stride = self.stride[group];
            for line in self.least.chunks_mut(stride * self.cells[group]) {
                for at in stride..line.len() {
                    line[at] = line[at].min(line[at - stride]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sogar_testing::Random;

    #[test]
    fn only_strictly_dominated_points_are_ruled_out_and_in_a_full_table_all_of_them_in_cost() {
        for seed in 0..200 {
            let mut random = Random(seed);
            let sizes = [random.below(40) as u32, random.below(40) as u32];
            let most = [20, 100, 10_000][random.index(3)];
            let mut ceiling = Ceiling::<2>::new(&sizes, most);
            assert!(ceiling.least.len() <= most);
            let mut draw = || Totals {
                cost: random.below(30),
                losses: sizes.map(|size| random.below(u64::from(size) + 1) as u32),
            };
            let known: Vec<Totals<2>> = (0..40).map(|_| draw()).collect();
            known.iter().for_each(|one| ceiling.lower(one));
            ceiling.fresh = usize::MAX / 8;
            ceiling.spread();
            for _ in 0..100 {
                let one = draw();
                let cheaper = |other: &Totals<2>| other.at_most(&one) && other.cost < one.cost;
                let dominated = known.iter().any(cheaper);
                let ruled_out = ceiling.rules_out(&one);
                assert!(dominated || !ruled_out, "seed {seed}");
                assert!(ruled_out || !dominated || most < 10_000, "seed {seed}");
            }
        }
    }
}
