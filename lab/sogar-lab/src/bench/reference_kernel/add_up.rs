//! The reference kernel's inner loop: cost and loss of a list of rows, for all actions of a tile at once.

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

/// The instruction sets that the loop is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Instructions {
    /// Whatever the target offers.
    Portable,
    /// x86-64 with AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// x86-64 with AVX-512.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Instructions {
    /// The widest that this processor has.
    pub fn best() -> Instructions {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
                return Instructions::Avx512;
            }
            if is_x86_feature_detected!("avx2") {
                return Instructions::Avx2;
            }
        }
        Instructions::Portable
    }

    /// Adds up cost and loss of the listed rows for all actions of a tile.
    pub fn add_up<C: Copy + Into<u32>>(
        self,
        costs: &[[C; TILE]],
        losses: &[[u8; TILE]],
        rows: &[u32],
        sums: &mut Sums,
    ) {
        match self {
            Instructions::Portable => add_up(costs, losses, rows, sums),
            // SAFETY: `Instructions::best` found the processor to have these instructions.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => unsafe { add_up_avx2(costs, losses, rows, sums) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => unsafe { add_up_avx512(costs, losses, rows, sums) },
        }
    }
}

/// The inner loop: 2 × [`TILE`] additions for every row.
#[inline(always)]
fn add_up<C: Copy + Into<u32>>(costs: &[[C; TILE]], losses: &[[u8; TILE]], rows: &[u32], sums: &mut Sums) {
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
    add_up(costs, losses, rows, sums);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw")]
fn add_up_avx512<C: Copy + Into<u32>>(
    costs: &[[C; TILE]],
    losses: &[[u8; TILE]],
    rows: &[u32],
    sums: &mut Sums,
) {
    add_up(costs, losses, rows, sums);
}
