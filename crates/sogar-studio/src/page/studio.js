// The studio: one state on the server, shown here. The page keeps no settings of its own.

import { at, h, put, say, theme } from './dom.js';
import { barsLegend, columnsList } from './columns.js';
import { explorePanel } from './explore.js';
import { filesPanel } from './inputs.js';
import { grouped } from './numbers.js';
import { progressText, runsPanel } from './runs.js';
import { download } from './save.js';
import { get, listen, post, Refused } from './server.js';
import { settingsView } from './settings.js';
import { takePanel } from './take.js';

const TABS = ['files', 'table', 'search', 'explore', 'take'];
let [state, problem, before, seen, finished, resting] = [null, null, null, 0, null, false];

/** Shows what went wrong until the next success. */
function failed(error, ...tools) {
  put(at('trouble'), h('div', { class: 'notice trouble' }, h('p', {}, h('b', {}, error.message)), error.help && h('p', {}, error.help),
    h('div', { class: 'bar-tools' }, tools, h('button', { type: 'button', class: 'quiet', onclick: () => put(at('trouble')) }, 'Close'))));
}

async function attempt(work) {
  try {
    await work();
    if (!state?.ended) put(at('trouble'));
    return true;
  } catch (error) {
    failed(error);
    return false;
  }
}

function openTab(name, focus = false) {
  for (const tab of TABS) {
    const [button, panel] = [at(`tab-${tab}`), at(`panel-${tab}`)];
    button.setAttribute('aria-selected', String(tab === name));
    button.tabIndex = tab === name ? 0 : -1;
    panel.hidden = tab !== name;
    if (tab !== name) continue;
    if (focus) button.focus();
    // On a phone, the row of steps is longer than the screen.
    button.parentElement.scrollLeft = button.offsetLeft - button.parentElement.offsetLeft - 24;
  }
  document.documentElement.dataset.tab = name;
  if (name === 'explore') explore.opened();
}

TABS.forEach((tab, i) => {
  at(`tab-${tab}`).addEventListener('click', () => openTab(tab));
  at(`tab-${tab}`).addEventListener('keydown', (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by) openTab(TABS[(i + by + TABS.length) % TABS.length], true);
  });
});

/** Changes settings. If that fails, the page shows again what they are. */
async function change(label, set) {
  const done = await attempt(() => {
    if (set.some(({ value, add }) => [value, add?.factor].flat().some(Number.isNaN))) throw new Refused({ message: 'That is not a number', help: 'Write one half as 0.5, and put spaces between numbers.' });
    return post('change', { label, set });
  });
  if (!done) tableView();
  return done;
}

const files = filesPanel(at('panel-files'), attempt, failed);
const runs = runsPanel(at('panel-search'), (id) => { explore.wanted(id); openTab('explore'); }, failed);
const explore = explorePanel(at('panel-explore'), async ({ label, set }, run) => {
  runs.against(run);
  openTab('search', true);
  await attempt(() => post('change', { label, set, solve: true }));
}, failed);
const take = takePanel(at('panel-take'), failed);

const [legend, settings, list] = [h('div'), h('div', { class: 'settings' }), h('ul', { class: 'columns-list', id: 'columns' })];
put(at('panel-table'), h('h2', {}, 'What people can change'), h('p', { class: 'lede' }, 'Mark what people cannot or should not change. Columns that look odd come first. Your marks are settings, which you can save under “Take away”.'), h('p', { class: 'soft small' }, 'An edit changes one column, an action is one or more edits together, and a question divides people into groups.'), settings, legend, list);

/** A count, and by how much the last change moved it. */
function counted(key, one, many) {
  const [now, then] = [problem.size[key], before?.[key] ?? problem.size[key]];
  return [h('b', {}, grouped(now)), ` ${now === 1 ? one : many}`, now !== then && h('span', { class: 'soft delta' }, ` (${now < then ? '−' : '+'}${grouped(Math.abs(now - then))})`)];
}

/** What shortens a run that takes long: a click instead of a search for the setting. */
function shorter({ limits: { max_depth: depth } }) {
  const { limits } = problem.config;
  const set = (label, key, value) => h('button', { type: 'button', onclick: () => change(label, [{ path: ['limits', key], value }]) }, label);
  return h('span', { class: 'bar-tools' }, depth > 1 && set(`Trees of depth ${Math.min(3, depth - 1)}`, 'max_depth', Math.min(3, depth - 1)), limits.time_limit === undefined && set('Stop after a minute', 'time_limit', 60));
}

/** Columns and settings. */
function tableView() {
  settingsView(settings, problem, change);
  put(legend, barsLegend(problem));
  columnsList(list, problem, change);
}

/** For a moment, the buttons to start and stop a search rest: they take each other's place, and a second click was meant for the first. */
function rest() {
  resting = true;
  setTimeout(() => { resting = false; if (!state.ended) consequence(); }, 500);
}

