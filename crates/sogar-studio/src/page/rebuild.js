// Replaces parts of the page with what the server says now, and never under the hands of the reader.

import { put } from './dom.js';

// What is pressed and has not been released, and the field whose text is not sent yet.
let [pressed, typing, timer] = [null, null, 0];
const waiting = new Map();

addEventListener('pointerdown', ({ target }) => { pressed = target; }, true);
// The click comes after the release.
for (const end of ['pointerup', 'pointercancel']) addEventListener(end, () => setTimeout(() => { pressed = null; }), true);
addEventListener('input', ({ target }) => { typing = target.matches('input[type="text"], input[type="number"]') ? target : null; }, true);
for (const end of ['change', 'focusout']) addEventListener(end, () => { typing = null; }, true);

function openList(element) {
  try {
    return element.querySelector('select:open');
  } catch { // browsers that do not know it
    return null;
  }
}

/** Whether the reader presses, types or chooses something in this part: a new one would lose that. */
function busy(element) {
  const { activeElement } = document;
  return element.contains(pressed) || element.contains(typing) || openList(element) || (element.contains(activeElement) && activeElement.closest('form'));
}

function replace(element, children) {
  const focused = element.contains(document.activeElement) ? document.activeElement.id : '';
  const top = document.activeElement?.getBoundingClientRect().top;
  const y = scrollY;
  const open = [...element.querySelectorAll('details[open][id]')].map(({ id }) => id);
  const drafts = [...element.querySelectorAll('[data-draft]')].map(({ id, value }) => [id, value]);
  put(element, ...children);
  open.forEach((id) => { const details = document.getElementById(id); if (details) details.open = true; });
  drafts.forEach(([id, value]) => { const field = document.getElementById(id); if (field) field.value = value; });
  // While the part is empty the page is short, and browsers scroll up. What has the focus stays in its place.
  if (scrollY !== y) scrollTo({ top: y, behavior: 'instant' });
  const again = focused && document.getElementById(focused);
  if (!again) return;
  again.focus({ preventScroll: true });
  scrollBy({ top: again.getBoundingClientRect().top - top, behavior: 'instant' });
}

function look() {
  clearTimeout(timer);
  for (const [element, children] of waiting) {
    if (busy(element)) continue;
    waiting.delete(element);
    replace(element, children);
  }
  if (waiting.size > 0) timer = setTimeout(look, 50);
}

/** Gives a part of the page new contents, once the reader is not in the middle of something there. What is open or has the focus stays so. */
export function rebuilt(element, ...children) {
  waiting.set(element, children);
  look();
}
