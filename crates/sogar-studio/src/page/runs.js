// The fronts: one that grows, the latest over an earlier one, the price of what changed, and all runs of this session.

import { h, put, say, word } from './dom.js';
import { frontsChart } from './fronts.js';
import { fixed, grouped, percent } from './numbers.js';
import { rebuilt } from './rebuild.js';
import { get, post } from './server.js';
import { table } from './tables.js';

const nameOf = (run) => run.name ?? `Run ${run.id}`;
const seconds = (time) => (time < 10 ? `${fixed(time, 2)} s` : `${fixed(time, 0)} s`);

/** What a search does at the moment. */
export function progressText(live) {
  const { stage, done, all, depth, left } = live.progress;
  if (live.stopping) return 'Stopping …';
  if (stage === 'outcomes') return `Whom each action would help: ${grouped(done)} of ${grouped(all)} people`;
  if (stage === 'search') return `Depth ${depth}: ${grouped(done)} of ${grouped(all)} first questions${left ? `, ${left} left` : ''}`;
  return 'Starting …';
}

/** What a run reused. */
function reuseText(run) {
  if (run.known === 0) return `Outcomes of ${grouped(run.actions)} actions: ${seconds(run.seconds_outcomes)}.`;
  const part = run.known === run.actions ? `All ${grouped(run.actions)} actions` : `${grouped(run.known)} of ${grouped(run.actions)} actions`;
  return `${part} were known from earlier runs, which saved about ${seconds(run.seconds_saved)}.`;
}

function points(share) {
  const size = Math.abs(100 * share);
  if (size < 0.05) return 'for as many people';
  return `for ${fixed(size, 1)} percentage points ${share < 0 ? 'fewer' : 'more'} people`;
}

/** The price of what changed, in a sentence. */
function priceText({ price, same_costs: same }) {
  const { at, most_before: before, most_after: after } = price;
  const reach = percent(after) === percent(before)
    ? `At any cost, advice still reaches at most ${percent(after)}.`
    : `At any cost, advice reaches at most ${percent(after)} instead of ${percent(before)}.`;
  if (!at || !same) return reach;
  return `At an equal mean cost of ${fixed(at.cost, 3)}, advice works ${points(at.after - at.before)} (${percent(at.before)} before, ${percent(at.after)} now). ${reach}`;
}

