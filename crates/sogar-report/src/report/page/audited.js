// The opening: the verdict, key figures, what was audited, and how to do it again.

import { at, h, put, word } from './dom.js';
import { count, data, point } from './front.js';
import { fixed, grouped, percent } from './numbers.js';
import { copyButton } from './save.js';
import { table } from './tables.js';
import { called } from './words.js';

function figure(label, value, note) {
  return h('div', {}, h('dt', {}, label), h('dd', {}, value, note && h('div', { class: 'note' }, note)));
}

/** Key figures beside the verdict. */
function figures() {
  const { affected, rows } = data.population;
  const best = data.picks.find((pick) => pick.by === 'invalidity') ?? data.picks[0];
  const chosen = best && point(best.point);
  return [
    figure('Turned down', percent(affected / rows), `${grouped(affected)} of ${grouped(rows)} people`),
    chosen && figure(`Helped by the best balance`, percent(1 - chosen.loss), `at a mean cost of ${fixed(chosen.cost, 3)}`),
    figure('Summaries on the front', grouped(count), data.status === 'complete' || data.status === 'complete_within_epsilon' ? 'all there are within the limits' : data.status === 'complete_on_sample' ? 'found on a sample, with the values of everybody' : 'found before the search was stopped'),
    data.unreachable && figure('Out of reach', data.unreachable.count === null ? 'few' : grouped(data.unreachable.count), data.unreachable.count === 0 ? 'some change works for each person' : 'no admissible change helps them'),
  ];
}

function source({ name, description, hash }) {
  return [word(name), description && `, ${description}`, h('div', { class: 'hash' }, `SHA-256 ${hash}`)];
}

function searchText() {
  if (data.status === 'complete') return 'complete: no summary within the limits is missing';
  if (data.status === 'complete_within_epsilon') return `complete to within ${percent(data.fairness.epsilon)} in mean cost and in the loss of each group`;
  if (data.status === 'complete_on_sample') return 'complete on a sample of the people: better summaries may exist';
  const gap = data.certified_gap === null ? '' : `; at most ${percent(data.certified_gap)} of the area under the best possible front is missing`;
  return `stopped early (${data.status.replace('_', ' ')})${gap}`;
}

function facts() {
  const { population, limits, counts, made } = data;
  const rows = [
    ['Table', source(data.table)],
    ['Model', source(data.model)],
    ['Hoped for', population.shown.flatMap((name, i) => [i > 0 ? ', ' : '', word(name)]).concat(`: ${grouped(population.rows - population.affected)} of ${grouped(population.rows)} people have it`)],
    ['Population', `${grouped(population.rows)} people, of whom the model turns down ${grouped(population.affected)} (${percent(population.affected / population.rows)})${population.weights ? `. ${population.weights}` : ''}`],
    data.exclusions.length > 0 && ['Left out', h('ul', { class: 'plain-list' }, data.exclusions.map((line) => h('li', {}, line)))],
    data.holdout && ['Held-out people', [`${grouped(data.holdout.rows)}, of whom the model turns down ${grouped(data.holdout.affected)}`, h('div', { class: 'hash' }, `SHA-256 ${data.holdout.hash}`)]],
    ['Cost', data.cost.text],
    ['Limits', `trees of depth ${limits.max_depth} with at most ${limits.max_leaves} groups of ${grouped(limits.min_leaf)} people or more; at most ${limits.max_edits} edits at a time`],
    ['Considered', `${grouped(counts.splits)} questions about people, ${grouped(counts.edits)} edits, ${grouped(counts.actions)} sets of edits`],
    ['Search', searchText()],
    ['Made', `${made.date.replace('T', ' ').replace('Z', ' UTC')} by sogar ${made.version}`],
  ];
  return h('dl', { class: 'facts' }, rows.filter(Boolean).map(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]));
}

function featureTable() {
  const columns = [{ label: 'feature', show: (name) => word(name) }, { label: 'kind' }, { label: 'what advice may do' }];
  return table('Features of the table', columns, data.features.map(({ name, kind, change }) => [called(name), kind, change]));
}

/** Fills the page's opening and its last sections. */
export function showAudited() {
  document.title = data.title;
  put(at('headline'), data.headline);
  put(at('verdict'), h('ul', { class: 'verdict' }, data.verdict.map(({ about, text }) => h('li', { class: about }, text))));
  put(at('figures'), figures());
  put(at('audited-body'), facts(), h('details', {}, h('summary', {}, `Features, and what may change (${grouped(data.features.length)})`), featureTable()));
  put(at('method-details'), `Outcomes: ${data.made.outcome_method}. All totals are whole numbers, so no rounding decides which summary is better.`);
  put(at('glossary-cost'), data.cost.text);
  put(at('privacy-limit'), data.people
    ? 'This file names single people by their row of the table. Treat it as you treat the table.'
    : `Figures about fewer than ${data.min_n} people are left out. That makes it hard to single people out, but is no proof against somebody who combines many summaries.`);
  put(at('reproduce'),
    h('p', {}, 'With the files named above (their hashes tell whether they are the same), the configuration saved as ', h('code', {}, 'sogar.toml'), ', and sogar ', data.made.version, ':'),
    data.reproduce.commands.map(([command, purpose]) => [h('p', { class: 'soft small' }, purpose), h('pre', {}, h('code', {}, command))]),
    h('div', { class: 'tools' }, copyButton('Copy the commands', () => `${data.reproduce.commands.map(([command]) => command).join('\n')}\n`)),
    h('details', {}, h('summary', {}, 'The configuration'), h('pre', { tabindex: '0' }, h('code', {}, data.reproduce.config)),
      h('div', { class: 'tools' }, copyButton('Copy the configuration', () => data.reproduce.config))));
  put(at('footer'), h('p', {}, `Written by sogar ${data.made.report_version}. This file needs no network and sends nothing anywhere.`));
}
