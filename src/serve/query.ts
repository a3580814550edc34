import type { Browsable, ChangeFilter, ListOrder, RecordFilter } from '../contract/browsable.ts';
import { type JsonSchema, keptResources } from '../contract/lists.ts';
import { isValid } from '../contract/shapes.ts';
import { instantMs } from '../contract/time.ts';
import { HttpError } from './http.ts';

/** A parsed query string. A parameter that is given twice is an array. */
export type Query = Readonly<Record<string, unknown>>;

// The values of a parameter.
const text = (minLength = 0, maxLength = 200) => {
  return {
    type: 'string',
    minLength,
    maxLength,
    description: `a text of ${minLength} to ${maxLength} characters`,
  };
};
const whole = (minimum: number, maximum = Number.MAX_SAFE_INTEGER) => {
  return { type: 'integer', minimum, maximum, description: `a whole number from ${minimum} to ${maximum}` };
};
/** One of some words. */
export const oneOf = (words: readonly string[]) => {
  return { type: 'string', enum: words, description: `one of ${words.join(', ')}` };
};

/** How many records an answer to a program has by default. */
export const pageSizeDefault = 50;
/** How many changes it has. */
export const limitDefault = 100;

const momentText =
  'A date, or a time in ISO 8601; it counts to the second, and is in UTC if it names no zone.';

/** What each parameter means, and its values. */
export const parameters: Readonly<Record<string, readonly [meaning: string, schema: JsonSchema]>> = {
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
  throw new HttpError(
    400,
    `There is no parameter ${unknown.slice(0, 200)} here. There are: ${known.join(', ') || 'none'}.`,
  );
}

/** The value of a parameter; null if it is missing. Like all functions here, it throws a 400 that names what does not fit. */
export function textOf(query: Query, name: string, schema = parameters[name]?.[1] ?? text()): string | null {
  const value = query[name];
  if (value === undefined) return null;
  const isWhole = schema.type === 'integer' && /^\d+$/.test(String(value));
  if (isValid(schema, isWhole ? Number(value) : value)) return String(value);
  throw new HttpError(400, `${name} must be ${schema.description}, given at most once.`);
}

/** The same of a whole number. */
export function numberOf(query: Query, name: string): number | null {
  const value = textOf(query, name);
  return value === null ? null : Number(value);
}

/** The filter of a list or of the connections. */
export function readFilter(query: Query): RecordFilter {
  return {
    source: textOf(query, 'source'),
    destination: textOf(query, 'destination'),
    kind: textOf(query, 'kind'),
    from: moment(query, 'from'),
    to: moment(query, 'to'),
    q: textOf(query, 'q') ?? '',
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
  const sort = textOf(query, 'sort', oneOf(sorts)) ?? usual.sort;
  const order = textOf(query, 'order');
  return {
    sort,
    isDescending: order === null ? sort === usual.sort && usual.isDescending : order === 'desc',
  };
}

/** True if changes are wanted with the newest first. */
export function isNewestFirst(query: Query, usually: boolean): boolean {
  return readOrder(query, [changeSort], { sort: changeSort, isDescending: usually }).isDescending;
}

/** The order in which a list is shown to people: newest first, or by name. */
export function usualOrder({ filters, sorts, idName }: Browsable): ListOrder {
  return { sort: sorts[0]?.name ?? idName, isDescending: filters.time !== undefined };
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
