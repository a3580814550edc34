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
  return new Html(strings.map((string, at) => string + textOf(values[at])).join(''));
}

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '"': '&quot;' };

function textOf(value: Value): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(textOf).join('');
  return String(value).replace(/[&<"]/g, sign => escapes[sign] ?? '');
}

/** A column by which a table can be sorted: the link to that, and how the table is sorted by it now, if it is. */
export interface SortLink {
  readonly href: string;
  readonly direction: 'ascending' | 'descending' | null;
}

/** A table, of which the first cell of each row is its head. A phone shows each row of a `list` as a block. */
export function table(
  columns: readonly string[],
  rows: readonly (readonly Value[])[],
  look: 'list' | 'numbers',
  sortLinkOf: (name: string) => SortLink | null = () => null,
): Html {
  const heads = columns.map((name, at) => {
    const link = sortLinkOf(name);
    const shown = link === null ? name : html`<a href="${link.href}">${name}</a>`;
    const mark = link?.direction && (link.direction === 'ascending' ? ' ↑' : ' ↓');
    const isRight = rows.length > 0 && isOfNumbers(rows.map(row => row[at]));
    return { name, shown: html`${shown}${mark}`, sort: link?.direction, isRight };
  });
  const right = html` class="right"`;
  return html`<table class="${look}"><thead><tr>${heads.map(
    ({ shown, sort, isRight }) =>
      html`<th scope="col"${isRight && right}${sort && html` aria-sort="${sort}"`}>${shown}</th>`,
  )}</tr></thead><tbody>${rows.map(
    ([head, ...cells]) => html`
<tr><th scope="row"${heads[0]?.isRight && html` data-label="${heads[0].name}"${right}`}>${head}</th>${cells.map(
      (cell, at) =>
        html`<td data-label="${heads[at + 1]?.name}"${heads[at + 1]?.isRight && right}>${cell}</td>`,
    )}</tr>`,
  )}</tbody></table>`;
}
