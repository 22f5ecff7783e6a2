//! The inner loop of the plain program: cost and loss of a list of rows, for all actions of a tile at once.

use std::ops::AddAssign;

use sogar::model::network::Instructions;

/// Actions of a tile. The sums of a tile fit in the registers of AVX-512.
pub const TILE: usize = 64;

/// An integer that holds totals of cost.
pub trait Cost: Copy + Default + Ord + AddAssign + From<u32> + Into<u64> {
    const MOST: Self;
}

impl Cost for u32 {
    const MOST: Self = u32::MAX;
}

impl Cost for u64 {
    const MOST: Self = u64::MAX;
}

/// The sums of one leaf set for the actions of one tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sums<C> {
    /// Total cost.
    pub cost: [C; TILE],
    /// Rows that are not flipped.
    pub loss: [u32; TILE],
}

impl<C: Cost> Sums<C> {
    pub fn new() -> Sums<C> {
        Sums { cost: [C::default(); TILE], loss: [0; TILE] }
    }
}

/// Adds up cost and loss of the listed rows for all actions of a tile.
pub fn add_up<C: Cost>(
    instructions: Instructions,
    costs: &[[C; TILE]],
    losses: &[[u8; TILE]],
    rows: &[u32],
    sums: &mut Sums<C>,
) {
    match instructions {
        Instructions::Plain => add_up_plain(costs, losses, rows, sums),
        // SAFETY: the token proves that the processor has these instructions.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx2(_) => unsafe { add_up_avx2(costs, losses, rows, sums) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Instructions::Avx512(_) => unsafe { add_up_avx512(costs, losses, rows, sums) },
    }
}

/// The inner loop: 2 × [`TILE`] additions for every row. Losses are counted in bytes as long as these suffice.
#[inline(always)]
fn add_up_plain<C: Cost>(costs: &[[C; TILE]], losses: &[[u8; TILE]], rows: &[u32], sums: &mut Sums<C>) {
    let mut cost = [C::default(); TILE];
    let mut loss = [0u32; TILE];
    for rows in rows.chunks(usize::from(u8::MAX)) {
        let mut few = [0u8; TILE];
        for &row in rows {
            let (costs, losses) = (&costs[row as usize], &losses[row as usize]);
            for lane in 0..TILE {
                cost[lane] += costs[lane];
            }
            for lane in 0..TILE {
                few[lane] += losses[lane];
            }
        }
        loss.iter_mut().zip(few).for_each(|(loss, few)| *loss += u32::from(few));
    }
    *sums = Sums { cost, loss };
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_up_avx2<C: Cost>(costs: &[[C; TILE]], losses: &[[u8; TILE]], rows: &[u32], sums: &mut Sums<C>) {
    add_up_plain(costs, losses, rows, sums);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
fn add_up_avx512<C: Cost>(costs: &[[C; TILE]], losses: &[[u8; TILE]], rows: &[u32], sums: &mut Sums<C>) {
    add_up_plain(costs, losses, rows, sums);
}
