// The report of a run, and what to do about a piece of advice in it.

import { spoken } from './columns.js';
import { h, put, word } from './dom.js';

/** The settings after which nobody is told an edit. `column` is the feature as the problem shows it. */
export function withoutEdit(edit, column) {
  const settings = column?.settings ?? {};
  const name = column ? spoken(column) : edit.feature;
  const member = (key, by) => ({ path: ['features', edit.feature, key], ...by });
  const at = (key, value) => member(key, { value });
  const fixed = { label: `Nobody is told to change ${name}`, set: [at('immutable', true)] };
  if (edit.op === 'shift') {
    const [verb, other] = edit.by > 0 ? ['increase', 'decrease'] : ['decrease', 'increase'];
    if (settings.direction === verb) return fixed;
    return { label: `Nobody is told to ${verb} ${name}`, set: [at('direction', other)] };
  }
  if (edit.op === 'set') {
    const levels = column?.levels ?? [];
    if ((settings.targets ?? levels).every((level) => level === edit.to)) return fixed;
    return { label: `Nobody is told to set ${name} to “${edit.to}”`, set: [member('targets', { remove: edit.to, of: levels })] };
  }
  if (edit.op === 'swap') {
    return { label: `Nobody is told to change ${name} from “${edit.from}” to “${edit.to}”`, set: [member('forbid', { add: [edit.from, edit.to] })] };
  }
  if (edit.op === 'at_least' || edit.op === 'at_most') {
    return { label: `No fixed values for ${name}`, set: [at('targets', null)] };
  }
  return fixed;
}

