// People whom no admissible change helps, and what keeps them out of reach.

import { h, word } from './dom.js';
import { data } from './front.js';
import { grouped, people, percent } from './numbers.js';
import { table } from './tables.js';

const REASONS = [
  ['immutability', 'if features that never change could be changed'],
  ['limits', 'if ranges, directions, targets and forbidden changes were lifted'],
  ['edits', 'if one edit more were allowed at a time'],
  ['rules', 'if rules were lifted'],
  ['none_alone', 'none of these alone would be enough'],
];

/** The section. */
export function reachSection() {
  const found = data.unreachable;
  if (!found) {
    return [h('p', {}, 'Whether there are people whom no admissible change helps was not examined: that needs the table and the model, which were not at hand when this report was written.')];
  }
  const { affected } = data.population;
  const nodes = [h('p', {}, found.count === null
    ? `Some people stay turned down whatever admissible change they make. Their number is not shown: they, or the others, are fewer than ${data.min_n}.`
    : found.count === 0
    ? `Each of the ${people(affected)} turned down can be helped by some admissible change, if each gets their own advice.`
    : `${people(found.count)} (${percent(found.count / affected)} of those turned down) stay turned down whatever admissible change they make. They are part of the loss of every summary.`)];
  if (found.blocked_by) {
    const rows = REASONS.filter(([key]) => found.blocked_by[key] !== null && (found.blocked_by[key] > 0 || key !== 'rules'))
      .map(([key, words]) => [words, found.blocked_by[key]]);
    nodes.push(table('What keeps them out of reach: how many would be within reach if one constraint were lifted (a person may be counted more than once)',
      [{ label: 'constraint' }, { label: 'people', number: true, show: grouped }], rows));
  }
  for (const { shown: name, reference } of data.groupings) {
    const shown = reference.groups.filter(({ unreachable, affected: all }) => unreachable !== null && all !== null);
    if (found.some && shown.length > 0) {
      nodes.push(table(['Out of reach by ', word(name)], [
        { label: 'group', show: (group) => word(group, 'value') }, { label: 'turned down', number: true, show: grouped },
        { label: 'out of reach', number: true, show: grouped }, { label: 'share', number: true, show: (value) => percent(value) }],
      shown.map(({ name: group, affected: all, unreachable }) => [group, all, unreachable, all === 0 ? 0 : unreachable / all])));
    }
  }
  return nodes;
}
