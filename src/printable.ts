/** Characters that control a terminal, change the reading order or are invisible. Joiners belong to emojis and to several scripts. */
const unsafe =
  /[\u034f\p{Cc}\p{Bidi_Control}\u2028\u2029\u00ad\u200b\u2060-\u2064\ufeff\u{e0000}-\u{e007f}]/gu;

const shortForms: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A text as one line that is safe to show. Characters that could control a terminal become escapes, for example `\u001b`. */
export function printable(text: string): string {
  return text.replace(unsafe, char => shortForms[char] ?? escapeOf(char));
}

/** The same for a text with several lines; the line ends stay. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n');
}

/** The same for a text that another program broke into lines, for example SQLite. The lines are joined by spaces. */
export function printableInOneLine(text: string): string {
  return printable(text.replace(/\s*\n\s*/g, ' '));
}

/** Characters that could control a terminal and that JSON allows in a string. Outside of strings JSON allows none of them. */
const unsafeInJson = /[\u007f-\u009f\p{Bidi_Control}\u2028\u2029]/gu;

/** JSON of the same value that is safe to show on a terminal. */
export function printableJson(json: string): string {
  return json.replace(unsafeInJson, escapeOf);
}

function escapeOf(char: string): string {
  const hex = char.codePointAt(0)?.toString(16).padStart(4, '0') ?? '';
  return hex.length > 4 ? `\\u{${hex}}` : `\\u${hex}`;
}
