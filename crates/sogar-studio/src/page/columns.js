// The columns of the table: what each is, who has which values, and what people can change about it.

import { h, s, word } from './dom.js';
import { grouped, people, percent, plain } from './numbers.js';
import { rebuilt } from './rebuild.js';
import { table } from './tables.js';

const WIDTH = 240;
const HEIGHT = 54;
const KINDS = { real: 'number', integer: 'whole number', ordinal: 'levels in order', categorical: 'categories', binary: 'two values' };

/** The name of a column in sentences. */
export function spoken(column) {
  return column.display?.display ?? column.name;
}

/** What each bar stands for. */
function barNames({ kind, bars: { low, high, width, counts, names, rest } }) {
  if (names) return rest[0] + rest[1] > 0 ? [...names, 'all others'] : names;
  if (kind === 'integer') {
    const ends = counts.map((_, i) => [low + i * width, Math.min(high, low + (i + 1) * width - 1)]);
    return ends.map(([from, to]) => (from === to ? plain(from) : `${plain(from)} to ${plain(to)}`));
  }
  return counts.map((_, i) => (counts.length === 1 ? plain(low) : [i, i + 1].map((k) => plain(Number((low + k * width).toPrecision(4)))).join(' to ')));
}

/** The people of each bar: those accepted, those turned down. */
function barCounts({ bars: { counts, names, rest } }) {
  return names && rest[0] + rest[1] > 0 ? [...counts, rest] : counts;
}

/** Bars: people accepted below, people turned down on top. */
function bars(column) {
  const [divided, name] = [column.divided, spoken(column)];
  const [counts, names] = [barCounts(column), barNames(column)];
  const most = Math.max(1, ...counts.map(([yes, no]) => yes + no));
  const step = WIDTH / Math.max(1, counts.length);
  const gap = step > 4 ? 1 : 0;
  const shapes = counts.map(([yes, no], i) => {
    const [low, high] = [(HEIGHT * yes) / most, (HEIGHT * no) / most];
    const at = { x: i * step, width: Math.max(0.5, step - gap) };
    return s('g', {}, s('title', {}, `${names[i]}: ${people(yes + no)}${divided ? `, ${grouped(no)} turned down` : ''}`),
      s('rect', { class: 'accepted', ...at, y: HEIGHT - low, height: low }), s('rect', { class: 'turned-down', ...at, y: HEIGHT - low - high, height: high }));
  });
  const label = divided ? `Distribution of ${name}: people accepted, and people turned down on top` : `Distribution of ${name}`;
  return s('svg', { class: 'bars', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label }, shapes);
}

/** The bars as a table. */
function values(column) {
  const names = barNames(column);
  const rows = barCounts(column).map(([yes, no], i) => [names[i], yes + no, no, yes + no === 0 ? '–' : percent(no / (yes + no), 0)]).filter(([, all]) => all > 0);
  const columns = [{ label: 'value', show: (name) => h('bdi', {}, name) }, { label: 'people', number: true, show: grouped }];
  if (column.divided) columns.push({ label: 'turned down', number: true, show: grouped }, { label: 'share', number: true });
  return table(`Who has which value of ${spoken(column)}`, columns, rows);
}

function range({ bars: { low, high, names } }) {
  if (names) return names.length === 0 ? '' : `${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''}`;
  return low === null ? 'no values' : `${plain(low)} to ${plain(high)}`;
}

/** What is known and guessed about a column. */
function remarks(column) {
  const { settings } = column;
  const found = [];
  const decided = settings?.protected !== undefined || (settings?.immutable === true && !column.personal?.clear);
  if (column.personal && !decided) found.push(['warn', `${column.personal.reason}${column.personal.clear ? ': people cannot change it, and should not be judged by it' : '?'}`]);
  if (column.unfit) found.push(['warn', `it ${column.unfit}${column.left_aside ? ', so it is neither changed nor split on' : ''}`]);
  if (column.codes_suggested) found.push(['warn', `many rows have ${column.codes_suggested.map(plain).join(', ')}, apart from the rest: are these amounts or codes?`]);
  if (column.unused) found.push(['', 'the model does not use it']);
  if (column.missing > 0) found.push(['', `${grouped(column.missing)} missing`]);
  if (column.coded > 0) found.push(['', `${grouped(column.coded)} with a code (${column.codes.map(plain).join(', ')})`]);
  return found;
}

function mode(settings, column) {
  if (settings.protected === true) return 'protected';
  if (settings.immutable === true || column.left_aside) return 'fixed';
  return 'free';
}

/** The settings behind a choice. A guess is overruled explicitly. */
function modeSettings(column, choice) {
  const at = (key, value) => ({ path: ['features', column.name, key], value });
  if (choice === 'protected') return [at('protected', true), at('immutable', null)];
  const personal = column.personal ? false : null;
  if (choice === 'fixed') return [at('immutable', true), at('protected', personal)];
  return [at('immutable', column.unfit ? false : null), at('protected', personal), ...(column.unfit ? [at('split', true)] : [])];
}

