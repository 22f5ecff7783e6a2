// What charts share: a frame with two axes that is drawn anew when its width changes.

import { h, put, s } from './dom.js';
import { digitsFor, fixed, percent, ticks } from './numbers.js';

/** Positions between two numbers. */
export function scale(low, high, from, to) {
  const span = high - low || 1;
  const position = (value) => from + ((value - low) / span) * (to - from);
  position.invert = (place) => low + ((place - from) / (to - from)) * span;
  return position;
}

/** A number for a path, to a tenth of a pixel. */
export function px(number) {
  return Math.round(number * 10) / 10;
}

/** The grid and labels of both axes. `x` and `y`: `{low, high, scale, label, percent}`. */
export function axes(frame, x, y) {
  const { left, right, top, bottom } = frame;
  const parts = [];
  const write = (axis, marks) => (mark) => (axis.percent ? percent(mark, 0) : fixed(mark, digitsFor(marks)).replace('-', '−'));
  const xMarks = ticks(x.low, x.high, Math.max(3, Math.floor((right - left) / 90)));
  const yMarks = ticks(y.low, y.high, Math.max(3, Math.floor((bottom - top) / 55)));
  for (const mark of yMarks) {
    const place = px(y.scale(mark));
    parts.push(s('line', { class: mark === 0 && y.low < 0 ? 'zero' : 'grid', x1: left, x2: right, y1: place, y2: place }));
    parts.push(s('text', { x: left - 8, y: place + 4, 'text-anchor': 'end' }, write(y, yMarks)(mark)));
  }
  parts.push(s('line', { class: 'axis', x1: left, x2: right, y1: bottom, y2: bottom }));
  for (const mark of xMarks) {
    const place = px(x.scale(mark));
    parts.push(s('line', { class: 'axis', x1: place, x2: place, y1: bottom, y2: bottom + 4 }));
    parts.push(s('text', { x: place, y: bottom + 18, 'text-anchor': 'middle' }, write(x, xMarks)(mark)));
  }
  parts.push(s('text', { x: (left + right) / 2, y: bottom + 36, 'text-anchor': 'middle' }, x.label));
  if (y.label) parts.push(s('text', { x: left, y: top - 12, class: 'title' }, y.label));
  return parts;
}

/** A figure whose `draw(width)` gives an SVG; drawn again for other widths. */
export function chart(draw) {
  const plot = h('div', { class: 'plot' });
  const figure = h('figure', { class: 'chart' }, plot);
  let width = 0;
  figure.redraw = (wanted = width) => { if (wanted > 0) put(plot, draw(wanted)); };
  new ResizeObserver(([entry]) => {
    const next = Math.round(entry.contentRect.width);
    if (next > 0 && next !== width) {
      width = next;
      figure.redraw();
    }
  }).observe(figure);
  return figure;
}

/** A path through places; undefined ones interrupt it. */
export function line(xs, ys) {
  let path = '';
  let pen = 'M';
  for (let i = 0; i < xs.length; i += 1) {
    if (Number.isFinite(ys[i])) {
      path += `${pen}${px(xs[i])} ${px(ys[i])}`;
      pen = 'L';
    } else pen = 'M';
  }
  return path;
}
