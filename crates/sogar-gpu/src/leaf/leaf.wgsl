// The fronts of many leaves: `leaf.rs` explains how these kernels work together, and why they are sound.

const NONE: u32 = 0xffffffffu;

struct Chunk {
    sets: u32,
    warm: u32,
}

// A part of the actions, and what the whole problem has in common.
struct Tile {
    first: u32,
    count: u32,
    columns: u32,
    shorts: u32,
    long_edits: u32,
    long_bounds: u32,
    steps: u32,
    loss_bits: u32,
    cost_bits: u32,
    sums: u32,
    candidates: u32,
    found: u32,
}

struct Candidate {
    leaf: u32,
    action: u32,
    loss: u32,
}

struct Found {
    leaf: u32,
    action: u32,
    loss: u32,
    low: u32,
    high: u32,
}

struct Candidates {
    count: atomic<u32>,
    list: array<Candidate>,
}

struct CandidatesFound {
    count: u32,
    list: array<Candidate>,
}

struct Result {
    count: atomic<u32>,
    list: array<Found>,
}

@group(0) @binding(0) var<uniform> chunk: Chunk;
@group(0) @binding(1) var<uniform> tile: Tile;
// Where the words of each set begin, and the words that are not empty: (number of the word | plane << 26, bits).
@group(0) @binding(2) var<storage, read> starts: array<u32>;
@group(0) @binding(3) var<storage, read> entries: array<vec2<u32>>;
// Short actions: the columns of their edits, and the positions of these among the short actions; their numbers.
@group(0) @binding(4) var<storage, read> short_edits: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> short_numbers: array<u32>;
// Words × actions of the tile.
@group(0) @binding(6) var<storage, read> flips: array<u32>;
// Rows × columns; the last column is empty.
@group(0) @binding(7) var<storage, read> costs: array<u32>;
// Sets × short actions: cost (two words) and loss.
@group(0) @binding(8) var<storage, read_write> totals_out: array<u32>;
@group(0) @binding(9) var<storage, read> totals: array<u32>;
// Sets × steps: the complement of the smallest known cost for this loss.
@group(0) @binding(10) var<storage, read_write> stairs_out: array<atomic<u32>>;
@group(0) @binding(11) var<storage, read> stairs: array<u32>;
// Long actions: number and edits; and the short ones that are parts of them.
@group(0) @binding(12) var<storage, read> long_edits: array<u32>;
@group(0) @binding(13) var<storage, read> long_bounds: array<u32>;
@group(0) @binding(14) var<storage, read> warm: array<Candidate>;
@group(0) @binding(15) var<storage, read_write> candidates_out: Candidates;
@group(0) @binding(16) var<storage, read> candidates: CandidatesFound;
@group(0) @binding(17) var<storage, read_write> result: Result;
// Words × pairs of the tile: whom any action that contains the pair flips.
@group(0) @binding(18) var<storage, read> unions: array<u32>;

fn know(leaf: u32, loss: u32, cost: vec2<u32>) {
    let step = (loss >> tile.loss_bits) + select(0u, 1u, (loss & ((1u << tile.loss_bits) - 1u)) != 0u);
    atomicMax(&stairs_out[leaf * tile.steps + step], ~coarse_up(cost, tile.cost_bits));
}

// Whether a strictly cheaper action with no more loss is known.
fn dominated(leaf: u32, loss: u32, cost: u32) -> bool {
    return cost > ~stairs[leaf * tile.steps + (loss >> tile.loss_bits)];
}

fn write_totals(leaf: u32, action: u32, cost: vec2<u32>, loss: u32) {
    let at = (leaf * tile.shorts + tile.first + action) * 3u;
    totals_out[at] = cost.x;
    totals_out[at + 1u] = cost.y;
    totals_out[at + 2u] = loss;
}

// Nothing that contains the pair can matter.
fn is_dead(cost: vec2<u32>) -> bool {
    return cost.x == NONE && cost.y == NONE;
}

fn add_found(leaf: u32, action: u32, loss: u32, cost: vec2<u32>) {
    let at = atomicAdd(&result.count, 1u);
    if at < tile.found {
        result.list[at] = Found(leaf, action, loss, cost.x, cost.y);
    }
}

// Costs and losses of single edits, and the stairs that they make.
@compute @workgroup_size(64)
fn single_totals(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= tile.count {
        return;
    }
    let leaf = id.y;
    let end = starts[leaf + 1u];
    let edit = short_edits[id.x].x;
    var loss = 0u;
    var cost = vec2<u32>(0u, 0u);
    for (var i = starts[leaf]; i < end; i++) {
        let entry = entries[i];
        let word = entry.x & 0x3ffffffu;
        let plane = entry.x >> 26u;
        var bits = entry.y;
        loss += countOneBits(bits & ~flips[word * tile.count + id.x]) << plane;
        var sum = vec2<u32>(0u, 0u);
        while bits != 0u {
            let row = (word * 32u + firstTrailingBit(bits)) * tile.columns;
            bits &= bits - 1u;
            sum = plus(sum, costs[row + edit]);
        }
        cost = plus_wide(cost, doubled(sum, plane));
    }
    write_totals(leaf, id.x, cost, loss);
    know(leaf, loss, cost);
}

