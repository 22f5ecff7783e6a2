// Fairness inside the search: cost, loss and gap of every summary that no other one beats for every group, as one picture.

import { axes, chart, px, scale } from './axes.js';
import { h, put, s, word } from './dom.js';
import { data } from './front.js';
import { fixed, grouped, people, percent } from './numbers.js';

/** The vectors as means: cost, loss, gap, and the loss of the group that is worst off. */
function vectors({ groups, front }, unit) {
  const all = groups.reduce((sum, group) => sum + group.affected, 0);
  return front.map(([cost, ...losses]) => {
    const loss = losses.reduce((sum, one) => sum + one, 0);
    const distance = (own, size) => Math.abs(own / size - (loss - own) / (all - size));
    return {
      cost: cost / unit / all,
      loss: loss / all,
      gap: Math.max(...losses.map((own, group) => distance(own, groups[group].affected))),
      worst: Math.max(...losses.map((own, group) => own / groups[group].affected)),
      losses: losses.map((own, group) => own / groups[group].affected),
    };
  });
}

/** Those within a limit on the gap that none of them beats in cost and loss. The vectors come by cost. */
function within(list, limit) {
  let least = Infinity;
  return list.filter(({ gap, loss }) => {
    const better = gap <= limit + 1e-12 && loss < least;
    if (better) least = loss;
    return better;
  });
}

const SHADES = 5;

function drawing(list, chosen, widest, width) {
  const height = 340;
  const frame = { left: 56, right: width - 10, top: 36, bottom: height - 44 };
  const topCost = list.reduce((most, { cost }) => Math.max(most, cost), 0) || 1;
  const x = { low: 0, high: topCost, label: 'mean cost', scale: scale(0, topCost, frame.left, frame.right) };
  const y = { low: 0, high: 1, label: 'loss: share of people for whom the advice fails', percent: true, scale: scale(0, 1, frame.bottom, frame.top) };
  // Dots that share a pixel are drawn once, as the fairest of them.
  const seen = new Map();
  for (const one of list) {
    const key = `${Math.round(x.scale(one.cost))} ${Math.round(y.scale(one.loss))}`;
    if (!seen.has(key) || seen.get(key).gap > one.gap) seen.set(key, one);
  }
  const shade = ({ gap }) => Math.min(SHADES - 1, Math.floor((SHADES * gap) / (widest || 1)));
  return s('svg', { viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': `${grouped(list.length)} summaries by mean cost and loss, darker with a larger gap between groups; ${grouped(chosen.length)} of them are the trade-off within the limit` },
    axes(frame, x, y),
    [...seen.values()].map((one) => s('circle', { class: `vector shade-${shade(one)}`, r: 2, cx: px(x.scale(one.cost)), cy: px(y.scale(one.loss)) })),
    s('path', { class: 'group-line c0', d: chosen.map((one, i) => (i === 0 ? `M${px(x.scale(one.cost))} ${px(y.scale(one.loss))}` : `H${px(x.scale(one.cost))}V${px(y.scale(one.loss))}`)).join('') }));
}

/** The section's parts; none if the search did not tell groups apart. */
export function fairnessSection() {
  const { fairness } = data;
  if (!fairness) return [];
  const list = vectors(fairness, data.cost.unit);
  const widest = list.reduce((most, { gap }) => Math.max(most, gap), 0);
  const text = h('p', { 'aria-live': 'polite' });
  const shown = h('output', {});
  let limit = fairness.limit ?? widest;
  const figure = chart((width) => drawing(list, within(list, limit), widest, width));
  const show = () => {
    const chosen = within(list, limit);
    const best = chosen.reduce((a, b) => (b.cost + b.loss < a.cost + a.loss ? b : a));
    put(shown, fixed(limit, 3));
    put(text, `With a gap of at most ${fixed(limit, 3)}, ${grouped(chosen.length)} summaries are the trade-off. The best balance of them works for ${percent(1 - best.loss)} at a mean cost of ${fixed(best.cost, 3)}, with a gap of ${fixed(best.gap, 3)}: it fails `,
      fairness.groups.flatMap(({ group }, i) => [i > 0 ? ', ' : '', `${percent(best.losses[i])} of `, word(group, 'value')]), '.');
    figure.redraw();
  };
  const slider = h('input', { type: 'range', min: 0, max: 1000, value: Math.round((1000 * limit) / (widest || 1)), 'aria-label': 'Largest gap between groups', oninput: (event) => { limit = (widest * Number(event.target.value)) / 1000; show(); } });
  show();
  return [
    h('h3', {}, 'All that the search found, by ', word(fairness.grouping)),
    h('p', {}, `Each dot is one of the ${grouped(list.length)} summaries that no other one beats in cost and in the loss of every group${fairness.epsilon > 0 ? `, to within ${percent(fairness.epsilon)}` : ''}; the darker, the wider the gap between the groups (`,
      fairness.groups.flatMap(({ group, affected }, i) => [i > 0 ? ', ' : '', word(group, 'value'), `: ${people(affected / (data.population.person ?? 1))}`]), ').'),
    h('label', { class: 'limit' }, 'Largest gap ', slider, ' ', shown),
    figure,
    text,
  ];
}
