// Groups: the classifier's own rates, recourse along the front, and who stands in which leaf.

import { panel } from './disparity.js';
import { choice, clipped, h, put, s, sentence, word } from './dom.js';
import { MEASURES, compositionOf, figuresOf, intervalAt } from './figures.js';
import { count, data, point, rules, tree } from './front.js';
import { fixed, grouped, percent, signed } from './numbers.js';
import { table, tableOf } from './tables.js';
import { actionParts, way } from './words.js';

const TITLES = { cost: 'Mean cost', loss: 'Loss', invalidity: 'Invalidity' };
const COLORS = 8;

const share = (value) => (value === null || value === undefined ? '–' : percent(value));
const ends = (interval) => (interval ? `${percent(interval.low)} to ${percent(interval.high)}` : '–');
const amount = (value) => (value === null || value === undefined ? `fewer than ${data.min_n}` : grouped(value));

/** A group's colour and name. */
function label(groups, index) {
  return [h('span', { class: `swatch f${index % COLORS}`, 'aria-hidden': 'true' }), word(groups[index].name, 'value')];
}

/** What the small bars in the tree mean. */
export function mixLegend(grouping) {
  if (data.groupings.length === 0) return null;
  const { shown, reference } = data.groupings[grouping];
  return h('p', { class: 'soft small' }, 'Thin bars: the people of a leaf by ', word(shown, 'value'), ': ',
    reference.groups.map((_, g) => h('span', { class: 'key' }, label(reference.groups, g))), h('span', { class: 'key' }, h('span', { class: 'swatch untold', 'aria-hidden': 'true' }), 'not shown, too few'));
}

/** A small bar for a leaf of the tree: its people by group. */
export function mixOf(leaf, grouping) {
  const mix = data.groupings.length > 0 ? compositionOf(leaf, grouping) : null;
  if (!mix) return null;
  const part = (rows, kind) => {
    const span = h('span', { class: kind });
    span.style.flex = String(rows);
    return rows > 0 ? span : null;
  };
  const hidden = Number((leaf.rows - mix.reduce((sum, cell) => sum + (cell?.rows ?? 0), 0)).toFixed(6));
  const parts = [...mix.map((cell, g) => part(cell?.rows ?? 0, `f${g % COLORS}`)), part(hidden, 'untold')];
  const words = [...mix.map((cell, g) => cell && `${clipped(data.groupings[grouping].reference.groups[g].name)} ${cell.rows}`).filter(Boolean),
    hidden > 0 && `not shown ${hidden}`].filter(Boolean).join(', ');
  return h('div', { class: 'mix', title: words }, h('div', { class: 'mixbar', role: 'img', 'aria-label': words }, parts));
}

/** What the classifier does by itself. */
function ratesTable(figures) {
  const labelled = figures.groups.some((group) => group.tpr !== null);
  const columns = [
    { label: 'group', show: (name, row) => label(figures.groups, row.at(-1)) }, { label: 'people', number: true, show: amount },
    { label: 'turned down', number: true, show: amount }, { label: 'adverse rate', number: true, show: share },
    { label: 'selection rate', number: true, show: share }, { label: '95 % interval', number: true, show: ends },
    ...(labelled ? [{ label: 'true positive rate', number: true, show: share }, { label: '95 % interval', number: true, show: ends }] : []),
  ];
  const rows = figures.groups.map((group, i) => [
    group.name, group.rows, group.affected, group.adverse_rate, group.selection_rate, group.selection_rate_interval,
    ...(labelled ? [group.tpr, group.tpr_interval] : []), i]);
  const ratio = (value, { low, high } = {}) => (value === null ? 'not known' : `${fixed(value, 2)}${low === undefined ? '' : ` (${fixed(low, 2)} to ${fixed(high, 2)})`}`);
  return [
    table('The classifier itself: whom it turns down', columns, rows),
    h('p', {}, 'Adverse-rate ratio ', h('b', { class: 'number' }, ratio(figures.adverse_rate_ratio, figures.adverse_rate_ratio_interval ?? undefined)), ' · selection-rate ratio ',
      h('b', { class: 'number' }, ratio(figures.selection_rate_ratio, figures.selection_rate_ratio_interval ?? undefined)),
      figures.tpr_gap !== null && [' · gap of true positive rates ', h('b', { class: 'number' }, fixed(figures.tpr_gap, 3)), figures.tpr_gap_interval && ` (${fixed(figures.tpr_gap_interval.low, 3)} to ${fixed(figures.tpr_gap_interval.high, 3)})`],
      h('span', { class: 'soft' }, ' (screening figures, not a legal verdict)')),
  ];
}