/** The line that says what follows from the settings. */
function consequence() {
  const bar = at('consequence');
  bar.hidden = !state.opened;
  if (!state.opened || !problem) return;
  const { size, fault } = problem;
  if (state.live) put(at('now'), progressText(state.live));
  else if (fault) put(at('now'), h('b', { class: 'warn' }, fault.message), fault.help && h('span', { class: 'soft' }, ` ${fault.help}`));
  else put(at('now'), counted('edits', 'edit', 'edits'), ', ', counted('actions', 'action', 'actions'), ', ', counted('splits', 'question', 'questions'), ': ', h('b', {}, size.time),
    size.long && [h('span', { class: 'long', title: size.long.replaceAll('`', '') }, '. That is long: set limits, or stop at any time and keep what was found. '), shorter(size)]);
  if (at('stop').hidden === Boolean(state.live)) rest();
  at('solve').disabled = resting || Boolean(fault);
  at('solve').hidden = Boolean(state.live);
  at('stop').hidden = !state.live;
  at('stop').disabled = resting || Boolean(state.live?.stopping);
  const { at: now, steps } = state.opened;
  at('undo').disabled = now === 0;
  at('redo').disabled = now + 1 >= steps.length;
  at('undo').title = now > 0 ? `Undo: ${steps[now]}` : '';
  const history = at('history');
  const told = JSON.stringify([steps, now]);
  if (history.dataset.told !== told) {
    put(history, steps.map((label, i) => h('option', { value: i }, `${i}: ${label}`)));
    Object.assign(history, { value: String(now), disabled: steps.length < 2 });
    history.dataset.told = told;
  }
  at('redo').title = now + 1 < steps.length ? `Redo: ${steps[now + 1]}` : '';
}

async function show(next) {
  if (state?.ended) return;
  const [first, faulty] = [state === null, Boolean(state?.fault)];
  state = next;
  if (state.ended) { ended(); return; }
  const [table, model] = state.opened ? [state.opened.table, state.opened.named] : [state.table, state.model];
  put(at('files'), table && h('bdi', {}, table), model && [' · ', h('bdi', {}, model)]);
  files.update(state);
  if (state.fault) failed(state.fault);
  else if (faulty) put(at('trouble'));
  if (state.opened && state.opened.number !== seen) {
    before = problem?.size ?? null;
    problem = await get('problem');
    const opened = seen === 0;
    seen = state.opened.number;
    tableView();
    if (opened) before = null;
    if (opened && document.documentElement.dataset.tab !== 'table') openTab('table');
  }
  for (const tab of TABS.slice(1)) at(`tab-${tab}`).disabled = !state.opened;
  consequence();
  runs.update(state);
  if (finished !== null && state.runs.length > finished && !state.live) say('The search has ended');
  finished = state.runs.length;
  explore.update(state, problem);
  take.update(state, problem);
  if (first && !state.opened) openTab('files');
  Object.assign(document.documentElement.dataset, { ready: 'yes', runs: state.runs.length, searching: state.live ? 'yes' : 'no', problem: seen });
}

/** What a page still has when the studio is gone. */
function saveSettings() {
  return h('button', { type: 'button', id: 'rescue', onclick: () => download('sogar.toml', 'application/toml', problem.toml) }, 'Save my settings');
}

function ended() {
  state = { ended: true };
  document.documentElement.dataset.ended = 'yes';
  put(document.body, h('div', { id: 'said', class: 'visually-hidden', role: 'status' }), h('main', { class: 'masthead' }, h('h1', {}, 'The studio has ended'), h('p', {}, 'You can close this page. What you saved is in your downloads. To go on, start the studio again and drop your settings there.'), problem && saveSettings()));
}

at('solve').addEventListener('click', () => {
  rest();
  consequence();
  openTab('search');
  attempt(() => post('solve'));
});
at('stop').addEventListener('click', () => attempt(() => post('stop', {}, true)));
at('undo').addEventListener('click', () => attempt(() => post('undo')));
at('redo').addEventListener('click', () => attempt(() => post('redo')));
at('history').addEventListener('change', () => attempt(() => post(`go/${at('history').value}`)));
at('end').addEventListener('click', async () => { if (await attempt(() => post('end', {}, true))) ended(); });
document.addEventListener('keydown', (event) => {
  if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'z' || /^(INPUT|TEXTAREA)$/.test(event.target.tagName)) return;
  event.preventDefault();
  attempt(() => post(event.shiftKey ? 'redo' : 'undo'));
});

theme();
openTab('files');
// One state after the other: a slow answer about the problem must not overtake.
let queue = Promise.resolve();
listen((next) => { queue = queue.then(() => show(next)).catch(failed); }, () => failed(
  { message: 'The studio does not answer any more', help: problem ? 'It was ended, or the computer slept. This page still has your settings: save them, start the studio again and drop them there. If the computer only slept, the page goes on by itself.' : 'It was ended, or the computer slept. Start the studio again.' },
  problem && saveSettings()));
