//! The reference kernel's inner loop: cost and loss of a list of rows, for all actions of a tile at once.

use sogar::model::network::Instructions;

/// Actions of a tile. The sums of a tile fit in the registers of AVX-512.
pub const TILE: usize = 64;

/// The sums of one leaf set for the actions of one tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sums {
    /// Total cost.
    pub cost: [u32; TILE],
    /// Rows that are not flipped.
    pub loss: [u16; TILE],
}

/// Adds up cost and loss of the listed rows for all actions of a tile.
pub fn add_up<C: Copy + Into<u32>>(
    instructions: Instructions,
    costs: &[[C; TILE]],
    losses: &[[u8; TILE]],
    rows: &[u32],
    sums: &mut Sums,
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

/// The inner loop: 2 × [`TILE`] additions for every row.
#[inline(always)]
fn add_up_plain<C: Copy + Into<u32>>(
    costs: &[[C; TILE]],
    losses: &[[u8; TILE]],
    rows: &[u32],
    sums: &mut Sums,
) {
    let mut cost = [0u32; TILE];
    let mut loss = [0u16; TILE];
    for &row in rows {
        let (costs, losses) = (&costs[row as usize], &losses[row as usize]);
        for lane in 0..TILE {
            cost[lane] += costs[lane].into();
        }
        for lane in 0..TILE {
            loss[lane] += u16::from(losses[lane]);
        }
    }
    *sums = Sums { cost, loss };
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_up_avx2<C: Copy + Into<u32>>(
    costs: &[[C; TILE]],
    losses: &[[u8; TILE]],
    rows: &[u32],
    sums: &mut Sums,
) {
    add_up_plain(costs, losses, rows, sums);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
fn add_up_avx512<C: Copy + Into<u32>>(
    costs: &[[C; TILE]],
    losses: &[[u8; TILE]],
    rows: &[u32],
    sums: &mut Sums,
) {
    add_up_plain(costs, losses, rows, sums);
}
