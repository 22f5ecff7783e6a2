// The audit's figures of a grouping, unpacked when somebody looks at them.

import { count, data, heldOut, person, point, unpack } from './front.js';

export const MEASURES = ['cost', 'loss', 'invalidity'];

/** The points for which intervals are kept. */
function kept(step) {
  const points = [];
  for (let i = 0; i < count; i += step) points.push(i);
  if (points.at(-1) !== count - 1) points.push(count - 1);
  return points;
}

function sum(a, b) {
  return a.map((value, i) => value + b[i]);
}

/** The gap to everyone else, whose mean is what is left of everybody's total. */
function gaps(values, name, people, where) {
  const all = where === 'holdout' ? data.holdout.affected : data.population.affected;
  const figures = where === 'holdout' ? heldOut : point;
  return values.map((value, i) => value - (figures(i)[name] * all - value * people) / (all - people));
}

function unpackGroup(group, points, where) {
  if (!group.measures) return null;
  const measures = {};
  for (const name of MEASURES) {
    const { values, low, high, ...rest } = group.measures[name];
    measures[name] = { ...rest, points, low: unpack(low), high: unpack(high), values: values && unpack(values) };
  }
  const { cost, loss, invalidity } = measures;
  invalidity.values = sum(cost.values, loss.values);
  for (const name of MEASURES) measures[name].gap = gaps(measures[name].values, name, group.affected, where);
  return measures;
}

const known = new Map();

/** A grouping's figures on the reference table or on held-out people; `measures` of groups are arrays with an entry a point. */
export function figuresOf(grouping, where) {
  const key = `${grouping} ${where}`;
  if (!known.has(key)) {
    const found = data.groupings[grouping][where];
    const points = found && kept(found.interval_step);
    known.set(key, found && { ...found, groups: found.groups.map((group) => ({ ...group, measures: unpackGroup(group, points, where) })) });
  }
  return known.get(key);
}

/** The interval of a measure's gap at a point, or at the nearest point that has one. */
export function intervalAt(measure, i) {
  let best = 0;
  for (let k = 1; k < measure.points.length; k += 1) {
    if (Math.abs(measure.points[k] - i) < Math.abs(measure.points[best] - i)) best = k;
  }
  return { low: measure.low[best], high: measure.high[best], exact: measure.points[best] === i };
}

/** How a leaf's people divide among the groups of a grouping: `{rows, flipped}` a group, null for what is not shown. */
export function compositionOf(leaf, grouping) {
  if (leaf.composition === null) return null;
  return data.compositions[leaf.composition][grouping].map((cell) => cell && { rows: cell[0] / person, flipped: cell[1] / person });
}
