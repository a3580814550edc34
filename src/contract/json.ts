declare global {
  /** In Node, not yet in TypeScript's library. */
  interface JSON {
    /** A number that `stringify` writes by these digits. */
    rawJSON(digits: string): object;
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
  }
}

/** True for an object that JSON has as one. */
export function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value);
}

// A number after a structural character, with an exponent or at least 16 digits: `JSON.parse` might change it.
const longNumber = /[:[,]\s*-?(?:\d[\d.]*[eE]|[\d.]{16})/;

/** Parses JSON; a number that a double can't represent keeps its digits. Throws a SyntaxError, or a RangeError for thousands of levels. */
export function parseExact(text: string): unknown {
  if (!longNumber.test(text)) return JSON.parse(text);
  const exactly = (_key: string, value: unknown, { source = '' }: { readonly source?: string }) =>
    typeof value === 'number' && digitsOf(String(value)) !== digitsOf(source) ? JSON.rawJSON(source) : value;
  return JSON.parse(text, exactly as (key: string, value: unknown) => unknown);
}

/** A decimal number in one notation: its sign, its significant digits, and the power of ten of the last of them. */
function digitsOf(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  // A pattern that ends with `0+$` would begin at each zero of 60,000.
  let end = digits.length;
  while (digits[end - 1] === '0') end--;
  const significant = digits.slice(0, end);
  if (significant === '') return '0';
  const power = Number(exponent) - fraction.length + digits.length - significant.length;
  return `${text.startsWith('-') ? '-' : ''}${significant}e${power}`;
}

/** Canonical JSON (RFC 8785), but a number that a double can't represent keeps its digits, and a lone surrogate is written as `\uXXXX`. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (JSON.isRawJSON(value)) return canonicalNumber(value.rawJSON);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  // In the order of their names by UTF-16 code units.
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, each]) => `${JSON.stringify(name)}:${canonicalJson(each)}`).join(',')}}`;
}

/** The shortest text of a double can have other digits than the double: 2^65 is 36893488147419103232. */
function canonicalNumber(source: string): string {
  const value = Number(source);
  if (!Number.isFinite(value)) return source;
  const exact = Number.isInteger(value) ? String(BigInt(value)) : value.toFixed(100);
  return digitsOf(exact) === digitsOf(source) ? String(value) : source;
}

/** Whether a value has more levels of nesting than that. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some(each => isDeeper(each, levels - 1));
}
