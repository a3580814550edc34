/** `JSON.rawJSON` and the source text that a reviver gets: in Node, not yet in TypeScript's library. */
interface JsonWithSource {
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
  parse(
    text: string,
    reviver: (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
}

/** A number that a double can't represent; `JSON.stringify` writes its digits as received. */
interface RawNumber {
  readonly rawJSON: string;
}

const json = JSON as unknown as JsonWithSource;

/** True for an object that JSON has as one. */
export function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !json.isRawJSON(value);
}

// A number after a structural character, with an exponent or at least 16 digits: `JSON.parse` might change it.
const longNumber = /[:[,]\s*-?(?:\d[\d.]*[eE]|[\d.]{16})/;

/** Whether a text might contain a number that a double can't represent. */
export function hasLongNumbers(text: string): boolean {
  return longNumber.test(text);
}

/**
 * Parses JSON; a number that a double can't represent becomes one that `JSON.stringify` writes by its digits.
 *
 * @throws SyntaxError, or RangeError if it is nested some thousand levels deep.
 */
export function parseExact(text: string): unknown {
  if (!hasLongNumbers(text)) return JSON.parse(text);
  return json.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && !isSameNumber(String(value), source)
      ? json.rawJSON(source)
      : value,
  );
}

/** Whether two texts are one decimal number, in whatever notation. */
function isSameNumber(left: string, right: string): boolean {
  return left === right || digitsOf(left) === digitsOf(right);
}

/** A decimal number in one notation: its sign, its significant digits, and the power of ten of the last of them. */
function digitsOf(text: string): string {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.');
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const power = Number(exponent) - fraction.length + digits.length - significant.length;
  return `${text.startsWith('-') ? '-' : ''}${significant}e${power}`;
}

/**
 * Canonical JSON (RFC 8785) of a parsed value. Beyond the RFC, a number that a double can't represent keeps its digits
 * as received, and a lone surrogate is written as its `\uXXXX`.
 */
function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (json.isRawJSON(value)) return canonicalNumber(value.rawJSON);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  return canonicalObject(Object.entries(value));
}

/** The canonical JSON of an object with these members: they are in the order of their names by UTF-16 code units. */
export function canonicalObject(members: [name: string, value: unknown][]): string {
  const sorted = members.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([name, value]) => `${JSON.stringify(name)}:${canonicalJson(value)}`).join(',')}}`;
}

/** The shortest text of a double can have other digits than the double: 2^65 is 36893488147419103232. */
function canonicalNumber(source: string): string {
  const value = Number(source);
  if (!Number.isFinite(value)) return source;
  const exact = Number.isInteger(value) ? String(BigInt(value)) : value.toFixed(100);
  return isSameNumber(exact, source) ? String(value) : source;
}

/** Whether a value has more levels of nesting than that. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some(each => isDeeper(each, levels - 1));
}