/** The panel with the report. `act(change, run)` changes settings and searches, `failed` shows an error. */
export function explorePanel(panel, act, failed) {
  const frame = h('iframe', { class: 'report', title: 'Report of this run' });
  const which = h('select', { id: 'explore-run' });
  const groups = h('select', { id: 'explore-groups' });
  const rows = h('input', { type: 'checkbox', id: 'explore-rows' });
  const dialog = document.getElementById('what-if');
  const busy = h('p', { class: 'soft', role: 'status' });
  const newer = h('div', { role: 'status' });
  // The address of the report in the frame or on its way there, and the run of the report in the frame.
  let [runs, problem, shownNow, broken, wantedRun, shownRun] = [[], null, '', false, null, null];

  const address = () => {
    const query = new URLSearchParams();
    if (groups.value) query.append('group', groups.value);
    if (rows.checked) query.append('rows', 'yes');
    return `run/${which.value}/explore?${query}`;
  };
  const load = () => {
    if (panel.hidden || !which.value || address() === shownNow) return;
    [shownNow, broken] = [address(), false];
    // Until the next report has loaded, there is nothing to click: the one before answers no more.
    frame.inert = true;
    put(busy, 'Making the report of ', word(which.selectedOptions[0].text), ' …');
    put(newer);
    // Not `src`: the browser's button back would bring the report of another run.
    frame.contentWindow.location.replace(new URL(shownNow, document.baseURI));
  };
  /** A report has loaded, or what is in its place. */
  const loaded = () => {
    const { location, document: page } = frame.contentWindow;
    if (!shownNow || location.href.split('#')[0] !== new URL(shownNow, document.baseURI).href) return;
    put(busy);
    if (page.contentType !== 'text/html') {
      broken = true;
      failed(JSON.parse(page.body.textContent));
      return;
    }
    shownRun = Number(shownNow.split('/')[1]);
    frame.inert = false;
    colour();
    page.getElementById('theme')?.remove();
  };
  // The report follows the colours of the studio.
  const colour = () => { if (frame.contentDocument) frame.contentDocument.documentElement.dataset.theme = document.documentElement.dataset.theme; };
  frame.addEventListener('load', () => {
    try {
      loaded();
    } catch { // not a page of the studio
      broken = true;
      failed({ message: 'The report could not be loaded', help: 'Open this step again to repeat that.' });
    }
  });
  new MutationObserver(colour).observe(document.documentElement, { attributeFilter: ['data-theme'] });
  const choose = (id) => { wantedRun = id; which.value = String(id); load(); };
  which.addEventListener('change', () => choose(Number(which.value)));
  groups.addEventListener('change', load);
  rows.addEventListener('change', load);

  const columnOf = (name) => problem?.columns.find((column) => column.name === name);
  const options = (about) => {
    const nameOf = (feature) => spoken(columnOf(feature) ?? { name: feature });
    if (about.kind === 'split') {
      const name = nameOf(about.feature);
      return [{ choices: [
        { text: ['Not by this: no group is described by ', word(name)], change: { label: `No group is described by ${name}`, set: [{ path: ['features', about.feature, 'split'], value: false }] } },
        { text: ['Protect ', word(name), ': no group is described by it, and nobody is told to change it'], change: { label: `${name} is protected`, set: [{ path: ['features', about.feature, 'protected'], value: true }] } },
      ] }];
    }
    return about.edits.map((edit) => {
      const column = columnOf(edit.feature);
      const name = nameOf(edit.feature);
      const without = withoutEdit(edit, column);
      const never = { label: `Nobody is told to change ${name}`, set: [{ path: ['features', edit.feature, 'immutable'], value: true }] };
      const weight = 2 * (column?.settings?.weight ?? 1);
      return { about: about.edits.length > 1 && name, choices: [
        { text: [without.label], change: without },
        without.label !== never.label && { text: ['Nobody is told to change ', word(name), ' at all'], change: never },
        { text: ['Too expensive: ', word(name), ` counts ${weight} times`], change: { label: `${name} counts ${weight} times`, set: [{ path: ['features', edit.feature, 'weight'], value: weight }] } },
      ].filter(Boolean) };
    });
  };
  window.addEventListener('message', (event) => {
    const [about, run] = [event.data, shownRun];
    if (event.origin !== window.location.origin || event.source !== frame.contentWindow || about?.sogar !== 'what-if' || frame.inert || dialog.open) return;
    // The second click of a double click was meant for the advice, not for a choice that appears under it.
    put(dialog, h('h2', { id: 'what-if-title' }, about.kind === 'split' ? 'What if not by this?' : 'What if nobody were told this?'),
      about.text && h('p', { class: 'advice' }, about.text.replaceAll('`', '')),
      h('p', { class: 'soft small' }, 'Each choice is a setting. The search starts again at once, and the new front is drawn over this one. You can undo it.'),
      options(about).map(({ about: feature, choices }) => [feature && h('h3', {}, word(feature)),
        h('ul', { class: 'choices' }, choices.map(({ text, change }) => h('li', {}, h('button', { type: 'button', onclick: ({ detail }) => { if (detail < 2) { dialog.close(); act(change, run); } } }, text))))]),
      h('button', { type: 'button', class: 'quiet', onclick: () => dialog.close() }, 'Cancel'));
    dialog.showModal();
  });

  put(panel, h('h2', { class: 'visually-hidden' }, 'Explore'),
    h('div', { class: 'tools' },
      h('label', { for: 'explore-run' }, 'Run '), which,
      h('label', { for: 'explore-groups' }, 'Groups '), groups,
      h('span', { class: 'check' }, rows, h('label', { for: 'explore-rows' }, 'Show single people (protect the page like the table)'))),
    newer, busy, frame);
  return {
    /** This run is shown when the panel is next opened. */
    wanted(id) { wantedRun = id; which.value = String(id); },
    update(state, nextProblem) {
      problem = nextProblem;
      const finished = state.runs.at(-1)?.id;
      if (state.runs.length > runs.length && finished) {
        // A report that somebody reads stays.
        if (panel.hidden || runs.length === 0) wantedRun = finished;
        else put(newer, h('p', { class: 'notice' }, `Run ${finished} is finished. `, h('button', { type: 'button', onclick: () => choose(finished) }, 'Show it')));
      }
      if (state.runs.length !== runs.length || state.runs.some((run, i) => run.name !== runs[i].name)) {
        runs = state.runs;
        put(which, runs.map((run) => h('option', { value: run.id }, `${run.id}: ${run.name ?? run.label}`)));
        if (!runs.some((run) => run.id === wantedRun)) wantedRun = runs.at(-1)?.id ?? null;
        which.value = String(wantedRun ?? '');
      }
      if (problem && groups.options.length === 0) {
        const named = problem.columns.filter((column) => column.levels.length > 0 && column.levels.length <= 20);
        put(groups, h('option', { value: '' }, 'protected features'), named.map((column) => h('option', { value: column.name }, column.name)));
      }
      load();
    },
    /** The panel was opened. */
    opened() {
      if (broken) shownNow = '';
      load();
    },
  };
}
