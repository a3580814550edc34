import type { RecordValues } from '../../../contract/content.ts';
import { parseExact } from '../../../contract/json.ts';
import { fieldsOf } from '../../../contract/lists.ts';
import { allValues, type Sqlite } from '../../tables/ask.ts';
import { type CellValue, type Column, cellsOf, scalarOf } from '../cells.ts';
import { MirrorState, type StoredVersion, versionsOf } from '../history/as-of.ts';
import type { Values } from './filter.ts';
import { type ListRequest, listOfRequest } from './find.ts';

/** What a file with columns is written from. */
export interface Table {
  readonly columns: readonly Column[];
  /** One at a time. They might not fit into memory. */
  readonly rows: Iterable<readonly CellValue[]>;
}

/** A list, or the connections, now or after a run: ids, fields, runs and further fields, and if wanted the names of connections. */
export function stateTable(state: MirrorState, resource: string, withNames: boolean): Table {
  const cells = cellsReader(state, resource, withNames);
  const whole = (name: string): Column => ({ name, kind: 'integer' });
  const ofRuns = [whole('_first_seen_run_id'), whole('_changed_run_id')];
  return {
    columns: [whole('id'), ...cells.columns, ...ofRuns, { name: '_extra', kind: 'json' }],
    rows: state.records(resource).map(({ id, firstSeenRunId, changedRunId, values }) => {
      return [id, ...cells.of(values), firstSeenRunId, changedRunId, values.extra];
    }),
  };
}

const furtherColumnsMax = 100;

/** The further fields that records of these lists have, the most frequent ones first. */
export function furtherNames(sqlite: Sqlite, resources: readonly string[]): string[] {
  const names = `SELECT field FROM unknown_fields WHERE record_count IS NOT 0 AND resource IN (SELECT value FROM json_each(?))
    GROUP BY field ORDER BY max(record_count) DESC, field LIMIT ${furtherColumnsMax}`;
  return allValues(sqlite, names, JSON.stringify(resources));
}

/** A table in which further fields of these names have columns of their own; the others stay together as JSON. */
export function withFurtherColumns({ columns, rows }: Table, names: readonly string[]): Table {
  const isFurther = columns.map(({ name, kind }) => kind === 'json' && name.endsWith('extra'));
  const ownColumns = (further: Column) =>
    names.map((name): Column => ({ name: `${further.name}.${name}`, kind: 'text' }));
  const spread = (value: CellValue): CellValue[] => {
    const rest = new Map(Object.entries(Object(parseExact(String(value)))));
    const own = names.map(name => scalarOf(rest.get(name)));
    for (const name of names) rest.delete(name);
    return [...own, rest.size === 0 ? null : JSON.stringify(Object.fromEntries(rest))];
  };
  const spreadRow = (row: readonly CellValue[]) =>
    row.flatMap((value, at) => (isFurther[at] ? spread(value) : [value]));
  return {
    columns: columns.flatMap((column, at) => [...(isFurther[at] ? ownColumns(column) : []), column]),
    rows: Iterator.from(rows).map(spreadRow),
  };
}

/** The records that match, in their order: their ids and fields, with the names of connections. */
export function foundTable(sqlite: Sqlite, request: ListRequest): Table {
  const values: Values = {};
  const { browsable, by, condition } = listOfRequest(sqlite, request, values);
  const { resource, idName } = browsable;
  const cells = cellsReader(new MirrorState(sqlite, null), resource, true);
  const versions = versionsOf(sqlite, resource, { rows: condition, versions: null, by }, values);
  return {
    columns: [{ name: idName, kind: 'integer' }, ...cells.columns],
    rows: versions.map((version: StoredVersion) => [version.id, ...cells.of(version.values)]),
  };
}

function cellsReader(state: MirrorState, resource: string, withNames: boolean) {
  // The arrays are the last fields of a list.
  const fields = fieldsOf(resource);
  const arrays = fields.filter(field => 'table' in field);
  const nameOf = (id: unknown) => (typeof id === 'number' ? (state.connection(id)?.name ?? null) : null);
  return {
    columns: fields.flatMap(cellsOf).filter(({ isName }) => withNames || !isName),
    of(values: RecordValues): CellValue[] {
      const further = JSON.parse(values.extra ?? '{}');
      // An array that does not fit its rows, or is null, is among the further fields.
      const held = values.arrays.map((array, at) => ((arrays[at]?.name ?? '') in further ? null : array));
      const found = [...values.scalars, ...held];
      return fields.flatMap(({ kind }, at): CellValue[] => {
        const value = found[at] ?? null;
        if (!withNames || !kind.startsWith('connection')) return [value];
        return [value, Array.isArray(value) ? value.map(nameOf) : nameOf(value)];
      });
    },
  };
}
