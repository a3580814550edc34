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
export interface RawNumber {
  readonly rawJSON: string;
}

const json = JSON as unknown as JsonWithSource;

/** Whether a value is a number that is kept by its digits. */
export function isRawNumber(value: unknown): value is RawNumber {
  return json.isRawJSON(value);
}

// A number after a structural character, with an exponent or at least 16 digits: `JSON.parse` might change it.
const uncertainNumber = /[:[,]\s*-?(?:\d[\d.]*[eE]|[\d.]{16})/;

/** True if the text might contain a number that JavaScript can't represent exactly. */
export function hasUncertainNumbers(text: string): boolean {
  return uncertainNumber.test(text);
}

/**
 * Makes a function that checks a text for members of these names whose number might have been rounded to another whole
 * number. A number can only be rounded if it has an exponent or at least 17 digits.
 */
export function uncertainMembers(names: readonly string[]): (text: string) => boolean {
  const uncertain = new RegExp(`"(?:${names.join('|')})"\\s*:\\s*-?(?:\\d[\\d.]*[eE]|[\\d.]{17})`);
  // A letter of a name can be escaped, though nobody does that.
  return text => uncertain.test(text) || (/\\u00[67]/.test(text) && hasUncertainNumbers(text));
}

/**
 * Parses JSON; a number that a double can't represent becomes a `RawNumber`. Several times the cost of `JSON.parse`.
 */
export function parseExact(text: string): unknown {
  return json.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && !isHeld(value, source)
      ? json.rawJSON(source)
      : value,
  );
}

/** Whether a double is exactly the number in its text. */
function isHeld(value: number, source: string): boolean {
  return Number.isFinite(value) && digitsOf(String(value)) === digitsOf(source);
}

/** Whether a double is exactly that number, even if the shortest text of the double is different. */
export function isExactlyDouble({ rawJSON }: RawNumber): boolean {
  const value = Number(rawJSON);
  if (!Number.isFinite(value)) return false;
  return digitsOf(Number.isInteger(value) ? String(BigInt(value)) : value.toFixed(100)) === digitsOf(rawJSON);
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

// The functions below go through valid JSON without recursion, so they can read any depth of nesting.

/** The texts of the elements of a JSON array, each as received. */
export function elementTexts(array: string): string[] {
  const elements: string[] = [];
  const last = array.lastIndexOf(']');
  for (let at = array.indexOf('[') + 1; at <= last; ) {
    const end = endOfValue(array, at);
    elements.push(array.slice(at, end).trim());
    at = end + 1;
  }
  return elements.length === 1 && elements[0] === '' ? [] : elements;
}

/**
 * The members of a JSON object in their order, each as its name and the text of its value, as received. A name can
 * occur twice.
 */
export function* memberTexts(object: string): Generator<[name: string, text: string]> {
  for (let at = object.indexOf('"'); at >= 0; at = object.indexOf('"', at)) {
    const nameEnd = endOfString(object, at);
    const start = object.indexOf(':', nameEnd) + 1;
    const end = endOfValue(object, start);
    yield [JSON.parse(object.slice(at, nameEnd)), object.slice(start, end)];
    at = end;
  }
}

const structure = /["{}[\],]/g;

/** The end of a value that begins here: the comma or bracket that belongs to the object or array around it. */
function endOfValue(text: string, start: number): number {
  let depth = 0;
  structure.lastIndex = start;
  for (let found = structure.exec(text); found !== null; found = structure.exec(text)) {
    const [mark] = found;
    if (mark === '"') structure.lastIndex = endOfString(text, found.index);
    else if (mark === '{' || mark === '[') depth++;
    else if (depth === 0) return found.index;
    else if (mark !== ',') depth--;
  }
  return text.length;
}

/**
 * The end of a string that begins here: after the first quotation mark with an even number of backslashes before it.
 */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text[at - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return at + 1;
  }
  return text.length;
}
