// Trees in words: the same sentences as `sogar show` prints. Sentences are lists of parts, so that names and values of the
// table can be set apart from the words around them: `{name}`, `{value}`, or plain text.

import { data, depth, leafCost, leaves, person, point, rules, tree } from './front.js';
import { fixed, grouped, plain, spokenAmount } from './numbers.js';

const features = new Map(data.features.map((feature) => [feature.name, feature]));

/** A value's name within a sentence: in quotes if it would not read as one word. */
export function spoken(level) {
  const number = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(level) && Number.isFinite(Number(level));
  return number || /^(not )?[\p{Alphabetic}\p{N}_-]+$/u.test(level) ? level : `“${level}”`;
}

/** Parts as plain text; names of columns in backticks, display names as they are. */
export function text(parts) {
  return parts.map((part) => {
    if (typeof part === 'string') return part;
    if (part.name === undefined) return part.value;
    return part.display ? part.name : `\`${part.name}\``;
  }).join('');
}

/** What readers call a feature: its display name if it has one. */
export function called(name) {
  return features.get(name)?.display ?? name;
}

/** A feature's name in a sentence. */
function titled(name) {
  const display = features.get(name)?.display;
  return display ? { name: display, display: true } : { name };
}

/** A number with the unit of its feature. */
function withUnit(feature, number) {
  return feature?.unit && (feature.kind === 'real' || feature.kind === 'integer') ? `${number} ${feature.unit}` : number;
}

/** `a`, `a and b`, `a, b, and c`. */
function joined(list) {
  return list.flatMap((parts, i) => {
    if (i === 0) return parts;
    if (list.length === 2) return [' and ', ...parts];
    return [i === list.length - 1 ? ', and ' : ', ', ...parts];
  });
}

/** An interval with both ends in it; `first` writes the first of two numbers, without the unit. */
function interval(least, most, write, first = write) {
  if (least === null) return ['at most ', { value: write(most) }];
  if (most === null) return ['at least ', { value: write(least) }];
  if (least === most) return [{ value: write(least) }];
  return ['between ', { value: first(least) }, ' and ', { value: write(most) }];
}

function levelIndex(levels, level) {
  const found = levels.indexOf(level);
  return found >= 0 ? found : levels.findIndex((other) => Number(other) === Number(level));
}

/** What a path says of a feature: an interval, and the codes that the value may have beside an amount. */
function predicate(condition) {
  const { feature, above, atMost, isNot } = condition;
  const parts = amount(condition);
  if (above === null || atMost !== null) return parts;
  const codes = (feature.codes ?? []).map(plain).filter((code) => !isNot.includes(code));
  return codes.length === 0 ? parts
    : [...parts, ', or the code ', ...codes.flatMap((code, i) => (i === 0 ? [{ value: code }] : [' or ', { value: code }]))];
}

function amount({ feature, above, atMost, is, isNot }) {
  if (is !== null) return [{ value: spoken(is) }];
  // A special code is not at most anything, so a person who is at most something has none; anyone else may have one.
  if (above === null && atMost === null) {
    if (feature.kind === 'binary') return [{ value: spoken(feature.levels[feature.levels[0] === isNot[0] ? 1 : 0]) }];
    const names = isNot.map((level) => ({ value: spoken(level) }));
    if (names.length === 1) return ['not ', names[0]];
    return ['neither ', ...names.slice(0, -1).flatMap((name, i) => (i === 0 ? [name] : [', ', name])), ' nor ', names.at(-1)];
  }
  if (feature.kind === 'ordinal') {
    let [least, most] = [above === null ? null : above + 1, atMost];
    // One end of the scale is no bound, unless it is the only value left.
    if (least === feature.levels.length - 1 && most === null) most = least;
    if (most === 0 && least === null) least = most;
    return interval(least, most, (index) => spoken(feature.levels[index] ?? ''));
  }
  if (feature.kind === 'integer') {
    return interval(above === null ? null : Math.floor(above) + 1, atMost === null ? null : Math.floor(atMost),
      (number) => withUnit(feature, spokenAmount(number)), spokenAmount);
  }
  if (above === null) return ['at most ', { value: withUnit(feature, spokenAmount(atMost)) }];
  if (atMost === null) return ['above ', { value: withUnit(feature, spokenAmount(above)) }];
  return ['above ', { value: spokenAmount(above) }, ' and at most ', { value: withUnit(feature, spokenAmount(atMost)) }];
}

/** The conditions of a path as parts, one list per feature, in the order in which the path first asks about them. */
export function conditions(tests) {
  const found = new Map();
  for (const [split, passed] of tests) {
    const { feature: name, test, value } = data.splits[split];
    if (!found.has(name)) {
      found.set(name, { name, feature: features.get(name), above: null, atMost: null, is: null, isNot: [] });
    }
    const condition = found.get(name);
    if (test === '<=') {
      const edge = typeof value === 'number' ? value : levelIndex(condition.feature.levels, value);
      if (passed) condition.atMost = condition.atMost === null ? edge : Math.min(condition.atMost, edge);
      else condition.above = condition.above === null ? edge : Math.max(condition.above, edge);
    } else {
      const level = typeof value === 'number' ? plain(value) : value;
      if (passed) condition.is = level;
      else condition.isNot.push(level);
    }
  }
  return [...found.values()].map((condition) => [titled(condition.name), ' is ', ...predicate(condition)]);
}