function frontTable(figures, names) {
  const columns = [
    { label: 'group', show: (name, row) => label(figures.groups, row.at(-1)) },
    ...MEASURES.map((name) => ({
      label: `gap of ${name}`, number: true,
      show: (measure) => [h('div', {}, h('b', {}, signed(measure.mean_gap)), ` (${signed(measure.mean_gap_low)} to ${signed(measure.mean_gap_high)})`),
        h('div', { class: 'soft small' }, `worse on ${percent(measure.share_worse)}`),
        h('div', { class: 'soft small' }, `widest ${signed(measure.gap[measure.widest])} at summary ${grouped(measure.widest)}`)],
    })),
  ];
  const rows = names.map((g) => [figures.groups[g].name, ...MEASURES.map((name) => figures.groups[g].measures[name]), g]);
  return [
    table('Over the whole front: each group against everyone else', columns, rows),
    h('p', { class: 'soft small' }, 'Each cell: the mean gap over all summaries with its 95 % interval, the share of summaries on which the group is worse off, and the widest gap.'),
  ];
}

function chosenTable(figures, i) {
  const columns = [
    { label: 'group', show: (name, row) => label(figures.groups, row.at(-1)) }, { label: 'people', number: true, show: amount },
    ...MEASURES.map((name) => ({ label: TITLES[name].toLowerCase(), number: true })),
    { label: 'gap of invalidity (95 % interval)', number: true },
  ];
  const rows = figures.groups.map((group, g) => {
    if (!group.measures) return [group.name, group.affected, '–', '–', '–', 'too few people', g];
    const at = MEASURES.map((name) => fixed(group.measures[name].values[i], 3));
    const { low, high, exact } = intervalAt(group.measures.invalidity, i);
    return [group.name, group.affected, ...at, `${signed(group.measures.invalidity.gap[i])} (${exact ? '' : '≈ '}${signed(low)} to ${signed(high)})`, g];
  });
  return table(`Under the chosen summary (${grouped(i)} of ${grouped(count)})`, columns, rows);
}

function compositionTable(grouping, i) {
  const { groups } = data.groupings[grouping].reference;
  const leaves = rules(tree(i));
  const columns = [
    { label: 'people with', show: (_, row) => { const { tests, leaf } = leaves[row[0]]; return [tests.length === 0 ? 'everybody' : sentence(way(tests)), h('div', { class: 'soft small' }, '→ ', sentence(actionParts(leaf.action)))]; } },
    { label: 'who', show: (_, row) => mixOf(leaves[row[0]].leaf, grouping) ?? '–' },
    ...groups.map(({ name }, g) => ({
      label: clipped(name), number: true,
      show: (_, row) => {
        const cell = compositionOf(leaves[row[0]].leaf, grouping)?.[g];
        if (!cell) return 'not shown';
        const { rows, flipped } = cell;
        return rows === 0 ? 'nobody' : [grouped(rows), h('div', { class: 'soft small' }, `works for ${percent(flipped / rows, 0)}`)];
      },
    })),
  ];
  return table('Who stands in which leaf of the chosen summary', columns, leaves.map((_, k) => [k, null, ...groups.map(() => null)]), () => false, 'wide');
}

function disparityRows(figures, shown) {
  const groups = figures.groups.map((group, g) => [group, g]).filter(([group, g]) => group.measures && shown.includes(g));
  const columns = [
    { label: 'summary', number: true }, { label: 'mean cost', number: true, show: (value) => fixed(value, 4) },
    ...groups.flatMap(([group]) => MEASURES.flatMap((name) => [
      { label: `${clipped(group.name)}: ${name}`, number: true, show: (value) => fixed(value, 4) },
      { label: `${clipped(group.name)}: gap of ${name}`, number: true, show: (value) => signed(value, 4) }])),
  ];
  const rows = () => Array.from({ length: count }, (_, i) => [i, point(i).cost,
    ...groups.flatMap(([group]) => MEASURES.flatMap((name) => [group.measures[name].values[i], group.measures[name].gap[i]]))]);
  return { columns, rows };
}

/** The group that fares worst over the whole front: where a reader should look first. */
function worst(figures) {
  let found = -1;
  figures.groups.forEach(({ measures }, g) => {
    if (measures && (found < 0 || measures.invalidity.mean_gap > figures.groups[found].measures.invalidity.mean_gap)) found = g;
  });
  return found;
}

