// The chosen summary as an SVG file for papers and slides: plain shapes and text, no fonts or styles from elsewhere.

import { clipped, s } from './dom.js';
import { data, leafCost, tree } from './front.js';
import { fixed, people } from './numbers.js';
import { actionParts, text, titleText, way } from './words.js';

const FONT = 'Helvetica, Arial, sans-serif';
const [QUESTION, LEAF, GAP, LINE] = [170, 380, 56, 17];

const pen = document.createElement('canvas').getContext('2d');

/** Words in lines no wider than `width`; a word that is wider is cut. */
function wrap(words, width, font) {
  pen.font = font;
  const lines = [''];
  const pieces = words.replace(/[\u0000-\u001f\u007f]/g, ' ').split(' ').flatMap((word) => clipped(word).match(/.{1,24}/gu) ?? []);
  for (const word of pieces) {
    const longer = lines.at(-1) === '' ? word : `${lines.at(-1)} ${word}`;
    if (pen.measureText(longer).width <= width || lines.at(-1) === '') lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

function outcome(leaf) {
  if (leaf.rows === null) return `fewer than ${data.min_n} people`;
  if (data.actions[leaf.action].edits.length === 0) return `${people(leaf.rows)} without recourse`;
  return `works for ${leaf.flipped} of ${people(leaf.rows)}, mean cost ${fixed(leafCost(leaf), 2)}`;
}

/** Lays a subtree out from `top`, at column `level`; gives its middle and its end. */
function lay(node, level, top, parts) {
  const left = 16 + level * (QUESTION + GAP);
  if (node.split === undefined) {
    const lines = wrap(text(actionParts(node.action)), LEAF - 24, `600 13px ${FONT}`);
    const height = (lines.length + 1) * LINE + 16;
    parts.push(s('rect', { x: left, y: top, width: LEAF, height, rx: 8, fill: '#f4f8fb', stroke: '#0f5f8c' }));
    lines.forEach((words, i) => parts.push(s('text', { x: left + 12, y: top + 21 + i * LINE, 'font-size': 13, 'font-weight': 600, fill: '#1c2329' }, words)));
    parts.push(s('text', { x: left + 12, y: top + 21 + lines.length * LINE, 'font-size': 13, fill: '#444444' }, outcome(node)));
    return { middle: top + height / 2, end: top + height, left };
  }
  const upper = lay(node.left, level + 1, top, parts);
  const lower = lay(node.right, level + 1, upper.end + 14, parts);
  const middle = (upper.middle + lower.middle) / 2;
  const lines = [...wrap(`${text(way([[node.split, true]]))}?`, QUESTION - 20, `13px ${FONT}`), ...(node.rows === null ? [] : [people(node.rows)])];
  const height = lines.length * LINE + 14;
  for (const [child, answer] of [[upper, 'yes'], [lower, 'no']]) {
    const bend = left + QUESTION + 12;
    parts.push(s('path', { d: `M${left + QUESTION} ${middle}H${bend}V${child.middle}H${child.left}`, fill: 'none', stroke: '#888888' }));
    parts.push(s('text', { x: bend + 6, y: child.middle - 5, 'font-size': 12, fill: '#444444' }, answer));
  }
  parts.push(s('rect', { x: left, y: middle - height / 2, width: QUESTION, height, rx: 8, fill: '#ffffff', stroke: '#888888' }));
  lines.forEach((words, i) => parts.push(s('text', { x: left + 10, y: middle - height / 2 + 19 + i * LINE, 'font-size': 13, fill: '#1c2329' }, words)));
  return { middle, end: Math.max(lower.end, middle + height / 2), left };
}

function levels(node) {
  return node.split === undefined ? 0 : 1 + Math.max(levels(node.left), levels(node.right));
}

/** A point's summary as the text of an SVG file. */
export function treeSvg(i) {
  const root = tree(i);
  const parts = [];
  const { end } = lay(root, 0, 52, parts);
  const [width, height] = [32 + levels(root) * (QUESTION + GAP) + LEAF, Math.ceil(end + 16)];
  const title = wrap(titleText(i), width - 32, `600 14px ${FONT}`)[0];
  const svg = s('svg', { viewBox: `0 0 ${width} ${height}`, width, height, 'font-family': FONT },
    s('title', {}, titleText(i)), s('rect', { width, height, fill: '#ffffff' }),
    s('text', { x: 16, y: 30, 'font-size': 14, 'font-weight': 600, fill: '#1c2329' }, title), parts);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(svg)}\n`;
}