const numbersOf = (text) => (text.trim() === '' ? null : text.split(/[,;\s]+/).filter(Boolean).map(Number));

/** One column. `change(label, settings)` changes the configuration; `prefix` keeps ids apart. */
function card(column, i, change) {
  const settings = column.settings ?? {};
  const name = spoken(column);
  const id = (what) => `${what}-${i}`;
  const ordered = ['real', 'integer', 'ordinal'].includes(column.kind);
  const number = column.kind === 'real' || column.kind === 'integer';
  const set = (key, value, label) => change(label, [{ path: ['features', column.name, key], value }]);
  const member = (key) => (by, label) => change(label, [{ path: ['features', column.name, key], ...by }]);
  const select = (what, label, options, value, onchange) => {
    const element = h('select', { id: id(what), onchange: () => onchange(element.value) }, options.map(([key, text]) => h('option', { value: key, selected: key === value }, text)));
    return h('div', { class: 'field' }, h('label', { for: id(what) }, label), element);
  };
  const field = (what, label, value, onchange, hint) => {
    const element = h('input', { type: 'text', id: id(what), value, placeholder: hint, onchange: () => onchange(element.value) });
    return h('div', { class: 'field' }, h('label', { for: id(what) }, label), element);
  };
  const marks = h('div', { class: 'marks' },
    select('mode', 'People', [['free', 'can change it'], ['fixed', 'cannot change it'], ['protected', 'must not be judged by it (protected)']], mode(settings, column),
      (choice) => change(`${name}: ${{ free: 'can be changed', fixed: 'cannot be changed', protected: 'protected' }[choice]}`, modeSettings(column, choice))),
    ordered && select('direction', 'Direction', [['', 'both'], ['increase', 'only up'], ['decrease', 'only down']], settings.direction ?? '',
      (value) => set('direction', value || null, `${name}: ${value || 'both directions'}`)),
    h('p', { class: 'consequence soft', id: id('edits') }, column.edits === undefined ? '' : `${grouped(column.edits)} ${column.edits === 1 ? 'edit' : 'edits'}, ${grouped(column.splits)} ${column.splits === 1 ? 'question' : 'questions'}`));

  const more = h('details', { class: 'more', id: id('more') }, h('summary', {}, 'More'),
    h('div', { class: 'fields' },
      select('split', 'Groups may be described by it', [['yes', 'yes'], ['no', 'no']], settings.split === false || settings.protected === true ? 'no' : 'yes',
        (value) => set('split', value === 'no' ? false : (column.unfit ? true : null), `${name}: ${value === 'no' ? 'describes no group' : 'may describe groups'}`)),
      field('weight', 'Weight of its cost', settings.weight ?? '', (text) => set('weight', text.trim() === '' ? null : Number(text), `${name}: weight ${text || '1'}`), '1'),
      ordered && field('range', 'Edits stay within', settings.range?.map(plain).join(', ') ?? '', (text) => set('range', numbersOf(text), `${name}: range ${text || 'of the table'}`), number && column.bars.low !== null ? `${plain(column.bars.low)}, ${plain(column.bars.high)}` : ''),
      ordered && field('steps', 'Steps, in bins', settings.steps?.join(', ') ?? '', (text) => set('steps', numbersOf(text), `${name}: steps ${text || 'as usual'}`), '1, 2, 3'),
      number && field('codes', 'Codes that are no amounts', (settings.codes ?? []).map(plain).join(', '), (text) => set('codes', numbersOf(text), `${name}: codes ${text || 'none'}`), column.codes_suggested?.map(plain).join(', ') ?? '-9'),
      select('kind', 'Kind', [['', `as found: ${KINDS[column.kind]}`], ['numeric', 'number'], ['ordinal', 'levels in order'], ['categorical', 'categories'], ['binary', 'two values']], settings.kind ?? '',
        (value) => change(`${name}: ${value || 'kind as found'}`, [{ path: ['features', column.name, 'kind'], value: value || null }, ...(value === 'ordinal' && column.levels.length > 0 && !settings.levels ? [{ path: ['features', column.name, 'levels'], value: column.levels }] : []), ...(value !== 'ordinal' && settings.levels ? [{ path: ['features', column.name, 'levels'], value: null }] : [])])),
      field('display', 'Name in sentences', settings.display ?? '', (text) => set('display', text.trim() || null, `${name}: name ${text}`), column.name),
      number && field('unit', 'Unit', settings.unit ?? '', (text) => set('unit', text.trim() || null, `${name}: unit ${text || 'none'}`), '€'),
      column.levels.length > 0 && column.levels.length <= 30 && !ordered && targets(column, settings, i, member('targets')),
      settings.forbid?.length > 0 && forbidden(column, settings, i, member('forbid')),
      column.kind === 'ordinal' && levelOrder(column, settings, i, change)),
    h('p', { class: 'soft small' }, `Found: ${column.why}${column.columns.length > 1 ? ` (${column.columns.join(', ')})` : ''}.`),
    column.edit_texts?.length > 0 && h('div', { class: 'small' }, h('p', { class: 'soft' }, 'Advice may say:'), h('ul', {}, column.edit_texts.map((text) => h('li', {}, text.replaceAll('`', ''))))));

  // The table is made when it is looked at.
  more.addEventListener('toggle', () => { if (more.open && !more.querySelector('table')) more.append(values(column)); });
  return h('li', { class: `column ${mode(settings, column)}` },
    h('div', { class: 'what' }, h('h3', {}, word(name)), name !== column.name && h('p', { class: 'soft small' }, word(column.name, 'value')), h('p', { class: 'soft small' }, `${KINDS[column.kind]}: `, h('bdi', {}, range(column)))),
    h('div', { class: 'shape' }, bars(column)),
    marks,
    h('ul', { class: 'remarks small' }, remarks(column).map(([kind, text]) => h('li', { class: kind }, text))),
    more);
}

