// The fairness section: cost, loss and gap in one picture, which summaries stay within a limit on the gap, what the limit costs, and subgroups.

import { axes, chart, line, px, scale } from './axes.js';
import { choice, clipped, h, put, s, word } from './dom.js';
import { MEASURES, figuresOf } from './figures.js';
import { count, data, point } from './front.js';
import { fixed, grouped, percent, signed } from './numbers.js';
import { table, tableOf } from './tables.js';

const SHADES = 4;

/** At every summary, the largest distance of a group from everyone else. */
function distances(groups, name) {
  return Array.from({ length: count }, (_, i) => Math.max(...groups.map(({ measures }) => Math.abs(measures[name].gap[i]))));
}

/** The summary with the lowest invalidity among those within the limit. */
function best(gaps, limit) {
  let found = -1;
  gaps.forEach((gap, i) => {
    if (gap <= limit && (found < 0 || point(i).invalidity < point(found).invalidity)) found = i;
  });
  return found;
}

/** Two panels over one axis of costs: the summaries by success, coloured by gap; and the gap itself, with the limit across. */
function drawing(width, gaps, measure, limit, choose) {
  const upper = Math.round(Math.min(340, Math.max(230, width * 0.36)));
  const height = upper + 206;
  const [left, right] = [52, width - 14];
  const [above, below] = [{ left, right, top: 34, bottom: upper - 18 }, { left, right, top: upper + 42, bottom: height - 44 }];
  const topCost = point(count - 1).cost * 1.02 || 1;
  const widest = Math.max(...gaps) || 1;
  const x = { low: 0, high: topCost, label: 'mean cost per person', scale: scale(0, topCost, left, right) };
  const y = { low: 0, high: 1, percent: true, label: 'Works for, share of people', scale: scale(0, 1, above.bottom, above.top) };
  const g = { low: 0, high: widest * 1.06, label: `Gap of ${measure} between groups`, scale: scale(0, widest * 1.06, below.bottom, below.top) };
  const xs = gaps.map((_, i) => x.scale(point(i).cost));
  const [works, curve] = [gaps.map((_, i) => y.scale(1 - point(i).loss)), gaps.map((gap) => g.scale(gap))];
  const shade = (gap) => Math.min(SHADES - 1, Math.floor((gap / widest) * SHADES));
  const dots = (ys, wanted) => gaps.map((gap, i) => (wanted(gap) ? `M${px(xs[i])} ${px(ys[i])}h0` : '')).join('');
  const coloured = (ys) => [s('path', { class: 'gap-dots beyond', d: dots(ys, (gap) => gap > limit) }),
    Array.from({ length: SHADES }, (_, k) => s('path', { class: `gap-dots gap-${k}`, d: dots(ys, (gap) => gap <= limit && shade(gap) === k) }))];
  const marks = s('g');
  const lowest = Math.min(...gaps);
  const svg = s('svg', {
    viewBox: `0 0 ${width} ${height}`, role: 'img',
    'aria-label': `Two panels over mean cost. Above, how many people each of ${grouped(count)} summaries works for, coloured by the gap of ${measure} between groups, from ${fixed(lowest, 3)} to ${fixed(widest, 3)}; below, that gap. Summaries beyond the limit are grey. The slider moves along it; the table below has all figures.`,
  },
  axes(above, { ...x, label: '' }, y), coloured(works),
  axes(below, x, g), s('path', { class: 'gap-curve', d: line(xs, curve) }), coloured(curve),
  s('line', { class: 'gap-limit', x1: left, x2: right, y1: px(g.scale(Math.min(limit, g.high))), y2: px(g.scale(Math.min(limit, g.high))) }),
  marks);
  svg.addEventListener('click', (event) => {
    const box = svg.getBoundingClientRect();
    const [cx, cy] = [((event.clientX - box.left) / box.width) * width, ((event.clientY - box.top) / box.height) * height];
    const ys = cy < upper ? works : curve;
    const far = (i) => (xs[i] - cx) ** 2 + (ys[i] - cy) ** 2;
    choose(xs.reduce((nearest, _, i) => (far(i) < far(nearest) ? i : nearest), 0));
  });
  const update = (i) => marks.replaceChildren(
    s('line', { class: 'cross', x1: px(xs[i]), x2: px(xs[i]), y1: above.top, y2: below.bottom }),
    s('circle', { class: 'gap-chosen', r: 7, cx: px(xs[i]), cy: px(works[i]) }),
    s('circle', { class: 'gap-chosen', r: 7, cx: px(xs[i]), cy: px(curve[i]) }),
    s('text', { class: 'strong', 'text-anchor': xs[i] > width / 2 ? 'end' : 'start', x: px(xs[i] + (xs[i] > width / 2 ? -10 : 10)), y: px(Math.max(curve[i] - 8, below.top + 10)) }, fixed(gaps[i], 3)));
  return { svg, update };
}

