import { printable } from '../../printable.ts';
import { cut } from '../cut.ts';
import { withoutAddressSecrets } from '../endpoint.ts';
import { type Html, html } from '../report/html.ts';

const textMax = 300;

/** A text of a record on one line of a page: cut, harmless, and without the secret parts of addresses. */
export function brief(text: string): string {
  return cut(printable(withoutAddressSecrets(text)), textMax);
}

/** The title of a record, or that it has none. */
export function titleOr(title: string | null | undefined): string {
  return title === null || title === undefined || title.trim() === '' ? 'Without a title' : brief(title);
}

const shortNames: Readonly<Record<string, string>> = {
  exportedAt: 'Exported',
  sourceConnection: 'Source',
  destinationConnection: 'Destination',
};

/** The heading of a field's column in a table: `Title` for `sourceDocumentTitle`. */
export function labelOf(field: string): string {
  const name = shortNames[field] ?? field.replace(/^sourceDocument(?=[A-Z])/, '');
  const words = name.replace(
    /([a-z])([A-Z])/g,
    (_, end: string, start: string) => `${end} ${start.toLowerCase()}`,
  );
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A point in time of a record, in the short form for tables; a text that is not a time stays as it is. */
export function shortTime(text: string): Html {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?Z$/.exec(text) ?? [];
  return day === undefined ? text : html`<time datetime=${text}>${day} ${time}</time>`;
}
