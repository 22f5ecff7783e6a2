// Elements from data. Text only ever enters the page as text: nothing here or elsewhere parses HTML.

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null) continue;
    if (name.startsWith('aria-')) element.setAttribute(name, String(value));
    else if (value === false) continue;
    else if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
}

/** An HTML element; attributes that begin with `on` are listeners. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** The element of that id. */
export function at(id) {
  return document.getElementById(id);
}

/** Gives an element new contents. */
export function put(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

/** Tells users of screen readers something. */
export function say(text) {
  at('said').textContent = text;
}

const LONGEST = 120;

/** A text from the table, cut where it would flood the page; the whole of it is its tooltip. */
export function clipped(text) {
  const letters = Array.from(text.slice(0, 2 * LONGEST + 2));
  return letters.length > LONGEST ? `${letters.slice(0, LONGEST).join('')}…` : text;
}

/** A name or value from the table: kept apart from the sentence around it, whatever its writing direction. */
export function word(text, kind = 'name') {
  const short = clipped(text);
  return h('bdi', { class: kind, title: short === text ? undefined : text }, short);
}

/** Parts of a sentence (texts, `{name}`, `{value}`) as elements. */
export function sentence(parts) {
  return parts.map((part) => {
    if (typeof part === 'string') return part;
    return part.name !== undefined ? word(part.name, 'name') : word(part.value, 'value');
  });
}

/** A list to choose from; `change(i)` is called with the position of the choice. */
export function choice(text, options, value, change) {
  const select = h('select', { 'aria-label': text, onchange: () => change(Number(select.value)) },
    options.map((name, i) => h('option', { value: i, selected: i === value }, clipped(name))));
  return h('label', {}, h('span', { class: 'soft small' }, `${text} `), select);
}

/** The button that switches between light and dark colours; the system's setting decides first. */
export function theme() {
  const root = document.documentElement;
  const button = at('theme');
  const use = (dark) => {
    root.dataset.theme = dark ? 'dark' : 'light';
    button.textContent = dark ? 'Light' : 'Dark';
    button.setAttribute('aria-label', dark ? 'Use light colours' : 'Use dark colours');
  };
  const wish = matchMedia('(prefers-color-scheme: dark)');
  use(wish.matches);
  wish.addEventListener('change', () => use(wish.matches));
  button.addEventListener('click', () => use(root.dataset.theme !== 'dark'));
}
