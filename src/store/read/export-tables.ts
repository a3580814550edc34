import type { RecordValues } from '../../contract/content.ts';
import {
  arrayFields,
  type ListDefinition,
  lists,
  type Scalar,
  scalarFields,
  timeIndexOf,
} from '../../contract/lists.ts';
import type { MirrorState } from './mirror-state.ts';

/**
 * The kind of value in an exported column. An `instant` is a point in time. A `time` is a text that mostly is one, as the service sent
 * it. A `json` value is a text that is JSON.
 */
export type ColumnKind = 'integer' | 'real' | 'text' | 'instant' | 'time' | 'json' | 'texts' | 'integers';

/** A column of an exported file. If the format has types, the kind chooses the type. */
export interface ExportColumn {
  readonly name: string;
  readonly kind: ColumnKind;
}

/** A value of an exported row; an array if the field has several values. */
export type ExportValue = Scalar | bigint | readonly Scalar[];

/** One file of an export: its name without an ending, its columns, and where its rows come from. */
interface ExportTable {
  readonly resource: string;
  readonly name: string;
  readonly columns: readonly ExportColumn[];
  /** The members of each record in the service's shape, in their usual order. */
  readonly members: readonly string[];
  count(state: MirrorState): number;
  /** The rows, each with one value for each column. */
  rows(state: MirrorState): Iterable<readonly ExportValue[]>;
  /** The same rows in the service's shape. */
  wire(state: MirrorState): Iterable<string>;
}

const provenance: readonly ExportColumn[] = [
  { name: '_first_seen_run_id', kind: 'integer' },
  { name: '_changed_run_id', kind: 'integer' },
  { name: '_extra', kind: 'json' },
];

/** All files of an export, in the order in which they are written. */
export const exportTables: readonly ExportTable[] = [...lists.map(listTable), connectionTable()];

/** The same table with the names of connections beside their ids. */
export function withConnectionNames(table: ExportTable): ExportTable {
  const list = lists.find(({ resource }) => resource === table.resource);
  const references = (list?.fields ?? []).flatMap(({ kind, column }) =>
    kind === 'connection' ? [column] : kind === 'connections' ? [`${column}s`] : [],
  );
  const isReference = table.columns.map(({ name }) => references.includes(name));
  const nameOf = (state: MirrorState, value: ExportValue | Scalar): string | null =>
    typeof value === 'number' ? state.connectionName(value) : null;
  return {
    ...table,
    columns: table.columns.flatMap((column, at): ExportColumn[] => {
      if (!isReference[at]) return [column];
      const name = column.name.replace(/_id(s?)$/, '_name$1');
      return [column, { name, kind: column.kind === 'integers' ? 'texts' : 'text' }];
    }),
    rows: state =>
      Iterator.from(table.rows(state)).map(row =>
        row.flatMap((value, at): ExportValue[] => {
          if (!isReference[at]) return [value];
          return [value, isList(value) ? value.map(each => nameOf(state, each)) : nameOf(state, value)];
        }),
      ),
  };
}

/** `Array.isArray` does not accept read-only arrays. */
function isList(value: ExportValue): value is readonly Scalar[] {
  return Array.isArray(value);
}

function listTable(list: ListDefinition): ExportTable {
  const scalars = scalarFields(list).map(({ kind, column }, at): ExportColumn => {
    if (kind !== 'text') return { name: column, kind: 'integer' };
    return { name: column, kind: at === timeIndexOf(list) ? 'time' : 'text' };
  });
  const names = arrayFields(list).map(({ name }) => name);
  const arrays = arrayFields(list).map(
    ({ name, kind, column }): ExportColumn =>
      kind === 'texts' ? { name, kind: 'texts' } : { name: `${column}s`, kind: 'integers' },
  );
  return {
    resource: list.resource,
    name: list.table,
    columns: [{ name: 'id', kind: 'integer' }, ...scalars, ...arrays, ...provenance],
    members: [...(list.identity.by === 'id' ? ['id'] : []), ...list.fields.map(({ name }) => name)],
    count: state => state.count(list.resource),
    rows: state =>
      state.records(list).map(({ id, record, firstSeenRunId, changedRunId }) => {
        const held = heldArrays(names, record);
        return [id, ...record.scalars, ...held, firstSeenRunId, changedRunId, record.extra];
      }),
    wire: state => state.wire(list),
  };
}

/**
 * The arrays of a record. An array is null if it was sent as null, or if its rows can't contain its values. Then the value is among
 * the further fields.
 */
function heldArrays(names: readonly string[], { arrays, extra }: RecordValues): (readonly Scalar[] | null)[] {
  if (extra === null || arrays.every(values => values.length > 0)) return [...arrays];
  const further: unknown = JSON.parse(extra);
  return arrays.map((values, at) =>
    values.length === 0 && Object.hasOwn(further as object, names[at] as string) ? null : values,
  );
}

function connectionTable(): ExportTable {
  return {
    resource: 'connections',
    name: 'connections',
    columns: [{ name: 'id', kind: 'integer' }, { name: 'name', kind: 'text' }, ...provenance],
    members: ['id', 'name'],
    count: state => state.count('connections'),
    *rows(state) {
      for (const { id, name, extra, firstSeenRunId, changedRunId } of state.connections()) {
        yield [id, name, firstSeenRunId, changedRunId, extra];
      }
    },
    wire: state => state.wireConnections(),
  };
}
