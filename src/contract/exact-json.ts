/** `JSON.rawJSON` and the source text that a reviver is handed: in Node, not yet in TypeScript's library. */
interface JsonWithSource {
  rawJSON(text: string): RawNumber;
  isRawJSON(value: unknown): value is RawNumber;
  parse(
    text: string,
    reviver: (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
}

/** A number whose digits a double can't hold; `JSON.stringify` writes it as it was received. */
export interface RawNumber {
  readonly rawJSON: string;
}

const json = JSON as unknown as JsonWithSource;

/** Tells whether a value is a number that is kept by its digits. */
export function isRawNumber(value: unknown): value is RawNumber {
  return json.isRawJSON(value);
}

// A number after a structural character, with an exponent or at least 16 digits: it may not survive `JSON.parse`.
const uncertainNumber = /[:[,]\s*-?(?:\d[\d.]*[eE]|[\d.]{16})/;

/** True where a number in the text may not be held exactly by JavaScript. */
export function hasUncertainNumbers(text: string): boolean {
  return uncertainNumber.test(text);
}

/** Parses JSON; a number that a double can't hold becomes a `RawNumber`. Several times the cost of `JSON.parse`. */
export function parseExact(text: string): unknown {
  return json.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && !isHeld(value, source)
      ? json.rawJSON(source)
      : value,
  );
}

/** Whether a double says the very number that its text says. */
function isHeld(value: number, source: string): boolean {
  return Number.isFinite(value) && digitsOf(String(value)) === digitsOf(source);
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
 * The texts of the elements of an array that begins at an offset of a JSON text, each as received. It goes through the text
 * without recursion, so nesting of any depth is no danger.
 */
export function elementTexts(text: string, start: number): string[] {
  const elements: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === '[' || character === '{') depth++;
    else if ((character === ']' || character === '}') && --depth === 0) {
      const last = text.slice(from, at).trim();
      if (last !== '' || elements.length > 0) elements.push(last);
      return elements;
    } else if (character === ',' && depth === 1) {
      elements.push(text.slice(from, at).trim());
      from = at + 1;
    }
  }
  return elements;
}

/** Where the value of a member of a JSON text's outermost object begins; the last such member counts; -1 where there is none. */
export function memberStart(text: string, name: string): number {
  let depth = 0;
  let found = -1;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') {
      const end = endOfString(text, at);
      if (depth === 1 && text.slice(at, end + 1) === `"${name}"`) {
        const value = /^\s*:\s*/.exec(text.slice(end + 1, end + 100));
        if (value !== null) found = end + 1 + value[0].length;
      }
      at = end;
    } else if (character === '[' || character === '{') depth++;
    else if (character === ']' || character === '}') depth--;
  }
  return found;
}

/** The place of the quotation mark that ends the string which begins at `at`. */
function endOfString(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text[end - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}
