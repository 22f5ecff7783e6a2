// Settings of the whole run: the outcome that people hope for, limits, costs, rules, links, groups of columns that are not features.

import { at, h, word } from './dom.js';
import { grouped, percent } from './numbers.js';
import { rebuilt } from './rebuild.js';

/** The question which outcome people hope for. */
function outcome(problem, change) {
  const { classes, desired, guessed } = problem.outcome;
  if (classes.length === 0) return null;
  const chosen = problem.config.data.desired ?? [];
  const now = chosen.length > 0 ? chosen : desired ?? [];
  return h('fieldset', { id: 'outcome' }, h('legend', {}, 'Which outcome do people hope for?'),
    chosen.length === 0 && h('p', { class: 'notice' }, 'Nobody has said so yet. Choose, and the people with any other outcome are those turned down.'),
    h('ul', { class: 'boxes' }, classes.map(({ name, rows, shown }, k) => {
      const box = h('input', { type: classes.length === 2 ? 'radio' : 'checkbox', name: 'desired', id: `desired-${k}`, checked: now.includes(name) });
      box.addEventListener('change', () => {
        const next = classes.length === 2 ? [name] : classes.map((one) => one.name).filter((one) => (one === name ? box.checked : now.includes(one)));
        change(`Desired: ${next.join(', ')}`, [{ path: ['data', 'desired'], value: next }]);
      });
      return h('li', {}, box, h('label', { for: `desired-${k}` }, h('bdi', {}, shown ?? name), h('span', { class: 'soft' }, ` ${grouped(rows)} rows${guessed === name ? ', a guess from the name' : ''}`)));
    })));
}

function limits(problem, change) {
  const { limits: set } = problem.config;
  const now = problem.size?.limits ?? {};
  const field = (key, label, hint, kind = 'number') => {
    const element = h('input', { type: kind, min: 0, id: `limit-${key}`, value: set[key] ?? '', placeholder: now[key] ?? hint ?? '' });
    element.addEventListener('change', () => change(`${label}: ${element.value || 'as usual'}`, [{ path: ['limits', key], value: element.value === '' && !element.validity.badInput ? null : element.valueAsNumber }]));
    return h('div', { class: 'field' }, h('label', { for: `limit-${key}` }, label), element);
  };
  const budget = h('input', { type: 'text', id: 'limit-actions', value: set.actions ?? '', placeholder: '200000' });
  budget.addEventListener('change', () => {
    const text = budget.value.trim();
    change(`Budget of actions: ${text || 'as usual'}`, [{ path: ['limits', 'actions'], value: text === '' ? null : (Number(text) || text) }]);
  });
  const cost = h('select', { id: 'cost-kind' }, [['mps', 'maximum percentile shift'], ['logshift', 'total log percentile shift'], ['l1', 'range-normalised distance'], ['cet', 'percentile shift as in CET']]
    .map(([key, text]) => h('option', { value: key, selected: problem.config.cost.kind === key }, text)));
  cost.addEventListener('change', () => change(`Cost: ${cost.value}`, [{ path: ['cost', 'kind'], value: cost.value }]));
  return h('fieldset', { id: 'limits' }, h('legend', {}, 'Limits and cost'), h('div', { class: 'fields' },
    field('max_depth', 'Depth of trees'), field('min_leaf', 'Fewest people in a group'), field('max_edits', 'Edits per action'),
    h('div', { class: 'field' }, h('label', { for: 'limit-actions' }, 'Budget of actions'), budget),
    field('time_limit', 'Stop after seconds', 'never'), field('sample', 'Search on a sample of', 'everybody'),
    h('div', { class: 'field' }, h('label', { for: 'cost-kind' }, 'Cost'), cost)));
}

