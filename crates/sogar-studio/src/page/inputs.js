// Table and model: what is open, and files dropped on the page.

import { h, put, say, word } from './dom.js';
import { grouped } from './numbers.js';
import { send } from './server.js';

const MODEL = /\.(txt|json|ubj|onnx|model|lgb|xgb|bst)$/i;

const MOST = 256 * 2 ** 20;

/** What a dropped file is, by its name. */
function kindOf(name) {
  if (/\.toml$/i.test(name)) return 'config';
  return MODEL.test(name) ? 'model' : 'table';
}

/** The panel with the files. `attempt(work)` does something and shows what goes wrong, `failed` shows an error. */
export function filesPanel(panel, attempt, failed) {
  const busy = h('p', { class: 'soft', 'aria-live': 'polite' });
  const drop = async (file, kind) => {
    if (file.size > MOST) {
      failed({ message: `${file.name} has more than 256 MB`, help: 'Name large files on the command line: sogar studio TABLE --model FILE' });
      return;
    }
    put(busy, 'Reading ', word(file.name), ' …');
    if (await attempt(() => send(`drop/${kind}?name=${encodeURIComponent(file.name)}`, file))) say(`${file.name} was read`);
    put(busy);
  };
  const chooser = (kind, label, note) => {
    const input = h('input', { type: 'file', id: `file-${kind}`, onchange: () => { if (input.files[0]) drop(input.files[0], kind); } });
    return h('div', { class: 'field' }, h('label', { for: `file-${kind}` }, label), input, h('p', { class: 'soft small' }, note));
  };
  const now = h('div');
  put(panel,
    h('h2', {}, 'Table and model'),
    now,
    h('div', { class: 'drop', id: 'drop' },
      h('p', { class: 'lede' }, 'Drop a table, a model and, if you have one, a configuration here, or choose them:'),
      h('div', { class: 'columns' },
        chooser('table', 'Table', 'CSV or Parquet, one row per person, at most 256 MB.'),
        chooser('model', 'Model', 'LightGBM, XGBoost or ONNX, at most 256 MB. Pickles are never loaded.'),
        chooser('config', 'Configuration (optional)', 'A sogar.toml.')),
      busy));
  document.addEventListener('dragover', (event) => event.preventDefault());
  document.addEventListener('drop', async (event) => {
    event.preventDefault();
    for (const file of event.dataTransfer?.files ?? []) await drop(file, kindOf(file.name));
  });
  return {
    update({ table, model, opened }) {
      const waiting = opened && (opened.table !== table || opened.named !== model);
      const line = (name, file, more) => h('div', {}, h('dt', {}, name), h('dd', {}, file ? word(file) : h('span', { class: 'soft' }, 'not chosen yet'), more));
      put(now, h('dl', { class: 'facts-list' },
        line('Table', table, opened && !waiting && h('span', { class: 'soft' }, ` ${grouped(opened.rows)} rows, ${grouped(opened.columns)} columns`)),
        line('Model', model, opened && !waiting && h('span', { class: 'soft' }, ` ${opened.format}, ${opened.model}`))),
        waiting && h('p', { class: 'notice' }, 'These two do not go together yet. Until they do, you work with ', word(opened.table), ' and ', word(opened.named), '.'));
    },
  };
}
