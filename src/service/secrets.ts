/** A shorter one is looked for as the header says it: by itself it would be found in ordinary words. */
const lengthMin = 8;

/** Characters of a part that is looked for by itself: a long secret makes too long a pattern. */
const partLength = 1_000;

const mark = '[secret]';
/** Of the parts of one. */
const marks = /(?:\[secret\])+/g;

/** A secret as it may be written: what to look for first, and the pattern that decides. */
interface Form {
  /** The longest part that stays as it is where only what must be escaped is; looking for it in a page costs little. */
  readonly core: Buffer;
  /** The same for a page in lower case whose escapes were taken away, one of which may have ended within the secret. */
  readonly coreUnescaped: string;
  readonly pattern: RegExp;
}

/**
 * The secrets of a process, such as the token, in every way in which a service may write one that it echoes: plain, with any of
 * its characters percent-encoded or escaped as JSON or HTML does, in hexadecimal digits, and in base64 or base64url, alone or amid
 * other text such as `Bearer …`.
 */
export class Secrets {
  readonly #known = new Set<string>();
  readonly #forms: Form[] = [];

  add(secret: string): void {
    if (secret === '' || this.#known.has(secret)) return;
    this.#known.add(secret);
    this.#forms.push(...formsOf(secret.length < lengthMin ? `Bearer ${secret}` : secret));
  }

  /** True where an answer holds a secret. */
  areIn(bytes: Buffer): boolean {
    const unescaped = escapeStarts.some(start => bytes.includes(start)) ? withoutEscapes(bytes) : '';
    const suspects = this.#forms.filter(
      ({ core, coreUnescaped }) =>
        bytes.includes(core) || (unescaped !== '' && unescaped.includes(coreUnescaped)),
    );
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
  const hex = Buffer.from(secret).toString('hex');
  const written = [secret, ...[0, 1, 2].map(offset => inBase64(secret, offset))].flatMap(inParts);
  return [
    ...written.map(part => formOf(part, pattern(part))),
    ...[hex, hex.toUpperCase()].map(digits => formOf(digits, new RegExp(hex, 'gi'))),
  ];
}

function formOf(text: string, pattern: RegExp): Form {
  return {
    core: Buffer.from(longestCore(text)),
    coreUnescaped: longestCore(text.replace(endsOfEscapes, ' ')).toLowerCase(),
    pattern,
  };
}

/** The parts of a text, about as long as one another, so that none is found by chance. */
function inParts(text: string): string[] {
  const characters = [...text];
  const length = Math.ceil(characters.length / Math.ceil(characters.length / partLength));
  return Array.from({ length: Math.ceil(characters.length / length) }, (_, at) =>
    characters.slice(at * length, (at + 1) * length).join(''),
  );
}

/** With these, letters and digits may be written otherwise, too. */
const escapeStarts = ['\\u00', '%', '&#'];
const escapes = /%(?:25){0,3}([3-7][\da-f])|\\{1,8}u00([3-7][\da-f])|&#0*(\d{2,3});|&#x0*([3-7][\da-f]);/g;

/** What of a secret may be taken for the end of an escape that began before it, or with a character of its own. */
const endsOfEscapes = /^[A-Za-z0-9]{1,8}|[%\\&#][A-Za-z0-9]+/g;

/** A page in lower case, one character a byte, in which letters and digits are written plainly. */
function withoutEscapes(bytes: Buffer): string {
  const text = bytes.toString('latin1').toLowerCase();
  return text.replace(escapes, (_escape, percent, json, decimal, hex) => {
    const code = decimal === undefined ? Number.parseInt(percent ?? json ?? hex, 16) : Number(decimal);
    return String.fromCharCode(code).toLowerCase();
  });
}

/** Nothing must be escaped in letters and digits. */
function longestCore(text: string): string {
  const parts = text.split(/[^A-Za-z0-9]+/);
  return parts.reduce((longest, part) => (part.length > longest.length ? part : longest), '');
}

/** The digits that stand for a text in base64, wherever the text stands in what is encoded; `offset` bytes of a group before it. */
function inBase64(text: string, offset: number): string {
  const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)]);
  const digits = bytes.toString('base64').replace(/=+$/, '');
  // A digit that holds bits of what stands beside the text may be any.
  return digits.slice(offset === 0 ? 0 : offset + 1, bytes.length % 3 === 0 ? undefined : -1);
}

/** Finds a text in which each character may be written plainly, percent-encoded, or escaped as JSON or HTML does, also in a text within a text. */
function pattern(text: string): RegExp {
  const characters = [...text].map(char => {
    const code = char.codePointAt(0) ?? 0;
    const entity = `&(?:#0*${code}|#[xX]0*${digitsOf(code, 2)}${entityNames[char] ?? ''});`;
    const inPercent = (['utf8', 'latin1'] as const).map(encoding =>
      [...Buffer.from(char, encoding)].map(byte => `%(?:25){0,3}${digitsOf(byte, 2)}`).join(''),
    );
    const inJson = char
      .split('')
      .map(unit => `\\\\{1,8}u${digitsOf(unit.charCodeAt(0), 4)}`)
      .join('');
    return `(?:${[plainForms(char), ...new Set(inPercent), inJson, entity].join('|')})`;
  });
  return new RegExp(characters.join(''), 'g');
}

/** Hexadecimal digits, so many at the least, in whichever case. */
function digitsOf(code: number, least: number): string {
  const digits = code.toString(16).padStart(least, '0');
  return [...digits].map(digit => `[${digit}${digit.toUpperCase()}]`).join('');
}

/** What HTML calls the characters that it always escapes, and those that tokens are made of. */
const entityNames: Readonly<Record<string, string>> = {
  '&': '|amp',
  '<': '|lt',
  '>': '|gt',
  '"': '|quot',
  "'": '|apos',
  '+': '|plus',
  '/': '|sol',
  '=': '|equals',
  '.': '|period',
  _: '|lowbar',
};

function plainForms(char: string): string {
  if (/[A-Za-z0-9]/.test(char)) return char;
  if (char > '\x7f') return char;
  const escaped = `\\\\{0,8}\\${char}`;
  // The last two digits of base64 are others in base64url.
  if (char === '+') return `${escaped}|-`;
  if (char === '/') return `${escaped}|_`;
  // So do forms send a space.
  if (char === ' ') return ` |\\+`;
  return escaped;
}
