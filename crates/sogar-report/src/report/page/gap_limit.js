// Cost, loss and gap in one picture: which summaries stay within a limit on the gap, and what the limit costs. And subgroups.

import { axes, chart, px, scale } from './axes.js';
import { clipped, h, put, s, word } from './dom.js';
import { MEASURES, figuresOf } from './figures.js';
import { count, data, point } from './front.js';
import { fixed, grouped, percent, signed } from './numbers.js';
import { table } from './tables.js';

const SHADES = 4;

/** At every summary, the largest distance of a group from everyone else; null if no group is large enough. */
function distances(grouping, name) {
  const groups = figuresOf(grouping, 'reference').groups.filter(({ measures }) => measures);
  if (groups.length === 0) return null;
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

function drawing(width, gaps, limit, chosen, choose) {
  const height = Math.round(Math.min(420, Math.max(260, width * 0.44)));
  const frame = { left: 52, right: width - 14, top: 34, bottom: height - 44 };
  const dearest = point(count - 1).cost * 1.02 || 1;
  const x = { low: 0, high: dearest, label: 'mean cost per person', scale: scale(0, dearest, frame.left, frame.right) };
  const y = { low: 0, high: 1, percent: true, label: 'Works for, by the gap between groups', scale: scale(0, 1, frame.bottom, frame.top) };
  const place = (i) => [x.scale(point(i).cost), y.scale(1 - point(i).loss)];
  const widest = Math.max(...gaps) || 1;
  const shade = (gap) => Math.min(SHADES - 1, Math.floor((gap / widest) * SHADES));
  const dots = (wanted) => gaps.map((gap, i) => (wanted(gap) ? `M${px(place(i)[0])} ${px(place(i)[1])}h0` : '')).join('');
  const shades = Array.from({ length: SHADES }, (_, k) => s('path', { class: `gap-dots gap-${k}`, d: dots((gap) => gap <= limit && shade(gap) === k) }));
  const [across, up] = place(chosen);
  const svg = s('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': 'Mean cost and success of every summary, coloured by the gap between groups; those beyond the limit are grey' },
    axes(frame, x, y), s('path', { class: 'gap-dots beyond', d: dots((gap) => gap > limit) }), shades,
    s('circle', { class: 'hover-dot', r: 8, cx: px(across), cy: px(up) }));
  svg.addEventListener('click', (event) => {
    const box = svg.getBoundingClientRect();
    const [cx, cy] = [((event.clientX - box.left) / box.width) * width, ((event.clientY - box.top) / box.height) * height];
    let nearest = 0;
    for (let i = 1; i < count; i += 1) {
      const far = (k) => (place(k)[0] - cx) ** 2 + (place(k)[1] - cy) ** 2;
      if (far(i) < far(nearest)) nearest = i;
    }
    choose(nearest);
  });
  return svg;
}

function legend(gaps) {
  const widest = Math.max(...gaps);
  const swatch = (kind) => s('svg', { viewBox: '0 0 26 12', 'aria-hidden': 'true' }, s('path', { class: `gap-dots ${kind}`, d: 'M13 6h0' }));
  const bands = Array.from({ length: SHADES }, (_, k) => h('li', {}, swatch(`gap-${k}`), `${fixed((widest * k) / SHADES, 3)} to ${fixed((widest * (k + 1)) / SHADES, 3)}`));
  return h('ul', { class: 'legend' }, bands, h('li', {}, swatch('beyond'), 'beyond the limit'));
}

function choice(text, options, value, change) {
  const select = h('select', { 'aria-label': text, onchange: () => change(Number(select.value)) },
    options.map((name, i) => h('option', { value: i, selected: i === value }, clipped(name))));
  return h('label', {}, h('span', { class: 'soft small' }, `${text} `), select);
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
    scan.features.flatMap((name, k) => [k > 0 ? ', ' : '', word(name)]),
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
  const rows = scan.found.map(({ terms, affected, value, others, gap, z, p, holdout }) => [terms, affected, value, others, gap, z, p, ...(held ? [holdout] : [])]);
  return [title, lede, table('The worst-off subgroups', columns, rows, () => false, 'wide')];
}

/** The picture with its controls, and the subgroups; `choose(i)` chooses a summary. */
export function gapLimitSection(choose) {
  const body = h('div', { id: 'fairness' });
  const names = data.groupings.map(({ shown }) => shown);
  let view = { grouping: 0, measure: MEASURES.indexOf('loss'), share: 1 };
  let current = 0;
  let update = () => {};
  const usable = names.length > 0 && count > 1;
  const show = () => {
    const gaps = distances(view.grouping, MEASURES[view.measure]);
    const set = (change) => { view = { ...view, ...change }; show(); };
    const controls = h('div', { class: 'tabs fair-controls' },
      names.length > 1 && choice('Groups by', names, view.grouping, (grouping) => set({ grouping })),
      choice('Gap of', MEASURES, view.measure, (measure) => set({ measure })));
    const head = [h('h3', {}, 'Cost, loss and gap in one picture'),
      h('p', { class: 'soft' }, 'Each dot is a summary; its colour is the largest distance of a group from everyone else. A limit on it greys out the rest and shows what it costs. The limit chooses among the summaries of this front, which were found without it.'), controls];
    if (!gaps) {
      put(body, head, h('p', { class: 'notice' }, 'No group is large enough for a statement about recourse.'), subgroups());
      update = () => {};
      return;
    }
    const widest = Math.max(...gaps);
    const limit = () => widest * view.share;
    const said = h('div', { 'aria-live': 'polite' });
    const figure = chart((width) => drawing(width, gaps, limit(), current, choose));
    const slider = h('input', { type: 'range', min: 0, max: 100, value: Math.round(100 * view.share), 'aria-label': 'Limit on the gap' });
    const shown = h('b', { class: 'number' });
    const redraw = () => {
      shown.textContent = fixed(limit(), 3);
      slider.setAttribute('aria-valuetext', fixed(limit(), 3));
      put(said, price(gaps, limit(), choose));
      figure.redraw();
    };
    slider.addEventListener('input', () => { view.share = Number(slider.value) / 100; redraw(); });
    controls.append(h('label', {}, h('span', { class: 'soft small' }, 'Limit on the gap '), slider, ' ', shown));
    put(body, head, legend(gaps), figure, said, subgroups());
    redraw();
    update = () => figure.redraw();
  };
  if (usable) show();
  else put(body, subgroups());
  return { nodes: [body], update(i) { current = i; update(); } };
}
