// Which features the advice of the front changes, and how that changes along it.

import { chart, px, scale } from './axes.js';
import { clipped, h, s, word } from './dom.js';
import { count, data, eachLeaf, point } from './front.js';
import { fixed, percent, ticks, digitsFor } from './numbers.js';
import { tableOf } from './tables.js';
import { called } from './words.js';

const used = [...new Set(data.actions.flatMap((action) => action.edits.map((edit) => edit.feature)))];
const names = used.map(called);
const editsOf = data.actions.map((action) => action.edits.map((edit) => used.indexOf(edit.feature)));

/** Per feature the share of people whom a point advises to change it. Leaves that are not shown do not count. */
export function sharesAt(i) {
  const found = new Float64Array(names.length);
  let all = 0;
  eachLeaf(i, (stored) => {
    const rows = stored[1] ?? 0;
    all += rows;
    for (const name of editsOf[stored[0]]) found[name] += rows;
  });
  return found.map((rows) => (all === 0 ? 0 : rows / all));
}

function drawing(width, all, order) {
  const labels = width < 560 ? 132 : 190;
  const row = 26;
  const frame = { left: labels, right: width - 66, top: 8 };
  const bottom = frame.top + order.length * row;
  const topCost = point(count - 1).cost || 1;
  const x = scale(0, topCost, frame.left, frame.right);
  const parts = [];
  const cells = Math.max(20, Math.min(160, Math.floor((frame.right - frame.left) / 4)));
  // The points of each stretch of cost; a stretch without points shows what holds for its budget: the point before.
  const ends = Array.from({ length: cells }, () => []);
  for (let i = 0; i < count; i += 1) ends[Math.min(cells - 1, Math.floor((point(i).cost / topCost) * cells))].push(i);
  const step = (frame.right - frame.left) / cells;
  order.forEach((name, r) => {
    let last = 0;
    // Neighbours of one shade are one rectangle, so that no seams show.
    let [shade, from] = ['0', 0];
    const close = (to) => {
      if (shade !== '0') parts.push(s('rect', { class: 'cell', x: Math.round(frame.left + from * step), y: frame.top + r * row + 3, width: Math.round(frame.left + to * step) - Math.round(frame.left + from * step), height: row - 6, 'fill-opacity': shade }));
    };
    for (let c = 0; c < cells; c += 1) {
      if (ends[c].length > 0) last = ends[c].reduce((sum, i) => sum + all[i][name], 0) / ends[c].length;
      const next = last > 0.002 ? fixed(0.1 + 0.9 * last, 2) : '0';
      if (next !== shade) {
        close(c);
        [shade, from] = [next, c];
      }
    }
    close(cells);
    const label = Array.from(clipped(names[name]));
    const most = Math.floor(labels / 6.4);
    parts.push(s('text', { x: labels - 10, y: frame.top + r * row + 17, 'text-anchor': 'end' }, s('title', {}, clipped(names[name])), label.length > most ? `${label.slice(0, most - 1).join('')}…` : label.join('')));
    parts.push(s('line', { class: 'grid', x1: frame.left, x2: frame.right, y1: frame.top + (r + 1) * row, y2: frame.top + (r + 1) * row }));
  });
  const marks = ticks(0, topCost, Math.max(3, Math.floor((frame.right - frame.left) / 90)));
  for (const mark of marks) {
    parts.push(s('text', { x: px(x(mark)), y: bottom + 20, 'text-anchor': 'middle' }, fixed(mark, digitsFor(marks))));
  }
  parts.push(s('text', { x: (frame.left + frame.right) / 2, y: bottom + 38, 'text-anchor': 'middle' }, 'mean cost per person'));
  parts.push(s('text', { x: frame.right + 62, y: bottom + 20, 'text-anchor': 'end' }, 'chosen'));
  const mark = s('g');
  const svg = s('svg', { viewBox: `0 0 ${width} ${bottom + 46}`, role: 'img', 'aria-label': `Features that the advice changes along the front: ${order.map((name) => clipped(names[name])).join(', ')}. The table below has the figures.` }, parts, mark);
  const update = (i) => {
    const here = px(x(point(i).cost));
    mark.replaceChildren(
      s('line', { class: 'cross', x1: here, x2: here, y1: frame.top - 4, y2: bottom }),
      ...order.map((name, r) => s('text', { class: all[i][name] > 0 ? 'strong' : undefined, x: frame.right + 62, y: frame.top + r * row + 17, 'text-anchor': 'end' }, percent(all[i][name], 0))));
  };
  return { svg, update };
}

/** The chart and its table; `update(i)` moves the mark. */
export function featureUse() {
  const all = Array.from({ length: count }, (_, i) => sharesAt(i));
  const mean = (name) => all.reduce((sum, shares) => sum + shares[name], 0);
  const order = names.map((_, name) => name).sort((a, b) => mean(b) - mean(a));
  let [current, drawn] = [0, null];
  if (order.length === 0) return { nodes: [h('p', {}, 'No summary of this front advises a change.')], update() {} };
  const figure = chart((width) => {
    drawn = drawing(width, all, order);
    drawn.update(current);
    return drawn.svg;
  });
  const columns = [
    { label: 'summary', number: true }, { label: 'mean cost', number: true, show: (cost) => fixed(cost, 4) },
    ...order.map((name) => ({ label: clipped(names[name]), number: true, show: (share) => percent(share) })),
  ];
  const rows = () => all.map((shares, i) => [i, point(i).cost, ...order.map((name) => shares[name])]);
  const asTable = tableOf('Share of people whom a summary advises to change a feature', 'features.csv', columns, rows, () => current);
  const unused = data.features.filter(({ name, change }) => !change.startsWith('never changes') && !used.includes(name));
  return {
    nodes: [figure, unused.length > 0 && h('p', { class: 'soft small' }, 'Changeable, but not used by any summary of the front: ',
      unused.flatMap(({ name }, i) => [i > 0 ? ', ' : '', word(called(name))]), '.'), asTable],
    update(i) {
      current = i;
      drawn?.update(i);
      asTable.refresh();
    },
  };
}
