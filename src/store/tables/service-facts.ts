import { type ListDefinition, lists } from '../../contract/lists.ts';
import { anything, type FieldsOf, text } from '../../contract/shapes.ts';
import { allRows, type Sqlite } from './ask.ts';

/** A part of what is told of the service. */
export type FactSection = 'pages' | 'order' | 'answers' | 'fields';

/** One thing that the specification of the service does not show, as runs have seen it. */
export interface FactKind {
  readonly section: FactSection;
  /** What its value is, in words for people. */
  readonly says: string;
  /** The form of the value, which is JSON in each row. `each`: a row for each name, as `kind.invoice`; its value is a text or a table. */
  readonly value: 'number' | 'text' | 'boolean' | 'table';
  readonly each?: true;
  /** True if it is a time or a rate, or grows with the list: no receipt covers it, and a change is not told. */
  readonly isMeasured?: true;
}

/** All facts, by the name that `service_facts` has in `fact`, up to a dot. A list's facts are under its name, others under `service`. */
export const factKinds = {
  first_page: { section: 'pages', says: 'number of the first page', value: 'number' },
  default_page_size: { section: 'pages', says: 'records on a page without pageSize', value: 'number' },
  page_size: { section: 'pages', says: 'greatest page size that was served', value: 'number' },
  /** `asked`, and `how`: `cut` (with `served`) or `refused` (with `status` or, without an answer, `code`). */
  larger_page_size: { section: 'pages', says: 'what a larger page size got', value: 'table' },
  /** `empty`, `last page again`, `other page`, or a status such as `404`. */
  beyond_end: { section: 'pages', says: 'what comes beyond the last page', value: 'text' },
  beyond_full_end: { section: 'pages', says: 'the same if the last page is full', value: 'text' },
  orphans: { section: 'pages', says: 'records that the last page has beyond its size', value: 'number' },
  numbers_as_text: { section: 'pages', says: 'members of pagination that are texts', value: 'table' },
  /** `by` (a field, null if no order is seen), `direction` (`up`, `down`), `isExact`. */
  order: { section: 'order', says: 'order of the list', value: 'table' },
  order_stable: { section: 'order', says: 'whether pages agree on the order', value: 'boolean' },
  ties: { section: 'order', says: 'most records with one time', value: 'number', isMeasured: true },
  /** `fits`, or the code of a finding, or its `kind`. */
  total: { section: 'order', says: 'what totalRecordCount is', value: 'text' },
  negative_total: { section: 'order', says: 'whether totalRecordCount is below zero', value: 'boolean' },
  /** `count` of records that came behind newer ones, and `mostMs`, the greatest distance. */
  late: { section: 'order', says: 'records that came late', value: 'table', isMeasured: true },
  /** `median`, `p95`, `most`. */
  answer_ms: { section: 'answers', says: 'milliseconds to the last byte', value: 'table', isMeasured: true },
  /** `median`, `most`, as received. */
  answer_bytes: { section: 'answers', says: 'bytes of an answer', value: 'table', isMeasured: true },
  /** `gzip` or `none`. */
  compression: { section: 'answers', says: 'compression', value: 'text' },
  etag: { section: 'answers', says: 'whether answers have an ETag', value: 'boolean' },
  age_ms: { section: 'answers', says: 'greatest Age, in milliseconds', value: 'number', isMeasured: true },
  /** Counts by status, or by the code of an error without one, of all runs. */
  failures: { section: 'answers', says: 'answers that were no page', value: 'table', isMeasured: true },
  /** `form` (`seconds`, `date`, `other`) and `mostMs`. */
  retry_after: { section: 'answers', says: 'what Retry-After says', value: 'table', isMeasured: true },
  token_ms: {
    section: 'answers',
    says: 'milliseconds for which a token was accepted',
    value: 'number',
    isMeasured: true,
  },
  /** `types` (JSON types and `missing`), `isInContract`, `times` (forms of times, in order), `areEmpty`. */
  field: { section: 'fields', says: 'what a field can be', value: 'table', each: true },
  kind: { section: 'fields', says: 'a kind that documents have', value: 'text', each: true },
  event: { section: 'fields', says: 'an event that webhooks have', value: 'text', each: true },
} as const satisfies Readonly<Record<string, FactKind>>;

/** The name of a fact, without what is behind the dot. */
export type FactName = keyof typeof factKinds;

/** What a fact is a case of; undefined for a name that this version does not know. */
export function factKindOf(fact: string): FactKind | undefined {
  const [name = ''] = fact.split('.', 1);
  return Object.hasOwn(factKinds, name) ? factKinds[name as FactName] : undefined;
}

/** Whether runs have seen the records of a list, or only docmirror 0.5 and older has. */
export function areFieldsKnown(sqlite: Sqlite, resource: string): boolean {
  const field = "SELECT 1 FROM service_facts WHERE resource = ? AND fact GLOB 'field.*' LIMIT 1";
  return allRows(sqlite, field, resource).length > 0;
}

/** Removes what is known of fields of a list, and by them. */
export function forgetFields(
  sqlite: Sqlite,
  { resource, fields }: ListDefinition,
  left: readonly string[],
): void {
  const names = left.flatMap(name => {
    const field = fields.find(each => each.name === name);
    const byTime = field?.filter === 'time' ? ['order', 'ties', 'late'] : [];
    const words = field?.filter === 'kind' ? ['kind.*'] : field?.kind === 'texts' ? ['event.*'] : [];
    return [`field.${name}`, ...byTime, ...words];
  });
  const isOfName = 'EXISTS (SELECT 1 FROM json_each(?) WHERE fact = value OR fact GLOB value)';
  const forget = sqlite.prepare(`DELETE FROM service_facts WHERE resource = ? AND ${isOfName}`);
  forget.run(resource, JSON.stringify(names));
}

/** Removes the kinds and events of a list that no row has any more: an erased text can have been the only one with it. */
export function forgetWords(sqlite: Sqlite, resource: string): void {
  const list = lists.find(each => each.resource === resource);
  const field = list?.fields.find(({ filter, kind }) => filter === 'kind' || kind === 'texts');
  if (list === undefined || field === undefined) return;
  const table = 'table' in field ? field.table : list.table;
  const isWord = `(fact GLOB 'kind.*' OR fact GLOB 'event.*')`;
  const words = `SELECT ${field.column} FROM ${table} WHERE ${field.column} IS NOT NULL`;
  const forget = `DELETE FROM service_facts WHERE resource = ? AND ${isWord} AND value ->> '$' NOT IN (${words})`;
  sqlite.prepare(forget).run(resource);
}

/** A fact that a run saw change; `previousValue` is null if it is a new kind or event. */
export const serviceChange = {
  resource: text('the list, or `service`'),
  fact: text('its name in `service_facts`'),
  value: anything(),
  previousValue: anything(),
};
/** The same, as a type. */
export type ServiceChange = FieldsOf<typeof serviceChange>;
