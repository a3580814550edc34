import { hasUncertainNumbers, isRawNumber, parseExact } from '../contract/exact-json.ts';
import { type Field, keptResources, type ListDefinition, lists } from '../contract/lists.ts';
import type { Change } from '../store/read/change.ts';
import type { ExportColumn, ExportValue } from '../store/read/export-tables.ts';

// Changes of any lists as rows of one shape: two columns for each field, before and after.

type Item = Readonly<Record<string, unknown>>;

/** A column, and how to get its value from a record. */
interface Part {
  readonly column: string;
  readonly kind?: 'time';
  readonly of: (item: Item) => unknown;
}

const partsOfList: ReadonlyMap<string, readonly Part[]> = new Map([
  ...lists.map(
    ({ resource, fields, identity }) =>
      [resource, [...fields.flatMap(field => partsOf(field, identity)), extraPart(fields)]] as const,
  ),
  ['connections', [{ column: 'name', of: ({ name }: Item) => name }, extraPart([{ name: 'name' }])]] as const,
]);

function partsOf(field: Field, identity: ListDefinition['identity']): Part[] {
  const { kind, name, column } = field;
  const named = column.replace(/_id$/, '_name');
  switch (kind) {
    case 'text':
    case 'integer': {
      const isTime = identity.by === 'content' && identity.timeField === name;
      return [{ column, of: item => item[name], ...(isTime && { kind: 'time' }) }];
    }
    case 'texts':
      return [{ column: name, of: item => item[name] }];
    case 'connection':
      return [
        { column, of: item => memberOf(item[name], 'id') },
        { column: named, of: item => memberOf(item[name], 'name') },
      ];
    case 'connections':
      return [
        { column: `${column}s`, of: item => membersOf(item[name], 'id') },
        { column: `${named}s`, of: item => membersOf(item[name], 'name') },
      ];
  }
}

/** The members without a column, as JSON. */
function extraPart(fields: readonly { readonly name: string }[]): Part {
  const known = new Set(['id', ...fields.map(({ name }) => name)]);
  return {
    column: 'extra',
    of: item => {
      const rest = Object.entries(item).filter(([name]) => !known.has(name));
      return rest.length === 0 ? null : Object.fromEntries(rest);
    },
  };
}

function memberOf(reference: unknown, name: 'id' | 'name'): unknown {
  return isItem(reference) ? reference[name] : null;
}

function membersOf(references: unknown, name: 'id' | 'name'): unknown {
  return Array.isArray(references) ? references.map(each => memberOf(each, name) ?? null) : references;
}

function isItem(value: unknown): value is Item {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);
}

const commonColumns: readonly ExportColumn[] = [
  { name: 'run_id', kind: 'integer' },
  { name: 'changed_at', kind: 'instant' },
  { name: 'resource', kind: 'text' },
  { name: 'record_id', kind: 'integer' },
  { name: 'operation', kind: 'text' },
  { name: 'changed_fields', kind: 'json' },
  { name: 'is_erased', kind: 'integer' },
];

/** Turns changes of some lists into rows. */
export interface FlatChanges {
  readonly columns: readonly ExportColumn[];
  /** @throws SyntaxError if a record is not JSON: another program wrote to the mirror. */
  rowOf(change: Change): ExportValue[];
}

/**
 * Rows for changes of these resources: the columns that all of them have, then each field before and after the change.
 */
export function flatChanges(resources: readonly string[] = keptResources): FlatChanges {
  const parts = keptResources.flatMap(name =>
    resources.includes(name) ? (partsOfList.get(name) ?? []) : [],
  );
  const kinds = new Map(parts.map(({ column, kind }) => [column, kind ?? ('text' as const)] as const));
  const names = [...kinds.keys()];
  const valuesOf = (item: Item | null, partOf: ReadonlyMap<string, Part>) =>
    names.map(name => (item === null ? null : cellOf(partOf.get(name)?.of(item))));
  const byColumn = new Map(
    [...partsOfList].map(([name, list]) => [name, new Map(list.map(part => [part.column, part]))]),
  );
  return {
    columns: [
      ...commonColumns,
      ...names.flatMap(name =>
        ['before', 'after'].map(side => ({ name: `${side}_${name}`, kind: kinds.get(name) ?? 'text' })),
      ),
    ],
    rowOf(change) {
      const { runId, changedAt, resource, recordId, operation, record } = change;
      const { before, after } = sidesOf(change);
      const partOf = byColumn.get(resource) ?? new Map<string, Part>();
      const [old, now] = [valuesOf(before, partOf), valuesOf(after, partOf)];
      const fields = before !== null && after !== null ? JSON.stringify(changedFields(before, after)) : null;
      const common = [runId, changedAt, resource, recordId, operation, fields, record === null ? 1 : 0];
      return [...common, ...names.flatMap((_, at) => [old[at] ?? null, now[at] ?? null])];
    },
  };
}

function sidesOf({ operation, record, before }: Change): { before: Item | null; after: Item | null } {
  const now = itemOf(record);
  return operation === 'removal' ? { before: now, after: null } : { before: itemOf(before), after: now };
}

/**
 * A record as a value that is written with all digits of its numbers.
 *
 * @throws SyntaxError if it is not an object in JSON: another program wrote to the mirror.
 */
export function itemOf(text: string | null): Item | null {
  if (text === null) return null;
  const value: unknown = hasUncertainNumbers(text) ? parseExact(text) : JSON.parse(text);
  if (!isItem(value)) throw new SyntaxError('a record is not an object in JSON');
  return value;
}

/** Like the column `changed_fields` of the view `changes`: a null field is the same as a missing one. */
function changedFields(before: Item, after: Item): string[] {
  const textOf = (value: unknown) => JSON.stringify(value ?? null);
  return [...new Set([...Object.keys(after), ...Object.keys(before)])].filter(
    name => textOf(before[name]) !== textOf(after[name]),
  );
}

function cellOf(value: unknown): ExportValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' || typeof value === 'number') return value;
  return JSON.stringify(value);
}
