// Several fronts in one drawing: the new one over the old one, and one that is still growing.

import { axes, chart, px, scale } from './axes.js';
import { h, s } from './dom.js';
import { fixed, grouped, percent } from './numbers.js';

function stairs(points, place) {
  const [x0, y0] = place(points[0]);
  return `M${px(x0)} ${px(y0)}` + points.slice(1).map((at) => { const [x, y] = place(at); return `H${px(x)}V${px(y)}`; }).join('');
}

function drawing(width, fronts) {
  const height = Math.round(Math.min(440, Math.max(270, width * 0.46)));
  const frame = { left: 52, right: width - 14, top: 34, bottom: height - 44 };
  const most = Math.max(...fronts.flatMap(({ points }) => points.map(([cost]) => cost)), 0) || 1;
  const x = { low: 0, high: most * 1.02, label: 'mean cost per person', scale: scale(0, most * 1.02, frame.left, frame.right) };
  const y = { low: 0, high: 1, percent: true, label: width < 480 ? 'Works for, share of people' : 'Works for, share of the people turned down', scale: scale(0, 1, frame.bottom, frame.top) };
  const place = ([cost, loss]) => [x.scale(cost), y.scale(1 - loss)];
  const lines = fronts.filter(({ points }) => points.length > 0).map(({ points, style }) => {
    const path = `${stairs(points, place)}H${frame.right}`;
    return s('path', { class: `front-line ${style}`, d: path });
  });
  return s('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': described(fronts) }, axes(frame, x, y), lines);
}

function described(fronts) {
  if (fronts.length === 0) return 'No front yet';
  return fronts.map(({ name, points }) => {
    if (points.length === 0) return `${name}: nothing yet`;
    const [cost, loss] = points.at(-1);
    return `${name}: works for up to ${percent(1 - loss)} at a mean cost of ${fixed(cost, 3)}`;
  }).join('. ');
}

/** A chart of fronts: `{name, points: [[cost, loss]], style, count}`; `show(fronts)` draws others. */
export function frontsChart() {
  let current = [];
  const figure = chart((width) => drawing(width, current));
  const legend = h('ul', { class: 'legend' });
  return {
    nodes: [legend, figure],
    show(fronts) {
      current = fronts;
      legend.replaceChildren(...fronts.map(({ name, style, count }) => h('li', {},
        s('svg', { viewBox: '0 0 26 12', 'aria-hidden': 'true' }, s('line', { class: `front-line ${style}`, x1: 1, x2: 25, y1: 6, y2: 6 })),
        h('bdi', {}, name), h('span', { class: 'soft' }, ` ${grouped(count)} summaries`))));
      figure.redraw();
    },
  };
}
