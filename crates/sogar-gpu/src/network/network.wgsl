// A dense network for many cells: units × cells, the cells of a unit side by side. Only sums, products and comparisons are used,
// which every device rounds to one of the two nearest numbers.

struct Chunk {
    cells: u32,
    per_cell: u32,
    units: u32,
}

struct Layer {
    inputs: u32,
    outputs: u32,
    // Distance of two units.
    stride: u32,
    // Where to write the squares.
    squares: u32,
    // The factor of negative numbers …
    slope: f32,
    // … unless this is 0.
    bent: u32,
}

@group(0) @binding(0) var<uniform> chunk: Chunk;
@group(0) @binding(1) var<uniform> layer: Layer;
// The row's sums, then each edit's share of them, then nothing.
@group(0) @binding(2) var<storage, read> shares: array<f32>;
// The edits of each cell, by their positions among the shares.
@group(0) @binding(3) var<storage, read> cells: array<u32>;
// Eight outputs at a time: for each input, their weights.
@group(0) @binding(4) var<storage, read> weights: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> bias: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> before: array<f32>;
@group(0) @binding(7) var<storage, read_write> after: array<f32>;
@group(0) @binding(8) var<storage, read_write> squares: array<f32>;

fn activated(sum: f32) -> f32 {
    if layer.bent != 0u && sum < 0.0 {
        return layer.slope * sum;
    }
    return sum;
}

fn put(unit: u32, cell: u32, sum: f32) {
    if unit < layer.outputs {
        after[unit * layer.stride + cell] = activated(sum);
    }
}

// The first layer's results.
@compute @workgroup_size(64)
fn compose(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= chunk.cells {
        return;
    }
    var sum = shares[id.y];
    for (var i = 0u; i < chunk.per_cell; i++) {
        sum += shares[cells[id.x * chunk.per_cell + i] * chunk.units + id.y];
    }
    after[id.y * layer.stride + id.x] = activated(sum);
}

// The next layer's results, for eight units.
@compute @workgroup_size(64)
fn multiply(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= chunk.cells {
        return;
    }
    var low = bias[id.y * 2u];
    var high = bias[id.y * 2u + 1u];
    var weight = id.y * layer.inputs * 2u;
    for (var i = 0u; i < layer.inputs; i++) {
        let value = before[i * layer.stride + id.x];
        low += weights[weight] * value;
        high += weights[weight + 1u] * value;
        weight += 2u;
    }
    let first = id.y * 8u;
    put(first, id.x, low.x);
    put(first + 1u, id.x, low.y);
    put(first + 2u, id.x, low.z);
    put(first + 3u, id.x, low.w);
    put(first + 4u, id.x, high.x);
    put(first + 5u, id.x, high.y);
    put(first + 6u, id.x, high.z);
    put(first + 7u, id.x, high.w);
}

// The squares of a layer's inputs, added up for each cell.
@compute @workgroup_size(64)
fn square(@builtin(global_invocation_id) id: vec3<u32>) {
    if id.x >= chunk.cells {
        return;
    }
    var sum = 0.0;
    for (var i = 0u; i < layer.inputs; i++) {
        let value = before[i * layer.stride + id.x];
        sum += value * value;
    }
    squares[layer.squares * layer.stride + id.x] = sum;
}
