// Sums of 64 bits: WGSL has integers of 32. x is the lower half, y the upper one.

fn plus(sum: vec2<u32>, more: u32) -> vec2<u32> {
    let low = sum.x + more;
    return vec2<u32>(low, sum.y + select(0u, 1u, low < more));
}

fn plus_wide(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    let low = a.x + b.x;
    return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

// Times 2^bits, for bits from 0 to 31.
fn doubled(a: vec2<u32>, bits: u32) -> vec2<u32> {
    if bits == 0u {
        return a;
    }
    return vec2<u32>(a.x << bits, (a.y << bits) | (a.x >> (32u - bits)));
}

// Without the lowest bits, which are to leave no more than 32.
fn coarse(a: vec2<u32>, bits: u32) -> u32 {
    if bits == 0u {
        return a.x;
    }
    if bits >= 32u {
        return a.y >> min(bits - 32u, 31u);
    }
    return (a.x >> bits) | (a.y << (32u - bits));
}

// The same, rounded up.
fn coarse_up(a: vec2<u32>, bits: u32) -> u32 {
    var lost = false;
    if bits >= 32u {
        lost = a.x != 0u || (a.y & ((1u << min(bits - 32u, 31u)) - 1u)) != 0u;
    } else if bits > 0u {
        lost = (a.x & ((1u << bits) - 1u)) != 0u;
    }
    return coarse(a, bits) + select(0u, 1u, lost);
}
