import {
  type Cell,
  type CellValue,
  type Column,
  cellsOf,
  changedFields,
  furtherFields,
  type Item,
} from '../contract/cells.ts';
import { isObject, parseExact } from '../contract/json.ts';
import { fieldsOf, keptResources } from '../contract/lists.ts';
import type { Change } from '../store/read/change-cursor.ts';

// Changes of any lists as rows of one shape: two columns for each field, before and after.

/** The columns that say which change it is, in every form of a change. */
export const changeColumns: readonly Column[] = [
  { name: 'run_id', kind: 'integer' },
  { name: 'changed_at', kind: 'instant' },
  { name: 'resource', kind: 'text' },
  { name: 'record_id', kind: 'integer' },
  { name: 'operation', kind: 'text' },
  { name: 'changed_fields', kind: 'json' },
];
const commonColumns: readonly Column[] = [...changeColumns, { name: 'is_erased', kind: 'integer' }];

/** Turns changes of some lists into rows. */
export interface FlatChanges {
  readonly columns: readonly Column[];
  /** @throws SyntaxError if a record is not JSON: another program wrote to the mirror. */
  rowOf(change: Change): CellValue[];
}

/** Rows for changes of these resources: the columns that all of them have, then each field before and after the change. */
export function flatChanges(resources: readonly string[] = keptResources): FlatChanges {
  const byResource = new Map(
    keptResources.map(resource => [
      resource as string,
      new Map([...fieldsOf(resource).flatMap(cellsOf), extraCell(resource)].map(cell => [cell.name, cell])),
    ]),
  );
  const cells = new Map(resources.flatMap(resource => [...(byResource.get(resource) ?? [])]));
  const inColumns = new Map(
    [...byResource].map(([resource, own]) => [resource, [...cells.keys()].map(name => own.get(name))]),
  );
  return {
    columns: [
      ...commonColumns,
      ...[...cells.values()].flatMap(({ name, kind }) =>
        ['before', 'after'].map(side => ({ name: `${side}_${name}`, kind })),
      ),
    ],
    rowOf(change) {
      const { runId, changedAt, resource, recordId, operation, record } = change;
      const { before, after } = sidesOf(change);
      const common = [runId, changedAt, resource, recordId, operation, changedFieldsOf(change)];
      const row: CellValue[] = [...common, record === null ? 1 : 0];
      for (const cell of inColumns.get(resource) ?? [])
        row.push(
          cell === undefined || before === null ? null : cell.of(before),
          cell === undefined || after === null ? null : cell.of(after),
        );
      return row;
    },
  };
}

/** The members without a column, as JSON. */
function extraCell(resource: string): Cell {
  return {
    name: 'extra',
    kind: 'json',
    label: 'Further fields',
    isName: false,
    of: item => furtherFields(resource, item),
  };
}

/** The names of the fields that an update changed, as JSON; null for other changes, and if one of the versions was erased. */
export function changedFieldsOf({ resource, record, before }: Change): string | null {
  if (record === null || before === null) return null;
  return JSON.stringify(changedFields(resource, itemOf(before) as Item, itemOf(record) as Item));
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
  const value = parseExact(text);
  if (!isObject(value)) throw new SyntaxError('a record is not an object in JSON');
  return value;
}
