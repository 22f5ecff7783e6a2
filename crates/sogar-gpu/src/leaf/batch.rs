//! The buffers for a batch of sets, and its path through the kernels.

use sogar_solver::leaf::LeafPoint;
use wgpu::{BindGroup, Buffer, CommandEncoderDescriptor, ComputePassDescriptor, ComputePipeline};

use super::sets::Sets;
use super::tables::{ShortTile, Tables};
use crate::buffer::{Allowance, bind};
use crate::device::{Gpu, InFlight};
use crate::fault::Fault;

/// The kernels of `leaf.wgsl`.
pub(super) struct Kernels {
    single_totals: ComputePipeline,
    pair_totals: ComputePipeline,
    warm_costs: ComputePipeline,
    descend: ComputePipeline,
    keep_short: ComputePipeline,
    keep_long: ComputePipeline,
    candidate_costs: ComputePipeline,
}

impl Kernels {
    pub fn new(gpu: &Gpu) -> Result<Kernels, Fault> {
        let source = concat!(include_str!("wide.wgsl"), include_str!("leaf.wgsl"));
        let names = [
            "single_totals",
            "pair_totals",
            "warm_costs",
            "descend",
            "keep_short",
            "keep_long",
            "candidate_costs",
        ];
        let [single_totals, pair_totals, warm_costs, descend, keep_short, keep_long, candidate_costs] =
            gpu.kernels(source, names)?;
        Ok(Kernels {
            single_totals,
            pair_totals,
            warm_costs,
            descend,
            keep_short,
            keep_long,
            candidate_costs,
        })
    }
}

/// The capacity of a batch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    pub sets: usize,
    pub entries: usize,
    pub warm: usize,
}

/// Buffers for a batch, with the kernels bound to them.
pub(super) struct Slot {
    chunk: Buffer,
    starts: Buffer,
    entries: Buffer,
    warm: Buffer,
    stairs: Buffer,
    candidates: Buffer,
    found: Buffer,
    readable: Buffer,
    bound: Bound,
}

struct Bound {
    single_totals: Vec<BindGroup>,
    pair_totals: Vec<BindGroup>,
    descend: BindGroup,
    keep_short: BindGroup,
    keep_long: Vec<BindGroup>,
    /// The kernels for single long actions: `warm_costs` and `candidate_costs`.
    long: Option<[BindGroup; 2]>,
}

/// The result of a batch.
pub(super) enum Answer {
    /// For each set the points that may be on its front.
    Points(Vec<Vec<LeafPoint>>),
    /// More points than the buffers hold.
    Overflow,
}

impl Slot {
    pub fn new(
        gpu: &Gpu,
        kernels: &Kernels,
        tables: &Tables,
        room: Room,
        allowance: &mut Allowance<'_>,
    ) -> Result<Slot, Fault> {
        let shape = tables.shape;
        let sets = room.sets as u64;
        let found_bytes = 4 + 20 * u64::from(shape.found);
        let totals = allowance.scratch(sets * u64::from(shape.shorts) * 12)?;
        let stairs = allowance.scratch(sets * u64::from(shape.steps) * 4)?;
        let candidates = allowance.scratch(4 + 12 * u64::from(shape.candidates))?;
        let found = allowance.scratch(found_bytes)?;
        let chunk = allowance.settings(&[0u32; 4])?;
        let starts = allowance.scratch((sets + 1) * 4)?;
        let entries = allowance.scratch(room.entries as u64 * 8)?;
        let warm = allowance.scratch(room.warm as u64 * 12)?;
        let bind = |kernel: &ComputePipeline, list: &[(u32, &Buffer)]| bind(gpu, kernel, list);
        let short = |kernel: &ComputePipeline, tile: &ShortTile| {
            let own = [(1, &tile.settings), (4, &tile.edits), (6, &tile.flips), (7, &tile.costs)];
            let shared = [(2, &starts), (3, &entries), (8, &totals), (10, &stairs)];
            let mut list = [own, shared].concat();
            list.extend(tile.unions.iter().map(|unions| (18, unions)));
            bind(kernel, &list)
        };
        let keep_short =
            [(1, &tables.settings), (5, &tables.numbers), (9, &totals), (11, &stairs), (17, &found)];
        let keep_long = tables.longs.iter().flat_map(|longs| {
            longs.tiles.iter().map(|tile| {
                let own = [(1, &tile.settings), (6, &tile.flips), (13, &longs.bounds), (15, &candidates)];
                let shared = [(2, &starts), (3, &entries), (9, &totals), (11, &stairs)];
                bind(&kernels.keep_long, &[own, shared].concat())
            })
        });
        let long = tables.longs.as_ref().map(|longs| {
            let own = [(1, &longs.settings), (7, &longs.costs), (12, &longs.edits)];
            let sets = [(2, &starts), (3, &entries)];
            let warm = [(0, &chunk), (10, &stairs), (14, &warm)];
            let costs = [(11, &stairs), (16, &candidates), (17, &found)];
            [
                bind(&kernels.warm_costs, &[&own[..], &sets, &warm].concat()),
                bind(&kernels.candidate_costs, &[&own[..], &sets, &costs].concat()),
            ]
        });
        let bound = Bound {
            single_totals: tables.singles.iter().map(|tile| short(&kernels.single_totals, tile)).collect(),
            pair_totals: tables.pairs.iter().map(|tile| short(&kernels.pair_totals, tile)).collect(),
            descend: bind(&kernels.descend, &[(0, &chunk), (1, &tables.settings), (10, &stairs)]),
            keep_short: bind(&kernels.keep_short, &keep_short),
            keep_long: keep_long.collect(),
            long,
        };
        let readable = allowance.readable(4 + found_bytes)?;
        gpu.check()?;
        Ok(Slot { chunk, starts, entries, warm, stairs, candidates, found, readable, bound })
    }

