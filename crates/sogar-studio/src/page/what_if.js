// In the report's page, within the studio: a button at each piece of advice and at each question. The studio asks what to do about it.

import { h } from './dom.js';
import { data } from './front.js';
import { additions } from './tree.js';

function ask(about) {
  if (window.parent !== window) window.parent.postMessage({ sogar: 'what-if', ...about }, window.location.origin);
}

function button(label, description, about) {
  const element = h('button', { type: 'button', class: 'quiet what-if', 'aria-label': description, onclick: () => ask(about) }, label);
  element.style.marginBlock = '.35rem';
  return element;
}

additions.leaf.push((leaf) => {
  const { text, edits } = data.actions[leaf.action];
  return edits.length > 0 && button('What if not?', `What if nobody were told: ${text}`, { kind: 'advice', text, edits });
});

additions.split.push((split) => {
  const { feature } = data.splits[split];
  return button('Not by this?', `What if no group were described by ${feature}`, { kind: 'split', feature });
});
