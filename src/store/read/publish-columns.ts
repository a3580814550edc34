import { arrayFields, type ListDefinition, lists, type Scalar, scalarFields } from '../../contract/lists.ts';
import type { SourceRow } from '../../publish/source.ts';

/** How a list's rows are selected: its id, its values, then what every row has. */
interface SelectedTable {
  readonly resource: string;
  readonly table: string;
  readonly columns: readonly string[];
  /** Of each value whether it is an array, which comes as JSON text. */
  readonly areArrays: readonly boolean[];
}

const provenance = ['_first_seen_run_id', '_changed_run_id', '_extra', 'lower(hex(_content))'];

/** The lists, then the connections. */
export const selectedTables: readonly SelectedTable[] = [
  ...lists.map(selectedTable),
  {
    resource: 'connections',
    table: 'connections',
    columns: ['id', 'name', ...provenance],
    areArrays: [false],
  },
];

function selectedTable(list: ListDefinition): SelectedTable {
  const scalars = scalarFields(list).map(({ column }) => column);
  const arrays = arrayFields(list).map(
    ({ table, column }) =>
      `(SELECT json_group_array(${column}) FROM (SELECT ${column} FROM ${table} WHERE ${list.ownerColumn} = t.id ORDER BY position))`,
  );
  return {
    resource: list.resource,
    table: list.table,
    columns: ['id', ...scalars, ...arrays, ...provenance],
    areArrays: [...scalars.map(() => false), ...arrays.map(() => true)],
  };
}

/** How the rows of a list, or of the connections, are selected. */
export function tableOf(resource: string): SelectedTable {
  const found = selectedTables.find(table => table.resource === resource);
  if (found === undefined) throw new TypeError(`The mirror holds no list ${resource}.`);
  return found;
}

/** A selected row as it is published. */
export function standingRow(row: readonly Scalar[], areArrays: readonly boolean[]): SourceRow {
  const [firstSeenRunId, changedRunId, extra, content] = row.slice(1 + areArrays.length);
  return {
    id: Number(row[0]),
    values: areArrays.map((isArray, at) =>
      isArray ? JSON.parse(String(row[at + 1])) : (row[at + 1] ?? null),
    ),
    firstSeenRunId: Number(firstSeenRunId),
    changedRunId: Number(changedRunId),
    extra: extra === null ? null : String(extra),
    content: String(content),
    isRemoved: false,
  };
}