function rules(problem, change) {
  const input = h('input', { type: 'text', id: 'rule-new', 'data-draft': true, placeholder: 'years_in_role <= years_at_company' });
  const add = () => { if (input.value.trim()) change(`Rule: ${input.value.trim()}`, [{ path: ['rules'], add: input.value.trim() }]).then((done) => { if (done) at('rule-new').value = ''; }); };
  return h('fieldset', { id: 'rules' }, h('legend', {}, 'Rules that advice must not break'),
    h('ul', {}, problem.rules.map(({ text, breaks, fault }) => h('li', {}, h('code', {}, text),
      h('span', { class: fault ? 'warn' : 'soft' }, fault ? ` ${fault.message}` : ` broken by ${grouped(breaks)} people today, whom it does not bind`),
      h('button', { type: 'button', class: 'quiet', 'aria-label': `Remove the rule ${text}`, onclick: () => change(`Without the rule ${text}`, [{ path: ['rules'], remove: text }]) }, 'Remove')))),
    h('div', { class: 'field row' }, h('label', { for: 'rule-new' }, 'New rule'), input, h('button', { type: 'button', id: 'rule-add', onclick: add }, 'Add')));
}

function links(problem, change) {
  const set = problem.config.links ?? [];
  const numbers = problem.columns.filter(({ kind }) => ['real', 'integer', 'ordinal'].includes(kind));
  if (numbers.length < 2) return null;
  const choice = (id) => h('select', { id }, numbers.map(({ name }) => h('option', { value: name }, name)));
  const [from, to, factor] = [choice('link-from'), choice('link-to'), h('input', { type: 'number', step: 'any', id: 'link-factor', value: 1 })];
  to.selectedIndex = 1;
  const add = () => change(`${to.value} follows ${from.value}`, [{ path: ['links'], add: { from: from.value, to: to.value, factor: factor.valueAsNumber } }]);
  return h('fieldset', { id: 'links' }, h('legend', {}, 'Numbers that move together'),
    h('ul', {}, set.map((link) => h('li', {}, 'when ', word(link.from), ' changes, ', word(link.to), ` changes ${link.factor} times as much `,
      h('button', { type: 'button', class: 'quiet', onclick: () => change(`${link.to} no longer follows ${link.from}`, [{ path: ['links'], remove: { from: link.from, to: link.to } }]) }, 'Remove')))),
    h('div', { class: 'field row' }, h('label', { for: 'link-from' }, 'When'), from, h('label', { for: 'link-to' }, 'changes, then'), to, h('label', { for: 'link-factor' }, 'times'), factor,
      h('button', { type: 'button', id: 'link-add', onclick: add }, 'Add')));
}

function others(problem, change) {
  const used = (name) => change(`${name} is a feature`, [{ path: ['data', 'ignore'], remove: name }]);
  return problem.others.length > 0 && h('details', { id: 'others' }, h('summary', {}, problem.others.length === 1 ? '1 column is set aside' : `${problem.others.length} columns are set aside`),
    h('ul', {}, problem.others.map(({ name, role, why }) => h('li', {}, word(name), `: ${role}`, why && h('span', { class: 'soft' }, `, it ${why}`),
      role === 'label' && problem.agreement !== null && h('span', { class: 'soft' }, `, the model says the same in ${percent(problem.agreement)} of the rows`),
      role === 'ignored' && h('button', { type: 'button', class: 'quiet', 'aria-label': `Use ${name} as a feature`, onclick: () => used(name) }, 'Use it')))));
}

/** What a run would say. The line stays where there is nothing to say, so that nothing moves. */
function notices(texts) {
  const count = texts.length === 1 ? '1 notice' : `${texts.length || 'No'} notices`;
  return h('details', { id: 'notices' }, h('summary', {}, `${count} about this table`), h('ul', {}, texts.map((text) => h('li', {}, text))));
}

/** All settings that are not about one column. */
export function settingsView(element, problem, change) {
  rebuilt(element, outcome(problem, change), others(problem, change),
    h('details', { id: 'more-settings' }, h('summary', {}, 'Limits, cost, rules and links'), limits(problem, change), rules(problem, change), links(problem, change)),
    notices(problem.notices ?? []));
}
