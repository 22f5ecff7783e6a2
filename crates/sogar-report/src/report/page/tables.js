// Every chart is also a table, a page at a time, and as CSV in full.

import { h, put } from './dom.js';
import { grouped } from './numbers.js';
import { csv, download } from './save.js';

const PAGE = 100;

/** A table. Columns: `{label, number, show}`; rows are lists of values. `current` says which row is chosen. */
export function table(caption, columns, rows, current = () => false, kind = undefined) {
  const head = columns.map(({ label, number }) => h('th', { scope: 'col', class: number ? 'number' : undefined }, label));
  const body = rows.map((row, i) => h('tr', { class: current(i) ? 'current' : undefined }, columns.map(({ number, show }, c) => {
    const content = show ? show(row[c], row) : String(row[c] ?? '–');
    return c === 0 && !number
      ? h('th', { scope: 'row' }, content)
      : h('td', { class: number ? 'number' : 'words' }, content);
  })));
  const contents = h('table', { class: kind }, h('caption', {}, h('span', {}, caption)), h('thead', {}, h('tr', {}, head)), h('tbody', {}, body));
  return h('div', { class: 'table-wrap', tabindex: '0', role: 'region', 'aria-label': typeof caption === 'string' ? caption : 'Table' }, contents);
}

/** A chart's table behind “As a table”, made when it is opened. `rows()` gives all rows; `chosen()` the row to begin with. */
export function tableOf(caption, fileName, columns, rows, chosen = () => 0) {
  const inner = h('div');
  let page = null;
  const show = () => {
    const all = rows();
    const pages = Math.max(1, Math.ceil(all.length / PAGE));
    page = Math.min(pages - 1, page ?? Math.floor(chosen() / PAGE));
    const start = page * PAGE;
    const part = all.slice(start, start + PAGE);
    const step = (by) => () => { page += by; show(); };
    const pager = h('div', { class: 'pager' },
      pages > 1 && h('button', { type: 'button', disabled: page === 0, onclick: step(-1) }, 'Previous rows'),
      pages > 1 && h('span', {}, `rows ${grouped(start + 1)} to ${grouped(start + part.length)} of ${grouped(all.length)}`),
      pages > 1 && h('button', { type: 'button', disabled: page === pages - 1, onclick: step(1) }, 'Next rows'),
      h('button', { type: 'button', onclick: () => download(fileName, 'text/csv', csv(columns.map(({ label }) => label), all)) }, 'Download as CSV'));
    put(inner, table(caption, columns, part, (i) => start + i === chosen()), pager);
  };
  const details = h('details', { class: 'as-table' }, h('summary', {}, 'As a table'), inner);
  details.addEventListener('toggle', () => { if (details.open) { page = null; show(); } });
  details.refresh = () => { if (details.open) { page = null; show(); } };
  return details;
}
