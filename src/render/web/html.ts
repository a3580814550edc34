import { isOfNumbers } from '../table.ts';

/** A part of a page, as HTML text that is safe to show. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Something that a template can contain; null, undefined and false show nothing. */
export type Value = Html | string | number | null | undefined | false | readonly Value[];

/** A template of HTML. Values are text and always escaped, also between double quotes, except other templates. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(String.raw({ raw: strings }, ...values.map(textOf)));
}

function textOf(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(textOf).join('');
  return String(value).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

/** A part of a page under its heading. */
export function section(id: string, heading: string, ...parts: readonly Value[]): Html {
  return html`<section aria-labelledby="${id}"><h2 id="${id}">${heading}</h2>
${parts}</section>`;
}

/** What is shown instead of a list or table without entries. */
export const none = html`<p class="empty">None.</p>`;

/** The longest reference or time that is never broken into lines, and the longest that is only broken on narrow pages. */
const [wholeMax, shortMax] = [16, 40];

/** A text of a table. A reference or a time stays on one line if there is room. */
export function cellOf(value: Value): Value {
  if (typeof value !== 'string' || !/\d/.test(value) || value.length > shortMax) return value;
  return html`<span class="${value.length > wholeMax ? 'short' : 'whole'}">${value}</span>`;
}

/** A table, which screen readers call `name`. The first cell of a row is its head, and a phone shows a row of a `list` as a block. */
export function table(
  look: 'list' | 'numbers',
  name: string,
  columns: readonly string[],
  rows: readonly (readonly Value[])[],
  sortLinks?: ReadonlyMap<string, { readonly href: string; readonly direction: string | false }>,
): Html {
  if (rows.length === 0) return none;
  const areRight = columns.map((_, at) => isOfNumbers(rows.map(row => row[at])));
  const right = html` class="right"`;
  const attributes = columns.map((name, at) => html` data-label="${name}"${areRight[at] && right}`);
  const heads = columns.map((name, at) => {
    const { href, direction } = sortLinks?.get(name) ?? {};
    return html`<th scope="col"${attributes[at]}${direction && html` aria-sort="${direction}"`}>${href ? html`<a href="${href}">${name}</a>` : name}</th>`;
  });
  const body = rows.map(row => {
    const [head, ...cells] = row.map((cell, at) => (areRight[at] ? cell : cellOf(cell)));
    return html`
<tr><th scope="row"${attributes[0]}>${head}</th>${cells.map((cell, at) => html`<td${attributes[at + 1]}>${cell}</td>`)}</tr>`;
  });
  return html`<table class="${look}" aria-label="${name}"><thead><tr>${heads}</tr></thead><tbody>${body}</tbody></table>`;
}
