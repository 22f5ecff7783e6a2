// The report: one chosen point, and everything that follows it.

import { showAudited } from './audited.js';
import { at, h, put, theme } from './dom.js';
import { fairnessSection } from './fairness.js';
import { featureUse } from './features.js';
import { count, data, heldOut, leaves, person, point } from './front.js';
import { gapLimitSection } from './gap_limit.js';
import { groupsSection, mixLegend, mixOf } from './groups.js';
import { fixed, grouped, percent } from './numbers.js';
import { peopleSection } from './people.js';
import { reachSection } from './reach.js';
import { copyButton, csv, download } from './save.js';
import { staircase } from './staircase.js';
import { rulesView, treeView } from './tree.js';
import { treeSvg } from './tree_svg.js';
import { rulesText, summaryJson } from './words.js';

/** The point in the address (`#point=12`), else the pick with the lowest invalidity, else the first pick. */
function startingPoint() {
  const asked = /^#point=(\d+)$/.exec(location.hash);
  if (asked && Number(asked[1]) < count) return Number(asked[1]);
  return (data.picks.find((pick) => pick.by === 'invalidity') ?? data.picks[0])?.point ?? 0;
}

function remember(i) {
  try {
    history.replaceState(null, '', `#point=${i}`);
  } catch { /* some browsers forbid it for files; the address is a convenience */ }
}

/** Tree or rules, and what can be taken away. */
function summarySection(grouping) {
  const [drawn, listed] = [h('div', { id: 'tree-panel', role: 'tabpanel', 'aria-labelledby': 'tab-tree' }), h('div', { id: 'rules-panel', role: 'tabpanel', 'aria-labelledby': 'tab-rules', hidden: true })];
  let current = 0;
  const tabs = [['tab-tree', 'As a tree', drawn], ['tab-rules', 'As rules', listed]].map(([id, label, panel]) => h('button', {
    type: 'button', role: 'tab', id, 'aria-controls': panel.id, 'aria-selected': panel === drawn, tabindex: panel === drawn ? 0 : -1,
  }, label));
  const choose = (chosen) => {
    tabs.forEach((tab, k) => {
      tab.setAttribute('aria-selected', String(k === chosen));
      tab.tabIndex = k === chosen ? 0 : -1;
      [drawn, listed][k].hidden = k !== chosen;
    });
  };
  tabs.forEach((tab, k) => {
    tab.addEventListener('click', () => choose(k));
    tab.addEventListener('keydown', (event) => {
      if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
      choose(1 - k);
      tabs[1 - k].focus();
    });
  });
  const name = () => `summary-${current}`;
  const rows = () => summaryJson(current).rules.map((rule, k) => [k, rule.if.map(({ feature, test, value, holds }) => `${holds ? '' : 'not '}${feature} ${test} ${value}`).join(' and '),
    rule.action.text, rule.rows, rule.flipped, rule.cost_sum]);
  const files = [
    ['JSON', () => download(`${name()}.json`, 'application/json', `${JSON.stringify(summaryJson(current), null, 2)}\n`)],
    ['CSV', () => download(`${name()}.csv`, 'text/csv', csv(['leaf', 'if', 'action', 'people', 'flipped', 'cost_sum'], rows()))],
    ['Text', () => download(`${name()}.txt`, 'text/plain', rulesText(current))],
    ['SVG', () => download(`${name()}.svg`, 'image/svg+xml', treeSvg(current))],
  ];
  const tools = h('div', { class: 'tools' }, h('span', { class: 'label' }, 'Take this summary with you:'),
    copyButton('Copy', () => rulesText(current)),
    files.map(([label, save]) => h('button', { type: 'button', onclick: save, 'aria-label': `Download this summary as ${label}` }, label)));
  const update = (i) => {
    current = i;
    put(drawn, treeView(i, (leaf) => mixOf(leaf, grouping())), mixLegend(grouping()));
    put(listed, rulesView(i));
  };
  return { nodes: [h('div', { class: 'tabs', role: 'tablist', 'aria-label': 'How to show the summary' }, tabs), drawn, listed, tools], update };
}

function pickButtons(choose) {
  return data.picks.map((pick) => {
    const { cost, loss } = point(pick.point);
    const button = h('button', { type: 'button', 'aria-pressed': 'false', onclick: () => choose(pick.point) }, pick.name,
      h('small', {}, `${percent(1 - loss)} at ${fixed(cost, 3)}`));
    button.point = pick.point;
    return button;
  });
}

