// Single people under the chosen summary: only in reports that include them on request.

import { h } from './dom.js';
import { bytesOf, data, tree, unpack } from './front.js';
import { fixed } from './numbers.js';
import { tableOf } from './tables.js';

function bit(bytes, i) {
  return ((bytes[i >> 3] >> (i & 7)) & 1) === 1;
}

/** The table of people; `update(i)` follows the chosen point. */
export function peopleSection() {
  const found = data.people;
  if (!found) return { nodes: [], update() {} };
  const [passes, flips, costs] = [found.passes.map(bytesOf), found.flips.map(bytesOf), found.costs.map(unpack)];
  let current = 0;
  const rows = () => {
    const root = tree(current);
    return found.rows.map((row, p) => {
      let node = root;
      while (node.split !== undefined) node = bit(passes[node.split], p) ? node.left : node.right;
      return [row, ...data.groupings.map(({ reference }, g) => reference.groups[found.groups[g][p]]?.name ?? ''),
        data.actions[node.action].text, bit(flips[node.action], p) ? 'yes' : 'no', costs[node.action][p] / data.cost.unit];
    });
  };
  const columns = [{ label: 'row of the table', number: true }, ...data.groupings.map(({ shown }) => ({ label: shown })),
    { label: 'advice' }, { label: 'works' }, { label: 'cost', number: true, show: (cost) => fixed(cost, 3) }];
  const asTable = tableOf('The people turned down, under the chosen summary', 'people.csv', columns, rows);
  asTable.firstChild.textContent = 'Single people';
  return { nodes: [h('h3', {}, 'Single people'), asTable], update(i) { current = i; asTable.refresh(); } };
}
