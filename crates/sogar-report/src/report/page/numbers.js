// Numbers for people, rounded as the command line rounds them.

/** With that many digits behind the point; exact ties go to the even digit, as in Rust. */
export function fixed(number, digits) {
  const scaled = number * 10 ** digits;
  // Only multiples of a power of two can be exact ties; for these the product above is exact.
  const tie = Math.abs(scaled % 1) === 0.5 && Number.isInteger(number * 2 ** (digits + 1));
  if (!tie) return number.toFixed(digits);
  const low = Math.floor(scaled);
  return ((low % 2 === 0 ? low : low + 1) / 10 ** digits).toFixed(digits);
}

/** A share as a percentage: `94.0 %`. */
export function percent(share, digits = 1) {
  return `${fixed(100 * share, digits)} %`;
}

/** With a sign, a true minus, and no sign for what rounds to 0. */
export function signed(number, digits = 3) {
  const text = fixed(Math.abs(number), digits);
  if (Number(text) === 0) return text;
  return (number < 0 ? '−' : '+') + text;
}

/** Numbers in groups: 1,234,567. Decimals, of weighted people, to six digits. */
export function grouped(number) {
  const [whole, rest] = String(typeof number === 'number' && !Number.isInteger(number) ? Number(number.toFixed(6)) : number).split('.');
  return whole.replace(/\B(?=(\d{3})+$)/g, ',') + (rest ? `.${rest}` : '');
}

/** `1 person`, `2 people`. */
export function people(count) {
  return count === 1 ? '1 person' : `${grouped(count)} people`;
}

/** As short as it can be written; whole numbers without a point. */
export function plain(number) {
  const size = Math.abs(number);
  if (size !== 0 && (size < 1e-5 || size >= 1e16)) return number.toExponential().replace('e+', 'e');
  if (size >= 1e16 || Number.isInteger(number)) return String(number + 0);
  return String(number);
}

/** An amount within a sentence: whole ones as they are, others to six digits; in groups from five digits on, so that years stay together. */
export function spokenAmount(number) {
  const text = plain(Number.isInteger(number) ? number : Number(number.toPrecision(6)));
  return Math.abs(number) < 1e4 || text.includes('e') ? text : text.replace(/^(-?)(\d+)/, (_, sign, whole) => sign + grouped(whole));
}

/** Round marks for an axis from `low` to `high`. */
export function ticks(low, high, wanted) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = span / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((candidate) => candidate >= rough * 0.999);
  const marks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1) marks.push(Number((i * step).toPrecision(12)));
  return marks;
}

/** Digits that marks a step apart need. */
export function digitsFor(marks) {
  const step = marks.length > 1 ? Math.abs(marks[1] - marks[0]) : 1;
  return Math.max(0, Math.min(6, -Math.floor(Math.log10(step) + 1e-9)));
}
