/**
 * What could steer a terminal or turn the order of what is read: control characters, marks of direction, and odd line ends. And what
 * can't be seen, so that two texts look alike: soft hyphens, joiners between other letters than theirs, characters of no width, and tags.
 */
const unseen =
  /[\u034f\p{Cc}\p{Bidi_Control}\u2028\u2029\u00ad\u200b-\u200f\u2060-\u2064\ufeff\u{e0000}-\u{e007f}]/u
    .source;

/** A joiner that is part of what is written: between the pictures of one emoji, and in scripts that join their letters. */
const [picture, joined] = [
  '\\p{Extended_Pictographic}',
  ['Arab', 'Syrc', 'Deva', 'Beng', 'Guru', 'Gujr', 'Orya', 'Taml', 'Telu', 'Knda', 'Mlym', 'Sinh']
    .map(script => `\\p{scx=${script}}`)
    .join(''),
];
const joiner = `(?<=[${picture}\\p{Emoji_Modifier}\\ufe0f])\\u200d(?=${picture})|(?<=[${joined}])[\\u200c\\u200d](?=[${joined}])`;

const unsafe = new RegExp(`${unseen}(?<!${joiner})`, 'gu');

const shortForms: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A text as one line that a person can safely look at: what could steer a terminal is shown as an escape, such as `\u001b`. */
export function printable(text: string): string {
  return text.replace(unsafe, char => shortForms[char] ?? escapeOf(char));
}

/** The same of each line of a text that has several of its own. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** The same of a text that another program broke into lines, such as SQLite: they are joined by spaces. */
export function printableInOneLine(text: string): string {
  return printable(text.replace(/\s*\n\s*/g, ' '));
}

/** What JSON lets stand in a text as it is, though it could steer a terminal: outside of texts it holds none of that. */
const unsafeInJson = /[\u007f-\u009f\p{Bidi_Control}\u2028\u2029]/gu;

/** The same JSON, of the same value, so that a person can safely look at it on a terminal. */
export function printableJson(json: string): string {
  return json.replace(unsafeInJson, escapeOf);
}

function escapeOf(char: string): string {
  const hex = char.codePointAt(0)?.toString(16).padStart(4, '0') ?? '';
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex}`;
}
