/** What could steer a terminal or turn the order of what is read: control characters, marks of direction, and odd line ends. */
const unsafe = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

const shortForms: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A text as one line that a person can safely look at: what could steer a terminal is shown as an escape, such as `\u001b`. */
export function printable(text: string): string {
  return text.replace(
    unsafe,
    char => shortForms[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
