// What users take away: configuration, result, report, and the commands that give the same bytes.

import { h, put } from './dom.js';
import { get } from './server.js';
import { copyButton } from './save.js';

/** The panel of files to save. */
export function takePanel(panel, failed) {
  const which = h('select', { id: 'take-run' });
  const files = h('ul', { class: 'take' });
  const commands = h('pre', { id: 'commands', tabindex: '0' });
  const toml = h('pre', { id: 'toml', tabindex: '0' });
  let signature = '';
  const show = async () => {
    const id = which.value;
    put(files, id && [['sogar.toml', 'the settings: what was clicked is what it says'], ['front.json', 'the result, for every other command of sogar'], ['report.html', 'one page that opens in any browser']]
      .map(([name, what]) => h('li', {}, h('a', { href: `run/${id}/${name}`, download: name }, name), h('span', { class: 'soft' }, ` ${what}`))));
    if (!id) return;
    try {
      commands.textContent = (await get(`run/${id}/commands`)).commands;
    } catch (error) {
      failed(error);
    }
  };
  which.addEventListener('change', show);
  put(panel, h('h2', {}, 'Take away'),
    h('div', { class: 'tools' }, h('label', { for: 'take-run' }, 'Run '), which), files,
    h('h3', {}, 'The same from the command line'), h('p', { class: 'lede' }, 'With the saved sogar.toml these commands give the same result, byte for byte, except for the block “run” (date, paths, times).'),
    commands, copyButton('Copy', () => commands.textContent),
    h('h3', {}, 'The current settings'), h('p', {}, h('a', { href: 'sogar.toml', download: 'sogar.toml', id: 'save-current' }, 'Save as sogar.toml')), toml);
  return {
    update(state, problem) {
      if (problem) toml.textContent = problem.toml;
      const signed = JSON.stringify(state.runs.map((run) => [run.id, run.name]));
      if (signed === signature) return;
      signature = signed;
      put(which, state.runs.map((run) => h('option', { value: run.id }, `${run.id}: ${run.name ?? run.label}`)));
      which.value = String(state.runs.at(-1)?.id ?? '');
      show();
    },
  };
}