function nowText(i) {
  const { cost, loss, invalidity } = point(i);
  const groups = leaves(i);
  return [h('span', { class: 'where' }, `Summary ${grouped(i)} of ${grouped(count)}: `), 'works for ', h('b', { id: 'now-works' }, percent(1 - loss)), ' at a mean cost of ', h('b', { id: 'now-cost' }, fixed(cost, 3)),
    h('span', { class: 'where' }, ` · invalidity ${fixed(invalidity, 3)} · ${groups} ${groups === 1 ? 'group' : 'groups'}`)];
}

/** The ends of an interval of a share: `64–77 %`. */
function ends([low, high]) {
  return `${fixed(100 * low, 0)}–${percent(high, 0)}`;
}

function summaryLede(i) {
  const { loss, cost, lossCount } = point(i);
  const there = heldOut(i);
  const { affected } = data.population;
  return `If everybody followed it, ${grouped(affected - lossCount / person)} of the ${grouped(affected)} people turned down (${percent(1 - loss)}) would get the desired outcome, at a mean cost of ${fixed(cost, 3)}.`
    + (there ? ` On held-out people: ${percent(1 - there.loss)} (95 % interval ${ends(there.works)}; for all summaries at once ${ends(there.works.slice(2))}) at ${fixed(there.cost, 3)}${there.costEnds ? ` (${there.costEnds.map((end) => fixed(end, 3)).join('–')})` : ''}.` : '');
}

function start() {
  document.documentElement.dataset.live = '';
  theme();
  showAudited();
  let grouping = 0;
  let chosen = startingPoint();
  const parts = [];
  const slider = at('slider');
  slider.max = String(count - 1);

  const choose = (wanted) => {
    chosen = Math.max(0, Math.min(count - 1, wanted));
    slider.value = String(chosen);
    const { cost, loss } = point(chosen);
    slider.setAttribute('aria-valuetext', `summary ${chosen} of ${count}: works for ${percent(1 - loss)}, mean cost ${fixed(cost, 3)}`);
    put(at('now'), nowText(chosen));
    put(at('summary-lede'), summaryLede(chosen));
    for (const button of at('picks').children) button.setAttribute('aria-pressed', String(button.point === chosen));
    parts.forEach((part) => part.update(chosen));
    document.documentElement.dataset.point = String(chosen);
  };
  // Many slider events may come between two frames; only the last one is drawn.
  let wanted = null;
  const soon = (i) => {
    if (wanted === null) requestAnimationFrame(() => { choose(wanted); wanted = null; remember(chosen); });
    wanted = i;
  };

  const stairs = staircase(soon);
  const summary = summarySection(() => grouping);
  const limited = gapLimitSection(soon);
  const groups = groupsSection((next) => { grouping = next; summary.update(chosen); limited.regroup(next); });
  const features = featureUse();
  const single = peopleSection();
  parts.push(stairs, summary, groups, limited, features, single);
  put(at('picks'), pickButtons(soon));
  put(at('trade-off-lede'), `Cheaper advice works for fewer people. ${data.status === 'complete' ? 'The line shows the best that any shared advice within the limits can do' : 'The line shows the best shared advice that was found'}: ${grouped(count)} summaries, each with its own tree. Choose one with the slider, in the chart, or by name.`);
  put(at('front-chart'), stairs.nodes);
  put(at('summary-body'), summary.nodes, single.nodes);
  put(at('fairness-body'), limited.nodes, fairnessSection());
  put(at('groups-body'), groups.nodes, data.notes.length > 0 && h('ul', { class: 'soft small' }, data.notes.map((note) => h('li', {}, note))));
  put(at('reach-body'), reachSection());
  put(at('features-body'), features.nodes);
  choose(chosen);

  slider.addEventListener('input', () => soon(Number(slider.value)));
  slider.addEventListener('keydown', (event) => {
    const step = Math.max(1, Math.round(count / 20));
    const by = { PageUp: step, PageDown: -step }[event.key];
    if (by !== undefined) { event.preventDefault(); soon(chosen + by); }
  });
  at('cheaper').addEventListener('click', () => soon(chosen - 1));
  at('further').addEventListener('click', () => soon(chosen + 1));
  addEventListener('hashchange', () => { if (location.hash.startsWith('#point=')) choose(startingPoint()); });
  document.documentElement.dataset.ready = 'yes';
}

start();
