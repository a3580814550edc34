/** A text of at most so many UTF-16 code units; a mark shows where it was cut, and no character is cut in two. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${piece(text, 0, Math.max(1, max - 1))}…`;
}

/** A part of a text, without halves of characters at its ends. */
export function piece(text: string, from: number, to: number): string {
  return text.slice(from, to).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
}
