// The front as a staircase: what each mean cost buys.

import { axes, chart, line, px, scale } from './axes.js';
import { h, s } from './dom.js';
import { count, data, heldOut, leaves, nearestByCost, pair, point } from './front.js';
import { fixed, grouped, percent } from './numbers.js';
import { tableOf } from './tables.js';

/** The share of a held-out point's people for whom it works, for all points at once: from the lower to the upper end. */
const within = (x, y, { cost, works: [, , low, high] }) => `M${px(x.scale(cost))} ${px(y.scale(low))}V${px(y.scale(high))}`;

const dots = (places) => places.map(([x, y]) => `M${px(x)} ${px(y)}h0`).join('');

function drawing(width, choose) {
  const points = Array.from({ length: count }, (_, i) => point(i));
  const there = data.holdout && points.map((_, i) => heldOut(i));
  const height = Math.round(Math.min(440, Math.max(270, width * 0.46)));
  const frame = { left: 52, right: width - 14, top: 34, bottom: height - 44 };
  const topCost = Math.max(points.at(-1).cost, ...(there ?? []).map(({ cost }) => cost)) || 1;
  const x = { low: 0, high: topCost * 1.02, label: 'mean cost per person', scale: scale(0, topCost * 1.02, frame.left, frame.right) };
  const y = { low: 0, high: 1, percent: true, label: width < 480 ? 'Works for' : 'Works for, share of the people turned down', scale: scale(0, 1, frame.bottom, frame.top) };
  const place = ({ cost, loss }) => [x.scale(cost), y.scale(1 - loss)];

  const [x0, y0] = place(points[0]);
  const stairs = `M${px(x0)} ${px(y0)}` + points.slice(1).map((at) => `H${px(place(at)[0])}V${px(place(at)[1])}`).join('');
  const area = `${stairs}H${px(frame.right)}V${frame.bottom}H${px(x0)}Z`;
  const curve = (pairs) => {
    const places = pairs.map((at) => place(pair(at))).filter(([across]) => across <= frame.right);
    return line(places.map(([across]) => across), places.map(([, up]) => up));
  };

  const marks = s('g');
  const hover = s('g', { visibility: 'hidden' }, s('circle', { class: 'hover-dot', r: 6 }));
  const tip = h('div', { class: 'tip', hidden: true });
  const hit = s('rect', { class: 'hit', x: frame.left, y: frame.top - 8, width: frame.right - frame.left, height: frame.bottom - frame.top + 8 });
  const svg = s('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': described() },
    axes(frame, x, y),
    s('path', { class: 'front-area', d: area }),
    data.bound && s('path', { class: 'search-bound', d: curve(data.bound) }),
    data.individual && s('path', { class: 'individual', d: curve(data.individual) }),
    there && s('path', { class: 'heldout-band', d: there.map((at) => within(x, y, at)).join('') }),
    there && s('path', { class: 'heldout', d: dots(there.map(place)) }),
    s('path', { class: 'front-line', d: stairs }),
    data.picks.map((pick) => s('circle', { class: 'pick-dot', r: 4, cx: px(place(points[pick.point])[0]), cy: px(place(points[pick.point])[1]) })),
    marks, hover, hit);

  const under = (event) => {
    const box = svg.getBoundingClientRect();
    return nearestByCost(x.scale.invert(((event.clientX - box.left) / box.width) * width));
  };
  hit.addEventListener('pointermove', (event) => {
    const i = under(event);
    const [across, up] = place(points[i]);
    hover.setAttribute('visibility', 'visible');
    hover.firstChild.setAttribute('cx', px(across));
    hover.firstChild.setAttribute('cy', px(up));
    tip.hidden = false;
    tip.textContent = `summary ${grouped(i)}: works for ${percent(1 - points[i].loss)}, mean cost ${fixed(points[i].cost, 3)}`;
    const right = across > width / 2;
    tip.style.left = right ? '' : `${across + 12}px`;
    tip.style.right = right ? `${width - across + 12}px` : '';
    tip.style.top = `${Math.max(0, up - 40)}px`;
    if (event.buttons === 1) choose(i);
  });
  hit.addEventListener('pointerleave', () => { hover.setAttribute('visibility', 'hidden'); tip.hidden = true; });
  hit.addEventListener('pointerdown', (event) => choose(under(event)));

  const update = (i) => {
    const [across, up] = place(points[i]);
    const held = there && place(there[i]);
    marks.replaceChildren(
      s('line', { class: 'cross', x1: frame.left, x2: px(across), y1: px(up), y2: px(up) }),
      s('line', { class: 'cross', x1: px(across), x2: px(across), y1: px(up), y2: frame.bottom }),
      ...(held ? [s('line', { class: 'cross', x1: px(across), y1: px(up), x2: px(held[0]), y2: px(held[1]) }),
        s('path', { class: 'chosen-band', d: within(x, y, there[i]) }),
        s('circle', { class: 'chosen-heldout', r: 5.5, cx: px(held[0]), cy: px(held[1]) })] : []),
      s('circle', { class: 'chosen', r: 7, cx: px(across), cy: px(up) }));
  };
  return { nodes: [svg, tip], update };
}

