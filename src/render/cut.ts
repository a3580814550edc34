import { eastAsianWidth } from 'get-east-asian-width';

/** A text of at most `max` UTF-16 code units; a mark shows where it was cut, and no character is cut in two. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : `${piece(text, 0, Math.max(1, max - 1))}…`;
}

/**
 * The most columns of a terminal that a text takes. East Asian characters and emoji take two, most others one.
 * `cli-truncate` and `wrap-ansi` also join marks to their letters, but take 25 ms of each command's start.
 */
export function columnsOf(text: string): number {
  let columns = 0;
  for (const character of text) columns += widthOf(character);
  return columns;
}

/** A text of at most `max` columns of a terminal; a mark shows where it was cut. */
export function cutToColumns(text: string, max: number): string {
  if (columnsOf(text) <= max) return text;
  let shown = '';
  let left = max - 1;
  for (const character of text) {
    left -= widthOf(character);
    if (left < 0) break;
    shown += character;
  }
  return `${shown}…`;
}

function widthOf(character: string): number {
  return eastAsianWidth(character.codePointAt(0) as number);
}

/** A part of a text, without halves of characters at its ends. */
export function piece(text: string, from: number, to: number): string {
  return text.slice(from, to).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
}
