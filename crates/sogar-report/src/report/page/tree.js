// The chosen summary: drawn as a tree, and as a list of rules.

import { h, sentence } from './dom.js';
import { data, leafCost, rules, tree } from './front.js';
import { fixed, grouped, people, percent } from './numbers.js';
import { actionParts, way } from './words.js';

/** What other modules add to leaves (`leaf => element`) and questions (`split => element`). */
export const additions = { leaf: [], split: [] };

function size(rows) {
  return rows === null ? 'people' : people(rows);
}

/** A share with its 95 % interval: `94 % (90–97 %)`. */
function shareOf([share, low, high]) {
  return `${percent(share, 0)} (${fixed(100 * low, 0)}–${percent(high, 0)})`;
}

/** A leaf: the advice, for how many it works, what it costs. `extra(leaf)` adds what somebody else knows about it. */
function leafCard(leaf, extra) {
  const advice = [h('p', { class: 'advice' }, sentence(actionParts(leaf.action))), additions.leaf.map((add) => add(leaf))];
  if (leaf.rows === null) {
    return h('div', { class: 'leaf' }, advice, h('p', { class: 'outcome' }, `fewer than ${data.min_n} people: figures are not shown`));
  }
  if (data.actions[leaf.action].edits.length === 0) {
    return h('div', { class: 'leaf still' }, advice,
      h('p', { class: 'outcome' }, `${people(leaf.rows)} ${leaf.rows === 1 ? 'stays' : 'stay'} without recourse`), extra(leaf));
  }
  const filled = h('span');
  filled.style.width = `${(100 * leaf.flipped) / leaf.rows}%`;
  return h('div', { class: 'leaf' }, advice,
    h('p', { class: 'outcome' },
      h('span', { class: 'share', 'aria-hidden': 'true' }, filled),
      h('span', {}, `works for ${grouped(leaf.flipped)} of ${people(leaf.rows)}`),
      h('span', {}, `mean cost ${fixed(leafCost(leaf), 2)}`),
      leaf.heldOut && h('span', { class: 'soft' }, `held out ${shareOf(leaf.heldOut)}`),
      leaf.usual && h('span', { class: 'soft', title: 'Those for whom it works: the mean share of real people who are less usual, before and after the change' }, `less usual people ${percent(leaf.usual[0], 0)} → ${percent(leaf.usual[1], 0)}`)),
    leaf.near && h('p', { class: 'soft small' }, `After the change, row ${leaf.near.row} is nearest to rows ${leaf.near.nearest.map(({ row }) => row).join(', ')}`),
    extra(leaf));
}

function branch(node, extra) {
  if (node.split === undefined) return leafCard(node, extra);
  const side = (child, passed) => h('li', {},
    h('span', { class: 'answer' }, passed ? 'yes' : 'no'),
    h('div', { class: 'branch' }, branch(child, extra)));
  return h('div', { class: 'split' },
    h('div', { class: 'question' }, sentence(way([[node.split, true]])), '?', h('span', { class: 'count' }, size(node.rows)), additions.split.map((add) => add(node.split))),
    h('ul', {}, side(node.left, true), side(node.right, false)));
}

/** A point's summary as a tree. */
export function treeView(i, extra = () => null) {
  return h('div', { class: 'tree' }, branch(tree(i), extra));
}

/** A point's summary as a list of rules. */
export function rulesView(i) {
  return h('ol', { class: 'rules' }, rules(tree(i)).map(({ tests, leaf }) => {
    const head = tests.length === 0 ? ['Everybody:'] : ['If ', ...sentence(way(tests)), ':'];
    const edits = data.actions[leaf.action].edits.length;
    let result = `fewer than ${data.min_n} people.`;
    if (leaf.rows !== null) {
      result = edits === 0
        ? `${people(leaf.rows)} without recourse.`
        : `works for ${grouped(leaf.flipped)} of ${people(leaf.rows)}, mean cost ${fixed(leafCost(leaf), 2)}.`;
    }
    return h('li', {}, head, h('span', { class: 'then' }, sentence(actionParts(leaf.action)), ': ', h('span', { class: 'soft' }, result)));
  }));
}
