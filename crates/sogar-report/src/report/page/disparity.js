// Group disparity along the front: one panel a measure.

import { axes, chart, line, px, scale } from './axes.js';
import { s } from './dom.js';
import { count, point } from './front.js';
import { fixed, signed } from './numbers.js';

/** Of the places that share a pixel's column, the first, lowest, highest and last: enough for a line to look the same. */
function thin(xs, ys) {
  const keep = [];
  for (let start = 0; start < xs.length;) {
    const column = Math.round(xs[start]);
    let end = start;
    let [low, high] = [start, start];
    while (end < xs.length && Math.round(xs[end]) === column) {
      if (ys[end] < ys[low]) low = end;
      if (ys[end] > ys[high]) high = end;
      end += 1;
    }
    keep.push(...[...new Set([start, low, high, end - 1])].sort((a, b) => a - b));
    start = end;
  }
  return line(keep.map((i) => xs[i]), keep.map((i) => ys[i]));
}

function bounds(arrays) {
  let [low, high] = [0, 0];
  for (const array of arrays) {
    for (const value of array) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  const room = 0.06 * (high - low || 0.1);
  return [low < 0 ? low - room : 0, high + room];
}

function drawing(width, title, series, band) {
  const gaps = band !== null;
  const height = 250;
  const frame = { left: 50, right: width - 10, top: 36, bottom: height - 44 };
  const [low, high] = bounds([...series.map(({ values }) => values), ...(band ? [band.low, band.high] : [])]);
  const topCost = point(count - 1).cost || 1;
  const x = { low: 0, high: topCost, label: 'mean cost of the summary', scale: scale(0, topCost, frame.left, frame.right) };
  const y = { low, high, label: title, scale: scale(low, high, frame.bottom, frame.top) };
  const xs = Array.from({ length: count }, (_, i) => x.scale(point(i).cost));
  const ribbon = band && (() => {
    const across = band.points.map((i) => xs[i]);
    const upper = line(across, Array.from(band.high, y.scale));
    const lower = line([...across].reverse(), Array.from(band.low, y.scale).reverse());
    return `${upper}${lower.replace(/^M/, 'L')}Z`;
  })();
  const mark = s('g');
  const described = series.map(({ name, values }) => `${name} from ${fixed(values[0], 3)} to ${fixed(values[count - 1], 3)}`).join('; ');
  const svg = s('svg', { class: count > 800 ? 'dense' : undefined, viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${title} along the front: ${described}. The table below has all figures.` },
    axes(frame, x, y),
    ribbon && s('path', { class: `band f${band.color}`, d: ribbon }),
    series.map(({ values, color }) => s('path', { class: `group-line c${color}${gaps ? '' : ` d${color}`}`, d: thin(xs, Array.from(values, y.scale)) })),
    mark);
  const update = (i) => {
    mark.replaceChildren(
      s('line', { class: 'cross', x1: px(xs[i]), x2: px(xs[i]), y1: frame.top, y2: frame.bottom }),
      ...series.map(({ values, color }) => s('circle', { class: `f${color}`, r: 4.5, cx: px(xs[i]), cy: px(y.scale(values[i])) })),
      ...(series.length === 1 ? [s('text', { class: 'strong', x: px(Math.min(xs[i] + 8, frame.right - 52)), y: px(Math.max(y.scale(series[0].values[i]) - 10, frame.top + 10)) }, gaps ? signed(series[0].values[i]) : fixed(series[0].values[i], 3))] : []));
  };
  return { svg, update };
}

/** A panel: `series` are `{name, values, color}`, `band` the interval of the only one. `update(i)` moves the mark. */
export function panel(title, series, band, current) {
  let [drawn, chosen] = [null, current];
  const figure = chart((width) => {
    drawn = drawing(width, title, series, band);
    drawn.update(chosen);
    return drawn.svg;
  });
  return {
    figure,
    update(i) {
      chosen = i;
      drawn?.update(i);
    },
  };
}