function described() {
  const [first, last] = [point(0), point(count - 1)];
  return `Staircase of ${grouped(count)} summaries, from a mean cost of ${fixed(first.cost, 3)} that works for ${percent(1 - first.loss)} `
    + `to ${fixed(last.cost, 3)} for ${percent(1 - last.loss)}. The slider above moves along it; the table below has all figures.`;
}

function key(shape, text) {
  return h('li', {}, s('svg', { viewBox: '0 0 26 12', 'aria-hidden': 'true' }, shape), text);
}

function legend() {
  const flat = (name) => s('line', { class: name, x1: 1, x2: 25, y1: 6, y2: 6 });
  return h('ul', { class: 'legend' },
    key(flat('front-line'), 'best shared advice for each cost'),
    key(s('circle', { class: 'chosen', cx: 13, cy: 6, r: 5 }), 'chosen summary'),
    key(s('circle', { class: 'pick-dot', cx: 13, cy: 6, r: 4 }), 'named summaries'),
    data.holdout && key(s('circle', { class: 'chosen-heldout', cx: 13, cy: 6, r: 4 }), `the same summaries on ${grouped(data.holdout.affected)} held-out people, and how far from the truth all of them may be (95 %)`),
    data.individual && key(flat('individual'), 'individual advice, which no summary can beat'),
    data.bound && key(flat('search-bound'), 'proven limit of the stopped search'));
}

/** The chart with its legend and table; `update(i)` moves the mark. */
export function staircase(choose) {
  let current = 0;
  let drawn = null;
  const figure = chart((width) => {
    drawn = drawing(width, choose);
    drawn.update(current);
    return drawn.nodes;
  });
  const number = (label, digits) => ({ label, number: true, show: (value) => (value === null ? '–' : fixed(value, digits)) });
  const columns = [
    { label: 'summary', number: true }, number('mean cost', 4), number('loss', 4), number('invalidity', 4),
    { label: 'groups', number: true },
    ...(data.holdout ? ['held-out cost', 'costs at least', 'costs at most', 'held-out loss', 'works at least', 'works at most'].map((label) => number(label, 4)) : []),
  ];
  const rows = () => Array.from({ length: count }, (_, i) => {
    const [here, there] = [point(i), heldOut(i)];
    return [i, here.cost, here.loss, here.invalidity, leaves(i), ...(there ? [there.cost, ...(there.costEnds ?? [null, null]), there.loss, ...there.works.slice(0, 2)] : [])];
  });
  const asTable = tableOf('All summaries of the front, from cheapest to most effective', 'front.csv', columns, rows, () => current);
  const pairs = data.individual && tableOf('Individual advice: what the cheapest way of each person would reach', 'individual.csv',
    [number('mean cost', 4), number('loss', 4)], () => data.individual.map(pair).map(({ cost, loss }) => [cost, loss]));
  if (pairs) pairs.firstChild.textContent = 'Individual advice as a table';
  return {
    nodes: [legend(), figure, asTable, pairs],
    update(i) {
      current = i;
      drawn?.update(i);
      asTable.refresh();
    },
  };
}
