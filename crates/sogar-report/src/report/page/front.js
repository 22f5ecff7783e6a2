// The front: what the data say about a point, a tree, a group.

import { at } from './dom.js';

export const data = JSON.parse(at('data').textContent);
export const count = data.points.tree.length;
const { unit } = data.cost;
// With decimal weights points and leaves are counted in units, of which a person has some.
export const person = data.population.person ?? 1;
const n = Math.round(data.population.affected * person);

function means(costSum, lossCount, people) {
  const cost = costSum / unit / people;
  const loss = lossCount / people;
  return { cost, loss, invalidity: cost + loss, costSum, lossCount };
}

/** A point's figures. */
export function point(i) {
  return means(data.points.cost_sum[i], data.points.loss_count[i], n);
}

/** A point's figures on held-out people, where there are any. */
export function heldOut(i) {
  const there = data.holdout;
  return there && { ...means(there.cost_sum[i], there.loss_count[i], Math.round(there.affected * (there.person ?? 1))), works: there.works[i], costEnds: there.cost[i] };
}

/** A pair (total cost, people not flipped) as figures. */
export function pair([costSum, lossCount]) {
  return means(costSum, lossCount, n);
}

/** What a leaf's people pay on average. */
export function leafCost(leaf) {
  return leaf.costSum / unit / person / (leaf.rows || 1);
}

function node(id) {
  const stored = data.nodes[id];
  if (stored.length === 3) {
    const [left, right] = [node(stored[1]), node(stored[2])];
    const rows = left.rows === null || right.rows === null ? null : left.rows + right.rows;
    return { split: stored[0], left, right, rows };
  }
  // A leaf with too few people to be shown has nothing but its action.
  const [action, rows = null, flipped = null, costSum = null, composition = null] = stored;
  const counted = (units) => units === null ? null : units / person;
  return { action, rows: counted(rows), flipped: counted(flipped), costSum, composition };
}

/** A point's tree. The whole population stands at its root, even where leaves are not shown. */
export function tree(i) {
  const root = node(data.points.tree[i]);
  root.rows = data.population.affected;
  // The share of held-out people for whom a leaf works, and its interval.
  rules(root).forEach(({ leaf }, number) => {
    leaf.heldOut = data.holdout?.leaves[i]?.[number] ?? null;
    leaf.usual = data.plausibility?.[i]?.[number] ?? null;
    leaf.near = data.neighbours?.[i]?.[number] ?? null;
  });
  return root;
}

/** The leaves from left to right, each with the tests on the way: `[split, passed]`. */
export function rules(root, tests = []) {
  if (root.split === undefined) return [{ tests, leaf: root }];
  return [
    ...rules(root.left, [...tests, [root.split, true]]),
    ...rules(root.right, [...tests, [root.split, false]]),
  ];
}

/** Number of tests on the longest way to a leaf. */
export function depth(root) {
  return root.split === undefined ? 0 : 1 + Math.max(depth(root.left), depth(root.right));
}

/** Calls `visit` with the stored numbers of each leaf of a point: quick enough for all points. */
export function eachLeaf(i, visit) {
  const open = [data.points.tree[i]];
  while (open.length > 0) {
    const stored = data.nodes[open.pop()];
    if (stored.length === 3) open.push(stored[2], stored[1]);
    else visit(stored);
  }
}

/** Number of leaves of a point. */
export function leaves(i) {
  let found = 0;
  eachLeaf(i, () => { found += 1; });
  return found;
}

/** Bytes of a base64 text. */
export function bytesOf(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/** The numbers of a packed array. */
export function unpack(packed) {
  const bytes = bytesOf(packed.data);
  const numbers = new Float64Array(bytes.length / packed.bytes);
  for (let i = 0; i < numbers.length; i += 1) {
    let whole = 0;
    for (let b = packed.bytes - 1; b >= 0; b -= 1) whole = whole * 256 + bytes[i * packed.bytes + b];
    numbers[i] = packed.low + packed.step * whole;
  }
  return numbers;
}

/** The cheapest point whose cost is nearest. */
export function nearestByCost(cost) {
  let [low, high] = [0, count - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (point(middle).cost <= cost) low = middle; else high = middle;
  }
  return Math.abs(point(low).cost - cost) <= Math.abs(point(high).cost - cost) ? low : high;
}