function shortValue(value) {
  const text = value === null || value === undefined ? 'not set' : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** The panel of searches. `explore(id)` shows a run. */
export function runsPanel(panel, explore, failed) {
  const chart = frontsChart();
  const progress = h('div', { class: 'live', 'aria-live': 'polite' });
  const result = h('div', { id: 'price' });
  const [about, list] = [h('div'), h('div')];
  const base = h('select', { id: 'compare-with' });
  const now = h('select', { id: 'compare-run' });
  let [state, wanted, shown, signature] = [null, { base: null, run: null }, '', ''];
  // The front under the next one: that of a question, else the one that the reader has chosen, else the last one.
  let [asked, chosen] = [null, null];

  const tell = async (work) => { try { await work(); } catch (error) { failed(error); } };
  const runOf = (id) => state.runs.find((run) => run.id === id);

  const compare = async () => {
    const [old, run] = [runOf(wanted.base), runOf(wanted.run)];
    const key = `${old?.id}:${run?.id}:${!run && Boolean(state.live)}`;
    if (key === shown) return;
    shown = key;
    if (!run) { put(result, !state.live && h('p', { class: 'lede' }, 'No search yet. Say what people can change, then search.')); return; }
    const summary = h('p', {}, h('b', {}, nameOf(run)), ': ', run.complete ? `complete, ${grouped(run.points)} summaries, ` : `stopped early, ${grouped(run.points)} summaries${run.gap === null ? '' : `, certified gap ${percent(run.gap)}`}, `,
      `${seconds(run.seconds)}. `, h('span', { class: 'soft' }, reuseText(run)));
    if (!old || old === run) { put(result, summary); return; }
    const found = await get(`run/${run.id}/compare?with=${old.id}`);
    if (shown !== key) return;
    put(result, summary, h('p', { class: 'notice price' }, h('b', {}, `The price compared with ${nameOf(old)}: `), priceText(found)),
      found.notes.map((note) => h('p', { class: 'soft' }, note)),
      found.settings.length > 0 && h('details', {}, h('summary', {}, found.settings.length === 1 ? '1 setting differs' : `${found.settings.length} settings differ`),
        h('ul', {}, found.settings.map(({ key: name, a, b }) => h('li', {}, word(name), `: ${shortValue(a)} → ${shortValue(b)}`)))));
    say(priceText(found));
  };

  const draw = () => {
    const fronts = [];
    const [old, run] = [runOf(wanted.base), runOf(wanted.run)];
    if (old && old !== run) fronts.push({ name: nameOf(old), points: old.drawn, style: 'old', count: old.points });
    if (run) fronts.push({ name: nameOf(run), points: run.drawn, style: state.live ? 'old' : 'new', count: run.points });
    const others = state.runs.filter((one) => one.name && one !== old && one !== run);
    others.forEach((one, i) => fronts.push({ name: nameOf(one), points: one.drawn, style: `variant v${1 + i % 5}`, count: one.points }));
    if (state.live) fronts.push({ name: 'Searching now', points: state.live.drawn, style: 'growing', count: state.live.points });
    chart.show(fronts);
  };

  const runsTable = () => table('All searches of this session', [
    { label: 'Search', show: (_, run) => [h('bdi', {}, nameOf(run)), h('span', { class: 'change soft small' }, run.label)] },
    { label: 'summaries', number: true, show: (_, run) => grouped(run.points) },
    { label: 'works for at most', number: true, show: (_, run) => percent(1 - run.lowest_loss) },
    { label: 'lowest invalidity', number: true, show: (_, run) => fixed(run.best?.invalidity ?? 0, 3) },
    { label: 'time', number: true, show: (_, run) => seconds(run.seconds) },
    { label: '', show: (_, run) => h('div', { class: 'row-tools' },
      h('button', { type: 'button', 'aria-label': `Explore ${nameOf(run)}`, onclick: () => explore(run.id) }, 'Explore'),
      h('button', { type: 'button', 'aria-label': `Use the settings of ${nameOf(run)}`, onclick: () => tell(() => post(`run/${run.id}/restore`)) }, 'Use its settings'),
      h('button', { type: 'button', id: `name-${run.id}`, 'aria-label': `Name ${nameOf(run)}`, onclick: (event) => rename(run, event.currentTarget) }, 'Name')) },
  ], state.runs);

  function rename(run, button) {
    const input = h('input', { type: 'text', maxlength: 80, 'aria-label': 'Name of this variant', value: run.name ?? '' });
    const save = (event) => {
      event.preventDefault();
      form.replaceWith(button);
      button.focus();
      tell(() => post(`run/${run.id}/name`, { name: input.value }));
    };
    const form = h('form', { class: 'rename', onsubmit: save },
      input, h('button', {}, 'Save name'));
    button.replaceWith(form);
    input.focus();
  }

  const pick = () => {
    chosen = Number(base.value) || null;
    wanted = { base: chosen, run: Number(now.value) || null };
    draw();
    tell(compare);
  };
  base.addEventListener('change', pick);
  now.addEventListener('change', pick);

  put(panel, h('h2', {}, 'The trade-off'), progress, chart.nodes, result,
    about,
    list);
  put(about, h('div', { class: 'tools' }, h('label', { for: 'compare-run' }, 'Show '), now, h('label', { for: 'compare-with' }, ' over '), base),
    h('p', { class: 'soft small' }, 'Searches with a name stay in the drawing. The certified gap is the largest share of the area under the curve that the complete front can add. Invalidity is the mean cost plus the share of people for whom advice does not work.'));
  return {
    /** The next run is compared with this one. */
    against(id) { asked = id; },
    update(next) {
      const before = state?.runs.length ?? 0;
      state = next;
      put(progress, state.live && [h('p', {}, h('b', {}, progressText(state.live)), h('span', { class: 'soft' }, ` ${grouped(state.live.points)} summaries so far, ${seconds(state.live.seconds)}${state.live.gap === null ? '' : `. Certified gap: ${percent(state.live.gap)}`}`)),
        state.live.progress.messages.map((text) => h('p', { class: 'notice' }, text))]);
      if (state.runs.length > before) {
        const latest = state.runs.at(-1);
        wanted = { base: asked ?? chosen ?? state.runs.at(-2)?.id ?? null, run: latest.id };
        asked = null;
      }
      about.hidden = state.runs.length === 0;
      const signed = JSON.stringify([state.runs.map((run) => [run.id, run.name]), wanted, Boolean(state.live) && state.runs.length === 0]);
      if (signed !== signature) {
        signature = signed;
        const option = (run) => h('option', { value: run.id }, `${nameOf(run)}: ${run.label}`);
        put(now, state.runs.map(option));
        put(base, h('option', { value: '' }, 'nothing else'), state.runs.map(option));
        now.value = String(wanted.run ?? '');
        base.value = String(wanted.base ?? '');
        rebuilt(list, state.runs.length > 0 && runsTable());
        shown = '';
        tell(compare);
      }
      draw();
    },
  };
}