/** Which categories advice may lead to. */
function targets(column, settings, i, member) {
  const allowed = settings.targets ?? column.levels;
  const boxes = column.levels.map((level, k) => {
    const box = h('input', { type: 'checkbox', id: `target-${i}-${k}`, checked: allowed.includes(level) });
    box.addEventListener('change', () => {
      if (!box.checked && allowed.length === 1) { box.checked = true; return; }
      member({ [box.checked ? 'add' : 'remove']: level, of: column.levels }, `${spoken(column)}: ${box.checked ? 'may' : 'may not'} become ${level}`);
    });
    return h('li', {}, box, h('label', { for: `target-${i}-${k}` }, h('bdi', {}, level)));
  });
  return h('fieldset', {}, h('legend', {}, 'Advice may lead to'), h('ul', { class: 'boxes' }, boxes));
}

/** Changes from one category to another that nobody is told. */
function forbidden(column, settings, i, member) {
  const allow = (k) => member({ remove: settings.forbid[k] }, `${spoken(column)}: from ${settings.forbid[k][0]} to ${settings.forbid[k][1]} is allowed`);
  return h('fieldset', {}, h('legend', {}, 'Nobody is told to change it'), h('ul', { class: 'boxes' }, settings.forbid.map(([from, to], k) => h('li', {}, 'from ', word(from, 'value'), ' to ', word(to, 'value'),
    h('button', { type: 'button', class: 'quiet', id: `allow-${i}-${k}`, onclick: () => allow(k) }, 'Allow')))));
}

/** The order of levels, lowest first. */
function levelOrder(column, settings, i, change) {
  const move = (k, by) => {
    const levels = [...column.levels];
    [levels[k], levels[k + by]] = [levels[k + by], levels[k]];
    change(`${spoken(column)}: order of levels`, [{ path: ['features', column.name, 'levels'], value: levels }]);
  };
  return h('fieldset', {}, h('legend', {}, 'Order, lowest first'), h('ol', { class: 'order' }, column.levels.map((level, k) => h('li', {}, h('bdi', {}, level),
    k > 0 && h('button', { type: 'button', id: `up-${i}-${level}`, 'aria-label': `${level}: lower`, onclick: () => move(k, -1) }, '↑'),
    k + 1 < column.levels.length && h('button', { type: 'button', id: `down-${i}-${level}`, 'aria-label': `${level}: higher`, onclick: () => move(k, 1) }, '↓')))));
}

let [order, orderedNames] = [[], ''];

/** The list of columns; those with a remark when the table was opened come first. A mark moves nothing. */
export function columnsList(list, problem, change) {
  const names = JSON.stringify(problem.columns.map(({ name }) => name));
  if (names !== orderedNames) {
    const odd = (column) => remarks(column).some(([kind]) => kind === 'warn');
    orderedNames = names;
    order = [...problem.columns.keys()].sort((a, b) => odd(problem.columns[b]) - odd(problem.columns[a]));
  }
  // Columns outside the window are not laid out: they keep the height that they had.
  const heights = [...list.children].map((element) => {
    const style = getComputedStyle(element);
    const around = [style.paddingTop, style.paddingBottom, style.borderTopWidth].map(parseFloat);
    return around.reduce((left, part) => left - part, element.getBoundingClientRect().height);
  });
  rebuilt(list, order.map((i, place) => {
    const element = card(problem.columns[i], i, change);
    if (heights[place] > 0) element.style.containIntrinsicBlockSize = `auto ${heights[place]}px`;
    return element;
  }));
}

/** The legend of the bars. */
export function barsLegend(problem) {
  const { size } = problem;
  if (!size) return null;
  const share = percent(size.affected / size.rows);
  return h('p', { class: 'soft bars-legend' }, h('span', { class: 'swatch turned-down' }), ` ${grouped(size.affected)} people turned down (${share}) `, h('span', { class: 'swatch accepted' }), ` ${grouped(size.rows - size.affected)} accepted`);
}