// Costs and losses of pairs of edits, and what they add to the stairs; but first, whether anything that contains the pair can matter.
@compute @workgroup_size(64)
fn pair_totals(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= tile.count {
        return;
    }
    let leaf = id.y;
    let end = starts[leaf + 1u];
    let edits = short_edits[id.x];
    var loss = 0u;
    var least_loss = 0u;
    for (var i = starts[leaf]; i < end; i++) {
        let entry = entries[i];
        let at = (entry.x & 0x3ffffffu) * tile.count + id.x;
        let plane = entry.x >> 26u;
        least_loss += countOneBits(entry.y & ~unions[at]) << plane;
        loss += countOneBits(entry.y & ~flips[at]) << plane;
    }
    let a = (leaf * tile.shorts + edits.z) * 3u;
    let b = (leaf * tile.shorts + edits.w) * 3u;
    let least = max(
        coarse(vec2<u32>(totals_out[a], totals_out[a + 1u]), tile.cost_bits),
        coarse(vec2<u32>(totals_out[b], totals_out[b + 1u]), tile.cost_bits),
    );
    if least > ~atomicLoad(&stairs_out[leaf * tile.steps + (least_loss >> tile.loss_bits)]) {
        write_totals(leaf, id.x, vec2<u32>(NONE, NONE), loss);
        return;
    }
    var cost = vec2<u32>(0u, 0u);
    for (var i = starts[leaf]; i < end; i++) {
        let entry = entries[i];
        let word = entry.x & 0x3ffffffu;
        let plane = entry.x >> 26u;
        var bits = entry.y;
        var sum = vec2<u32>(0u, 0u);
        while bits != 0u {
            let row = (word * 32u + firstTrailingBit(bits)) * tile.columns;
            bits &= bits - 1u;
            let first = costs[row + edits.x];
            let second = costs[row + edits.y];
            if tile.sums != 0u {
                sum = plus(plus(sum, first), second);
            } else {
                sum = plus(sum, max(first, second));
            }
        }
        cost = plus_wide(cost, doubled(sum, plane));
    }
    write_totals(leaf, id.x, cost, loss);
    know(leaf, loss, cost);
}

fn long_cost(leaf: u32, action: u32) -> vec2<u32> {
    let first = action * (tile.long_edits + 1u) + 1u;
    let end = starts[leaf + 1u];
    var cost = vec2<u32>(0u, 0u);
    for (var i = starts[leaf]; i < end; i++) {
        let entry = entries[i];
        let word = entry.x & 0x3ffffffu;
        let plane = entry.x >> 26u;
        var bits = entry.y;
        var sum = vec2<u32>(0u, 0u);
        while bits != 0u {
            let row = (word * 32u + firstTrailingBit(bits)) * tile.columns;
            bits &= bits - 1u;
            var most = 0u;
            for (var edit = 0u; edit < tile.long_edits; edit++) {
                let one = costs[row + long_edits[first + edit]];
                if tile.sums != 0u {
                    sum = plus(sum, one);
                } else {
                    most = max(most, one);
                }
            }
            sum = plus(sum, most);
        }
        cost = plus_wide(cost, doubled(sum, plane));
    }
    return cost;
}

// Long actions that are likely to be good: what they cost goes into the stairs.
@compute @workgroup_size(64)
fn warm_costs(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= chunk.warm {
        return;
    }
    let it = warm[id.x];
    know(it.leaf, it.loss, long_cost(it.leaf, it.action));
}

// A step is no higher than those before it: the cost for a smaller loss also holds for a larger one.
@compute @workgroup_size(64)
fn descend(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= chunk.sets {
        return;
    }
    var best = 0u;
    for (var step = id.x * tile.steps; step < (id.x + 1u) * tile.steps; step++) {
        best = max(best, atomicLoad(&stairs_out[step]));
        atomicStore(&stairs_out[step], best);
    }
}

// Short actions that may be on the front.
@compute @workgroup_size(64)
fn keep_short(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= tile.shorts || short_numbers[id.x] == NONE {
        return;
    }
    let at = (id.y * tile.shorts + id.x) * 3u;
    let cost = vec2<u32>(totals[at], totals[at + 1u]);
    let loss = totals[at + 2u];
    if !is_dead(cost) && !dominated(id.y, loss, coarse(cost, tile.cost_bits)) {
        add_found(id.y, short_numbers[id.x], loss, cost);
    }
}

// Long actions that may be on the front, by the cost of their parts.
@compute @workgroup_size(64)
fn keep_long(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= tile.count {
        return;
    }
    let leaf = id.y;
    let action = tile.first + id.x;
    var least = 0u;
    for (var i = 0u; i < tile.long_bounds; i++) {
        let part = (leaf * tile.shorts + long_bounds[action * tile.long_bounds + i]) * 3u;
        let cost = vec2<u32>(totals[part], totals[part + 1u]);
        if is_dead(cost) {
            return;
        }
        least = max(least, coarse(cost, tile.cost_bits));
    }
    if dominated(leaf, 0u, least) {
        return;
    }
    var loss = 0u;
    let end = starts[leaf + 1u];
    for (var i = starts[leaf]; i < end; i++) {
        let entry = entries[i];
        let word = entry.x & 0x3ffffffu;
        loss += countOneBits(entry.y & ~flips[word * tile.count + id.x]) << (entry.x >> 26u);
    }
    if dominated(leaf, loss, least) {
        return;
    }
    let at = atomicAdd(&candidates_out.count, 1u);
    if at < tile.candidates {
        candidates_out.list[at] = Candidate(leaf, action, loss);
    }
}

// The exact costs of the long ones among them.
@compute @workgroup_size(64)
fn candidate_costs(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= min(candidates.count, tile.candidates) {
        return;
    }
    let it = candidates.list[id.x];
    let cost = long_cost(it.leaf, it.action);
    if !dominated(it.leaf, it.loss, coarse(cost, tile.cost_bits)) {
        add_found(it.leaf, long_edits[it.action * (tile.long_edits + 1u)], it.loss, cost);
    }
}
