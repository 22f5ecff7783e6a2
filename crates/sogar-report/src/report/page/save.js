// What readers take with them: files and the clipboard.

import { h, say } from './dom.js';

/** A cell of a CSV file; a spreadsheet must not take a text for a formula. */
function cell(value) {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** A table as CSV. */
export function csv(header, rows) {
  return [header, ...rows].map((row) => `${row.map(cell).join(',')}\n`).join('');
}

/** Hands the reader a file. */
export function download(name, kind, text) {
  const url = URL.createObjectURL(new Blob([text], { type: `${kind};charset=utf-8` }));
  const link = h('a', { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
  say(`${name} was saved`);
}

/** Copies a text, also where the clipboard's interface is not to be had (pages from disk). */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = h('textarea', { class: 'visually-hidden', 'aria-hidden': 'true' });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
  say('Copied');
}

/** A button that copies what `text` gives, and says so. */
export function copyButton(label, text) {
  const button = h('button', { type: 'button' }, label);
  button.addEventListener('click', async () => {
    await copy(text());
    button.textContent = 'Copied';
    setTimeout(() => { button.textContent = label; }, 1500);
  });
  return button;
}