/** The conditions of a path as one list of parts. */
export function way(tests) {
  return joined(conditions(tests));
}

function editParts(edit) {
  const name = titled(edit.feature);
  const feature = features.get(edit.feature);
  if (edit.op === 'shift') {
    const size = Math.abs(edit.by);
    const verb = edit.by > 0 ? 'increase ' : 'decrease ';
    if (feature.kind !== 'ordinal') return [verb, name, ' by ', { value: withUnit(feature, spokenAmount(size)) }];
    return size === 1 ? [verb, name, ' by one level'] : [verb, name, ' by ', { value: spokenAmount(size) }, ' levels'];
  }
  if (edit.op === 'at_least') return ['raise ', name, ' to at least ', { value: withUnit(feature, spokenAmount(edit.to)) }];
  if (edit.op === 'at_most') return ['bring ', name, ' down to at most ', { value: withUnit(feature, spokenAmount(edit.to)) }];
  if (edit.op === 'set') return ['set ', name, ' to ', { value: spoken(edit.to) }];
  if (edit.op === 'swap') return ['change ', name, ' from ', { value: spoken(edit.from) }, ' to ', { value: spoken(edit.to) }];
  return ['switch ', name, ' between ', { value: spoken(feature.levels[0]) }, ' and ', { value: spoken(feature.levels[1]) }];
}

/** An action as parts of a sentence, with a capital letter. */
export function actionParts(index) {
  const action = data.actions[index];
  if (action.edits.length === 0) return ['No change'];
  const list = action.edits.map(editParts);
  const parts = list.flatMap((edit, i) => {
    if (i === 0) return [edit[0][0].toUpperCase() + edit[0].slice(1), ...edit.slice(1)];
    return [i === list.length - 1 ? ', and ' : ', ', ...edit];
  });
  // The words of the result file count, should they ever differ.
  return text(parts) === action.text ? parts : [action.text.replaceAll('`', '')];
}

function counted(rows) {
  return rows === 1 ? '1 person' : `${rows} people`;
}

/** What a leaf advises, and how well that works, as plain text. */
export function leafText(leaf) {
  const action = data.actions[leaf.action];
  if (leaf.rows === null) return `${action.text}: fewer than ${data.min_n} people`;
  if (action.edits.length === 0) return `No change (${counted(leaf.rows)} ${leaf.rows === 1 ? 'stays' : 'stay'} without recourse)`;
  return `${action.text}: works for ${leaf.flipped} of ${counted(leaf.rows)}, mean cost ${fixed(leafCost(leaf), 2)}`;
}

/** One line on a point. */
export function titleText(i) {
  const { cost, loss, invalidity } = point(i);
  const groups = leaves(i) === 1 ? 'one group' : `${leaves(i)} groups`;
  return `Point ${i} of ${data.points.tree.length}: works for ${fixed(100 * (1 - loss), 1)} % at a mean cost of `
    + `${fixed(cost, 3)} (invalidity ${fixed(invalidity, 3)}), ${groups}`;
}

/** The outcome that people hope for, and how many have it. */
function outcomeText() {
  const { desired, shown, rows, affected } = data.population;
  const names = desired.map((name, i) => (shown[i] === name ? `\`${name}\`` : `“${shown[i]}”`)).join(' or ');
  return `People hope for ${names}: ${grouped(rows - affected)} of ${grouped(rows)} have it, ${grouped(affected)} are turned down (${fixed((100 * affected) / rows, 1)} %).`;
}

/** A summary as one sentence per leaf, as `sogar show --format rules` prints it. */
export function rulesText(i) {
  const lines = rules(tree(i)).map(({ tests, leaf }) => (tests.length === 0
    ? `• Everybody: ${leafText(leaf)}.\n`
    : `• If ${text(way(tests))}:\n  ${leafText(leaf)}.\n`));
  return `${titleText(i)}\n${outcomeText()}\n${lines.join('')}`;
}

/** People as result files count them. */
function units(people) {
  return people === null ? null : Math.round(people * person);
}

/** A summary as `sogar show --json` prints it. */
export function summaryJson(i) {
  const root = tree(i);
  const { cost, loss, invalidity, costSum, lossCount } = point(i);
  return {
    outcome: { desired: data.population.desired, have: data.population.rows - data.population.affected, people: data.population.rows, text: outcomeText() },
    point: i, cost, loss, invalidity, cost_sum: costSum, loss_count: lossCount, leaves: leaves(i), depth: depth(root),
    rules: rules(root).map(({ tests, leaf }) => {
      const { id, text: words, edits } = data.actions[leaf.action];
      return {
        if: tests.map(([split, holds]) => {
          const { feature, test, value } = data.splits[split];
          return { feature, test, value, holds };
        }),
        who: conditions(tests).map(text),
        action: { id, text: words, edits },
        rows: units(leaf.rows), flipped: units(leaf.flipped), cost_sum: leaf.costSum,
      };
    }),
  };
}