/** The section. `regroup(grouping)` tells others which grouping is looked at. */
export function groupsSection(regroup) {
  const body = h('div');
  let current = 0;
  let view = { grouping: 0, where: 0, focus: null, gaps: true };
  let update = () => {};
  if (data.groupings.length === 0) {
    put(body,
      h('p', {}, 'No groups were named, so this report does not compare who gets help and at what cost. To compare groups, name the columns:'),
      h('pre', {}, h('code', {}, 'sogar report front.json --group sex --group sex×race -o report.html')));
    return { nodes: [body], update() {} };
  }

  const show = () => {
    const places = ['reference', ...(data.groupings[view.grouping].holdout ? ['holdout'] : [])];
    const figures = figuresOf(view.grouping, places[view.where] ?? 'reference');
    const large = figures.groups.map((group, g) => (group.measures ? g : -1)).filter((g) => g >= 0);
    const focus = large.includes(view.focus) ? view.focus : worst(figures);
    const set = (change) => { view = { ...view, ...change }; show(); };
    const chooseGrouping = (grouping) => { set({ grouping, focus: null }); regroup(grouping); };
    const tabs = h('div', { class: 'tabs' },
      data.groupings.length > 1 && choice('Groups by', data.groupings.map(({ shown }) => shown), view.grouping, chooseGrouping),
      places.length > 1 && choice('Among', ['the people of the table', 'held-out people'], view.where, (where) => set({ where })),
      large.length > 0 && choice('Show', ['the gap of one group', 'each group'], view.gaps ? 0 : 1, (mode) => set({ gaps: mode === 0 })),
      view.gaps && large.length > 1 && choice('Group', large.map((g) => figures.groups[g].name), large.indexOf(focus), (k) => set({ focus: large[k] })));

    let panels = [];
    if (large.length > 0) {
      panels = MEASURES.map((name) => {
        const groups = view.gaps ? [focus] : large;
        const series = groups.map((g) => {
          const measure = figures.groups[g].measures[name];
          return { name: clipped(figures.groups[g].name), values: view.gaps ? measure.gap : measure.values, color: g % COLORS };
        });
        const measure = figures.groups[focus].measures[name];
        const band = view.gaps ? { points: measure.points, low: measure.low, high: measure.high, color: focus % COLORS } : null;
        return panel(view.gaps ? `Gap of ${TITLES[name].toLowerCase()}` : TITLES[name], series, band, current);
      });
    }
    const caption = view.gaps && focus >= 0
      ? ['How much worse off “', word(figures.groups[focus].name, 'value'), '” is than everyone else, at every summary. Above 0 is worse. The band is the 95 % interval.']
      : ['Each group along the front. Lower is better.'];
    const legend = !view.gaps && h('ul', { class: 'legend' }, large.map((g) => h('li', {},
      s('svg', { viewBox: '0 0 26 12', 'aria-hidden': 'true' }, s('line', { class: `group-line c${g % COLORS} d${g % COLORS}`, x1: 1, x2: 25, y1: 6, y2: 6 })),
      word(figures.groups[g].name, 'value'))));
    const shown = view.gaps ? [focus] : large;
    const { columns, rows } = disparityRows(figures, large.length > 6 ? shown : large);
    const asTable = tableOf('Group figures along the front', 'groups.csv', columns, rows, () => current);
    const [chosen, mix] = [h('div', { id: 'groups-chosen' }), h('div', { id: 'groups-mix' })];
    put(body, tabs, ratesTable(figures),
      large.length > 0
        ? [h('h3', {}, 'Along the front'), h('p', { class: 'soft' }, caption), legend, h('div', { class: 'panels' }, panels.map(({ figure }) => figure)), asTable, frontTable(figures, large)]
        : h('p', { class: 'notice' }, 'No group is large enough for a statement about recourse.'),
      chosen, mix);
    const small = figures.groups.filter((group) => !group.measures);
    if (small.length > 0 && large.length > 0) {
      body.append(h('p', { class: 'soft small' }, 'Too few people turned down for a statement on recourse: ', small.flatMap(({ name }, k) => [k > 0 ? ', ' : '', word(name, 'value')]), '.'));
    }
    update = (i) => {
      panels.forEach((one) => one.update(i));
      asTable.refresh();
      put(chosen, large.length > 0 && chosenTable(figures, i));
      put(mix, places[view.where] === 'reference' && compositionTable(view.grouping, i));
    };
    update(current);
  };
  show();
  return { nodes: [body], update(i) { current = i; update(i); } };
}