function legend(gaps) {
  const widest = Math.max(...gaps);
  const swatch = (kind) => s('svg', { viewBox: '0 0 26 12', 'aria-hidden': 'true' }, s('path', { class: `gap-dots ${kind}`, d: 'M13 6h0' }));
  const bands = Array.from({ length: SHADES }, (_, k) => h('li', {}, swatch(`gap-${k}`), `${fixed((widest * k) / SHADES, 3)} to ${fixed((widest * (k + 1)) / SHADES, 3)}`));
  return h('ul', { class: 'legend' }, bands, h('li', {}, swatch('beyond'), 'beyond the limit'));
}

/** What a limit costs, in a sentence. */
function price(gaps, limit, choose) {
  const [free, held] = [best(gaps, Infinity), best(gaps, limit)];
  if (held < 0) return h('p', {}, `No summary of this front has a gap of at most ${fixed(limit, 3)}; the smallest is ${fixed(Math.min(...gaps), 3)}.`);
  const [before, after] = [point(free), point(held)];
  const button = h('button', { type: 'button', onclick: () => choose(held) }, `Choose summary ${grouped(held)}`);
  const change = held === free
    ? 'the same as without a limit'
    : `invalidity ${signed(after.invalidity - before.invalidity)}, cost ${signed(after.cost - before.cost)}, loss ${signed(after.loss - before.loss)} against the best without a limit`;
  return h('p', {}, `Within ${fixed(limit, 3)}, ${grouped(gaps.filter((gap) => gap <= limit).length)} of ${grouped(count)} summaries remain. The one with the lowest invalidity works for ${percent(1 - after.loss)} at a mean cost of ${fixed(after.cost, 3)}, with a gap of ${fixed(gaps[held], 3)}: ${change}. `, button);
}

function subgroups() {
  const { scan } = data;
  if (!scan) return null;
  const title = h('h3', {}, 'Subgroups that nobody named');
  const lede = h('p', { class: 'soft' }, `The worst-off subgroups by ${scan.measure} at summary ${grouped(scan.point)}, of up to ${scan.max_terms} conditions on `,
    scan.shown.flatMap((name, k) => [k > 0 ? ', ' : '', word(name)]),
    `. The p-value is the share of ${grouped(scan.permutations)} shuffles of people's values whose worst-off subgroup is at least as bad, so it allows for the search. Subgroups that mostly repeat a worse one are left out.`);
  if (scan.found.length === 0) return [title, lede, h('p', { class: 'notice' }, 'No subgroup is large enough and worse off.')];
  const held = scan.found.some((subgroup) => subgroup.holdout);
  const number = (label, show) => ({ label, number: true, show });
  const columns = [
    { label: 'subgroup', show: (terms) => terms.flatMap((term, k) => [k > 0 ? h('span', { class: 'soft' }, ' and ') : '', word(term, 'value')]) },
    number('people', grouped), number('mean', (value) => fixed(value, 3)), number('everyone else', (value) => fixed(value, 3)),
    number('gap', (value) => signed(value)), number('z', (value) => fixed(value, 2)), number('p', (value) => fixed(value, 3)),
    ...(held ? [{ label: 'held-out people', show: (found) => (found && found.gap !== null
      ? [`${found.confirmed ? 'confirmed' : 'not confirmed'}: ${signed(found.gap)} (${signed(found.low)} to ${signed(found.high)}), `, `p ${fixed(found.p, 3)}`] : 'too few people') }] : []),
  ];
  const rows = scan.found.map(({ shown, affected, value, others, gap, z, p, holdout }) => [shown, affected, value, others, gap, z, p, ...(held ? [holdout] : [])]);
  return [title, lede, table('The worst-off subgroups', columns, rows, () => false, 'wide')];
}

