/** A shorter secret is only looked for in the form of the header: alone it would be found in ordinary words. */
const lengthMin = 8;

/**
 * Characters of each part that is looked for: the pattern for all of a long secret would be too long for the engine.
 */
const partLength = 1_000;

const mark = '[secret]';
/** Adjacent marks are parts of one secret. */
const marks = /(?:\[secret\])+/g;

/** A secret in one form: the bytes to look for first, and the pattern that decides. */
interface Form {
  /** The longest run of letters and digits, which no encoder escapes: it is cheap to find in a page. */
  readonly core: Buffer;
  readonly pattern: RegExp;
}

/**
 * The secrets of a process, for example the token, in the forms in which a service might echo them. These are plain,
 * percent-encoded, escaped in JSON, and base64 or base64url, alone or inside other text like `Bearer …`.
 */
export class Secrets {
  readonly #known = new Set<string>();
  readonly #forms: Form[] = [];

  add(secret: string): void {
    if (secret === '' || this.#known.has(secret)) return;
    this.#known.add(secret);
    this.#forms.push(...formsOf(secret.length < lengthMin ? `Bearer ${secret}` : secret));
  }

  /** True if an answer contains a secret. */
  areIn(bytes: Buffer): boolean {
    const suspects = this.#forms.filter(({ core }) => bytes.includes(core));
    if (suspects.length === 0) return false;
    const text = bytes.toString('utf8');
    return suspects.some(({ pattern }) => text.search(pattern) >= 0);
  }

  /** A text in which each secret is replaced by a mark. */
  redact(text: string): string {
    return this.#forms
      .reduce((redacted, { pattern }) => redacted.replace(pattern, mark), text)
      .replace(marks, mark);
  }
}

function formsOf(secret: string): Form[] {
  const written = [secret, ...[0, 1, 2].map(offset => inBase64(secret, offset))];
  return written.flatMap(inParts).map(part => ({
    core: Buffer.from(longestCore(part)),
    pattern: new RegExp([...part].map(formsOfCharacter).join(''), 'g'),
  }));
}

/** The parts of a text, all about as long, so that none is found by chance. */
function inParts(text: string): string[] {
  const characters = [...text];
  const length = Math.ceil(characters.length / Math.ceil(characters.length / partLength));
  return Array.from({ length: Math.ceil(characters.length / length) }, (_, at) =>
    characters.slice(at * length, (at + 1) * length).join(''),
  );
}

function longestCore(text: string): string {
  const parts = text.split(/[^A-Za-z0-9]+/);
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), '');
}

/** The digits of a text in base64, if `offset` bytes of a group are before it. */
function inBase64(text: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
  const digits = bytes.toString('base64').replace(/=+$/, '');
  // A digit that shares bits with the neighbouring text can be any.
  return digits.slice(offset === 0 ? 0 : offset + 1, bytes.length % 3 === 0 ? undefined : -1);
}

/**
 * A pattern for a character: plain, percent-encoded, or escaped in JSON, also inside an address or a text that is
 * escaped twice.
 */
function formsOfCharacter(char: string): string {
  if (/[A-Za-z0-9]/.test(char)) return char;
  const inPercent = [...Buffer.from(char)].map(byte => `%(?:25)?${digitsOf(byte, 2)}`).join('');
  const inJson = char
    .split('')
    .map(unit => `\\\\{1,3}u${digitsOf(unit.charCodeAt(0), 4)}`)
    .join('');
  return `(?:\\\\{0,3}${RegExp.escape(char)}${otherForms[char] ?? ''}|${inPercent}|${inJson})`;
}

/** Base64url has other digits for two of base64, and a form sends a space as a plus. */
const otherForms: Readonly<Record<string, string>> = { '+': '|-', '/': '|_', ' ': '|\\+' };

/** A number in hexadecimal digits of either case. */
function digitsOf(code: number, length: number): string {
  const digits = code.toString(16).padStart(length, '0');
  return digits.replace(/[a-f]/g, digit => `[${digit}${digit.toUpperCase()}]`);
}
