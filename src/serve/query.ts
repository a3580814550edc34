import type { Browsable, ChangeFilter, ListOrder, RecordFilter } from '../contract/browsable.ts';
import { keptResources } from '../contract/lists.ts';
import { instantMs } from '../contract/time.ts';
import { HttpError } from './http.ts';

/** A parsed query string. A parameter that is given twice is an array. */
export type Query = Readonly<Record<string, unknown>>;

/** The values of a parameter: a JSON schema, the same in words, and the check of a text. */
interface Values {
  readonly schema: object;
  readonly what: string;
  isOne(text: string): boolean;
}

const text = (minLength = 0, maxLength = 200): Values => ({
  schema: { type: 'string', minLength, maxLength },
  what: `a text of ${minLength} to ${maxLength} characters`,
  isOne: ({ length }) => length >= minLength && length <= maxLength,
});
const whole = (minimum: number, maximum = Number.MAX_SAFE_INTEGER): Values => ({
  schema: { type: 'integer', minimum, maximum },
  what: `a whole number from ${minimum} to ${maximum}`,
  isOne: digits => /^\d+$/.test(digits) && Number(digits) >= minimum && Number(digits) <= maximum,
});
const oneOf = (words: readonly string[]): Values => ({
  schema: { type: 'string', enum: words },
  what: `one of ${words.join(', ')}`,
  isOne: word => words.includes(word),
});

/** How many records an answer to a program has by default. */
export const pageSizeDefault = 50;
/** How many changes it has. */
export const limitDefault = 100;

const momentText =
  'A date, or a time in ISO 8601; it counts to the second, and is in UTC if it names no zone.';

/** What each parameter means, and its values. */
export const parameters: Readonly<Record<string, readonly [meaning: string, values: Values]>> = {
  pageNo: ['The page; 1 if it is left out.', whole(1, 2 ** 31)],
  pageSize: [`Records of a page, usually ${pageSizeDefault}.`, whole(1, 1_000)],
  page: ['The page of a list for people.', whole(1, 2 ** 31)],
  cursor: [
    'The cursor of the answer before; not beside sinceRun. Without both, it begins at the first run.',
    text(0, 16_000),
  ],
  sinceRun: ['Changes of later runs.', whole(0)],
  limit: [`Changes of a page, usually ${limitDefault}.`, whole(1, 1_000)],
  source: ['The source connection: its id, or its name in any case.', text(1)],
  destination: ['The destination connection, in the same way.', text(1)],
  kind: ['The kind of the document, to the letter.', text()],
  from: [`Not before this. ${momentText}`, text()],
  to: [`Not after this date or second. ${momentText}`, text()],
  q: [
    'Words of titles, names and references, and of the names of connections, in any case; all are wanted.',
    text(),
  ],
  order: ['Descending or not.', oneOf(['asc', 'desc'])],
  resource: ['The list.', oneOf(keptResources)],
  operation: ['What happened.', oneOf(['insert', 'update', 'removal'])],
  run: ['The run.', whole(1)],
  after: ['The last change of the page before, for people.', text()],
  before: ['The first change of the page after, for people.', text()],
};

/** The parameters of changes, without those of paging. */
export const changeParameters = [
  ...['source', 'destination', 'kind', 'from', 'to', 'q', 'sort', 'order'],
  ...['resource', 'operation', 'run'],
];
/** Changes are sorted by their runs. */
export const changeSort = 'runId';

/** Refuses parameters that an address does not support. If a filter were ignored, the answer would look filtered. */
export function assertKnown(query: Query, known: readonly string[]): void {
  const unknown = Object.keys(query).find(name => !known.includes(name));
  if (unknown === undefined) return;
  const there = known.length === 0 ? 'it takes none' : `only ${known.join(', ')}`;
  throw new HttpError(400, `There is no parameter ${unknown.slice(0, 200)} here, ${there}.`);
}

/** The value of a parameter; null if it is missing. Like all functions here, it throws a 400 that names what does not fit. */
export function textOf(query: Query, name: string, values = parameters[name]?.[1] ?? text()): string | null {
  const value = query[name];
  if (value === undefined) return null;
  if (typeof value === 'string' && values.isOne(value)) return value;
  throw new HttpError(400, `${name} must be ${values.what}, given at most once.`);
}

/** The same of a whole number. */
export function numberOf(query: Query, name: string): number | null {
  const value = textOf(query, name);
  return value === null ? null : Number(value);
}

/** The filter of a list or of the connections. */
export function readFilter(query: Query): RecordFilter {
  return {
    source: connection(query, 'source'),
    destination: connection(query, 'destination'),
    kind: textOf(query, 'kind'),
    from: moment(query, 'from'),
    to: moment(query, 'to'),
    q: (textOf(query, 'q') ?? '').trim(),
  };
}

/** The filter of changes. */
export function readChangeFilter(query: Query): ChangeFilter {
  return {
    ...readFilter(query),
    resource: textOf(query, 'resource'),
    operation: textOf(query, 'operation'),
    run: numberOf(query, 'run'),
  };
}

/** The order of a list; `usual` if the query string names none. */
export function readOrder(query: Query, sorts: readonly string[], usual: ListOrder): ListOrder {
  const sort = textOf(query, 'sort', oneOf(sorts));
  const order = textOf(query, 'order');
  const isDescending = sort === null || sort === usual.sort ? usual.isDescending : false;
  return { sort: sort ?? usual.sort, isDescending: order === null ? isDescending : order === 'desc' };
}

/** True if changes are wanted with the newest first. */
export function isNewestFirst(query: Query, usually: boolean): boolean {
  return readOrder(query, [changeSort], { sort: changeSort, isDescending: usually }).isDescending;
}

/** The order in which a list is shown to people: newest first, or by name. */
export function usualOrder({ resource, filters, idName }: Browsable): ListOrder {
  const [sort, isDescending] = resource === 'webhooks' ? [idName, true] : ['name', false];
  return filters.time === undefined
    ? { sort, isDescending }
    : { sort: filters.time.name, isDescending: true };
}

/** The parameters with one text each, as a form or a link gave them. */
export function textsOf(query: Query): Record<string, string> {
  return Object.fromEntries(
    Object.entries(query).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
}

function connection(query: Query, name: string): string | null {
  const text = textOf(query, name)?.trim() ?? null;
  const isNumber = text !== null && /^-?\d+$/.test(text);
  if (text === '' || (isNumber && !Number.isSafeInteger(Number(text))))
    throw new HttpError(400, `${name} must be the id or the name of a connection.`);
  return text;
}

/** A date, or a time to the second, as text that sorts like the times in the mirror. */
function moment(query: Query, name: string): string | null {
  const text = textOf(query, name)?.trim() ?? null;
  if (text === null) return null;
  const ms = instantMs(text);
  if (ms === null)
    throw new HttpError(400, `${name} must be a date or time such as 2026-11-20 or 2026-11-20T18:00:00Z.`);
  return /[T ]/i.test(text) ? new Date(ms).toISOString().slice(0, 19) : text;
}