/** All summaries with their gap, as a table. */
function asTable(gaps, groups, name, current) {
  const number = (label, show) => ({ label, number: true, show });
  const columns = [number('summary'), number('mean cost', (value) => fixed(value, 4)), number('works for', (value) => percent(value)), number(`gap of ${name}`, (value) => fixed(value, 4)),
    ...groups.map((group) => number(`${name} of ${clipped(group.name)}`, (value) => fixed(value, 4)))];
  const rows = () => gaps.map((gap, i) => [i, point(i).cost, 1 - point(i).loss, gap, ...groups.map(({ measures }) => measures[name].values[i])]);
  return tableOf(`Cost, success and gap of ${name}`, 'fairness.csv', columns, rows, current);
}

/** What the chosen summary means for the groups, in a sentence. */
function chosenText(gaps, groups, name, i) {
  return ['Chosen: summary ', grouped(i), `, gap of ${name} `, h('b', { class: 'number' }, fixed(gaps[i], 3)), ' (',
    groups.flatMap((group, k) => [k > 0 ? ', ' : '', word(group.name, 'value'), `: ${fixed(group.measures[name].values[i], 3)}`]), ').'];
}

/** The picture with its controls, and the subgroups; `choose(i)` chooses a summary. `regroup(grouping)` shows another grouping. */
export function gapLimitSection(choose) {
  const body = h('div');
  let view = { grouping: 0, measure: MEASURES.indexOf('loss'), share: 1 };
  let current = 0;
  let update = () => {};
  const show = () => {
    const name = MEASURES[view.measure];
    const groups = figuresOf(view.grouping, 'reference').groups.filter(({ measures }) => measures);
    const head = [
      h('p', { class: 'lede' }, 'Cost, loss and gap in one picture, by ', word(data.groupings[view.grouping].shown, 'value'), '. Each dot is a summary; its colour is the gap: the largest distance of a group from everyone else.'),
      data.groupings.length > 1 && h('p', { class: 'soft small' }, 'The choice of groups above applies here too.'),
    ];
    if (groups.length === 0) {
      put(body, head, h('p', { class: 'notice' }, 'No group is large enough for a statement about recourse.'), subgroups());
      update = () => {};
      return;
    }
    const gaps = distances(groups, name);
    const limit = () => Math.max(...gaps) * view.share;
    const [said, chosen] = [h('div', { 'aria-live': 'polite' }), h('p', { id: 'fairness-chosen' })];
    let drawn = null;
    const figure = chart((width) => {
      drawn = drawing(width, gaps, name, limit(), choose);
      drawn.update(current);
      return drawn.svg;
    });
    const shown = h('b', { class: 'number' });
    const redraw = () => {
      shown.textContent = fixed(limit(), 3);
      slider.setAttribute('aria-valuetext', fixed(limit(), 3));
      put(said, price(gaps, limit(), choose));
      figure.redraw();
    };
    const slider = h('input', { type: 'range', min: 0, max: 100, value: Math.round(100 * view.share), 'aria-label': 'Limit on the gap', oninput: () => { view.share = Number(slider.value) / 100; redraw(); } });
    const controls = h('div', { class: 'tabs fair-controls' },
      choice('Gap of', MEASURES, view.measure, (measure) => { view = { ...view, measure }; show(); }),
      h('label', {}, h('span', { class: 'soft small' }, 'Limit on the gap '), slider, ' ', shown));
    const listed = asTable(gaps, groups, name, () => current);
    put(body, head, controls, legend(gaps), figure, chosen, said, listed,
      h('p', { class: 'soft small' }, `The limit chooses among the summaries of this front.${data.fairness ? '' : ' A search that is limited from the start may find better ones.'}`), subgroups());
    redraw();
    update = (i) => {
      drawn?.update(i);
      put(chosen, chosenText(gaps, groups, name, i));
      listed.refresh();
    };
    update(current);
  };
  const usable = data.groupings.length > 0 && count > 1;
  if (usable) show();
  else put(body, h('p', {}, 'No groups were named, so there is no gap to show.'), subgroups());
  return {
    nodes: [body],
    update(i) { current = i; update(i); },
    regroup(grouping) { view = { ...view, grouping }; if (usable) show(); },
  };
}