    /// Submits a batch.
    pub fn start(&self, gpu: &Gpu, kernels: &Kernels, tables: &Tables, sets: &Sets) -> InFlight {
        let shape = tables.shape;
        let count = sets.len() as u32;
        let write = |buffer: &Buffer, bytes: &[u8]| {
            if !bytes.is_empty() {
                gpu.queue.write_buffer(buffer, 0, bytes);
            }
        };
        write(&self.chunk, bytemuck::bytes_of(&[count, sets.warm.len() as u32, 0, 0]));
        write(&self.starts, bytemuck::cast_slice(&sets.starts));
        write(&self.entries, bytemuck::cast_slice(&sets.entries));
        write(&self.warm, bytemuck::cast_slice(&sets.warm));
        let mut encoder = gpu.device.create_command_encoder(&CommandEncoderDescriptor::default());
        encoder.clear_buffer(&self.stairs, 0, Some(u64::from(count) * u64::from(shape.steps) * 4));
        encoder.clear_buffer(&self.candidates, 0, Some(4));
        encoder.clear_buffer(&self.found, 0, Some(4));
        let mut pass = encoder.begin_compute_pass(&ComputePassDescriptor::default());
        let mut run = |kernel: &ComputePipeline, bound: &BindGroup, threads: u32, sets: u32| {
            pass.set_pipeline(kernel);
            pass.set_bind_group(0, bound, &[]);
            pass.dispatch_workgroups(threads.div_ceil(64), sets, 1);
        };
        for (tile, bound) in tables.singles.iter().zip(&self.bound.single_totals) {
            run(&kernels.single_totals, bound, tile.count, count);
        }
        if let Some([warm, _]) = &self.bound.long
            && !sets.warm.is_empty()
        {
            run(&kernels.warm_costs, warm, sets.warm.len() as u32, 1);
        }
        run(&kernels.descend, &self.bound.descend, count, 1);
        for (tile, bound) in tables.pairs.iter().zip(&self.bound.pair_totals) {
            run(&kernels.pair_totals, bound, tile.count, count);
        }
        if !tables.pairs.is_empty() {
            run(&kernels.descend, &self.bound.descend, count, 1);
        }
        run(&kernels.keep_short, &self.bound.keep_short, shape.shorts, count);
        if let (Some(longs), Some([_, costs])) = (&tables.longs, &self.bound.long) {
            for (tile, bound) in longs.tiles.iter().zip(&self.bound.keep_long) {
                run(&kernels.keep_long, bound, tile.count, count);
            }
            run(&kernels.candidate_costs, costs, shape.candidates, 1);
        }
        drop(pass);
        encoder.copy_buffer_to_buffer(&self.candidates, 0, &self.readable, 0, 4);
        encoder.copy_buffer_to_buffer(&self.found, 0, &self.readable, 4, 4 + 20 * u64::from(shape.found));
        gpu.submit(encoder, &self.readable)
    }

    /// Waits for a batch of `sets` sets.
    pub fn finish(&self, gpu: &Gpu, work: InFlight, tables: &Tables, sets: usize) -> Result<Answer, Fault> {
        gpu.wait(work)?;
        let answer = {
            let view = self.readable.get_mapped_range(..).map_err(|cause| Fault::Lost(cause.to_string()))?;
            let words: &[u32] =
                bytemuck::try_cast_slice(&view).map_err(|cause| Fault::Lost(cause.to_string()))?;
            read(words, tables, sets)?
        };
        self.readable.unmap();
        Ok(answer)
    }
}

fn read(words: &[u32], tables: &Tables, sets: usize) -> Result<Answer, Fault> {
    let shape = tables.shape;
    let [candidates, found, list @ ..] = words else { return Err(Fault::Wrong) };
    if *candidates > shape.candidates || *found > shape.found {
        return Ok(Answer::Overflow);
    }
    let mut points = vec![Vec::new(); sets];
    for point in list.chunks_exact(5).take(*found as usize) {
        let &[set, action, loss, low, high] = point else { continue };
        let cost = u64::from(low) | u64::from(high) << 32;
        let own: &mut Vec<LeafPoint> = points.get_mut(set as usize).ok_or(Fault::Wrong)?;
        own.push(LeafPoint { cost, loss, action });
    }
    Ok(Answer::Points(points))
}
