import { lists } from '../../../contract/lists.ts';
import { allRows, allValues, firstRow, firstValue, type Sqlite } from '../../tables/ask.ts';
import { connectionJson, rowJson } from '../../tables/view-sql.ts';
import { type Browsable, browsableOf, type ListOrder, type RecordFilter } from '../browsable.ts';
import { conditionOf, type Values } from './filter.ts';

/** A record of a list or a connection, as it is in the mirror. */
export interface FoundRecord {
  readonly resource: string;
  readonly id: number;
  /** The id that the service gave it; null if it gave none. */
  readonly ownId: number | null;
  /** JSON text in the service's own shape; null if it was erased. */
  readonly record: string | null;
}

/** Selects records of a list. */
export interface ListRequest {
  readonly resource: string;
  readonly filter: RecordFilter;
  readonly order: ListOrder;
}

/** Some records, and how many match the filter in all. */
export type FoundRecords = ReturnType<typeof findRecords>;

/** The records of one page of a list. */
export function findRecords(sqlite: Sqlite, wanted: ListRequest & { offset: number; limit: number }) {
  const { offset, limit, ...request } = wanted;
  const { resource, filter } = request;
  const values: Values = { offset, limit };
  const { browsable, columns, by, condition } = listOfRequest(sqlite, request, values);
  const read = recordReader(sqlite, resource);
  const page = (rows: string) => `SELECT t.id FROM ${rows} ORDER BY ${by} LIMIT @limit OFFSET @offset`;
  if (filter.q === '') {
    const count = countRecords(sqlite, request);
    // A filter that finds nothing would read all rows in their order.
    if (count === 0) return { items: [], count };
    const ids = allValues<number>(sqlite, page(`${browsable.table} t WHERE ${condition}`), values);
    return { items: ids.map(read), count };
  }
  // Rows are searched once for the count and the page.
  const search = `WITH found AS MATERIALIZED (SELECT ${columns} FROM ${browsable.table} t NOT INDEXED WHERE ${condition})
    SELECT (SELECT count(*) FROM found) AS count, (SELECT json_group_array(id) FROM (${page('found t')})) AS ids`;
  const found = firstRow<{ count: number; ids: string }>(sqlite, search, values);
  const ids: number[] = JSON.parse(found?.ids ?? '[]');
  return { items: ids.map(read), count: found?.count ?? 0 };
}

/** A record as JSON text with the id of its row under `_id` if it has no id of its own. The service's own field of that name stays. */
export function withId({ id, ownId, record }: FoundRecord): string {
  const text = String(record);
  if (ownId !== null || (text.includes('"_id"') && '_id' in JSON.parse(text))) return text;
  return `{"_id":${id},${text.slice(1)}`;
}

/** Reads records of a list, or connections, by their ids, in the service's own shape. */
export function recordReader(sqlite: Sqlite, resource: string): (id: number) => FoundRecord {
  const list = lists.find(each => each.resource === resource);
  const ofConnection = `${connectionJson} FROM connections c WHERE c.id = ?`;
  const select = list ? `${rowJson(list)} FROM ${list.table} t WHERE t.id = ?` : ofConnection;
  const read = sqlite.prepare<[number], string>(`SELECT ${select}`).pluck();
  const hasOwnId = list?.identity.by !== 'content';
  return id => ({ resource, id, ownId: hasOwnId ? id : null, record: read.get(id) ?? null });
}

/** How many records match. A single connection is counted by its own index, all else by the one that has all columns of the filters. */
export function countRecords(sqlite: Sqlite, { resource, filter }: ListRequest): number {
  const browsable = browsableOf(resource);
  const { q, isByPart: _isByPart, ...others } = filter;
  const given = Number(q !== '') + Object.values(others).filter(value => value !== null).length;
  const values: Values = {};
  const condition = conditionOf(sqlite, browsable, filter, 'row', values, given > 1);
  const count = `SELECT count(*) FROM ${browsable.table} t ${given === 0 ? '' : `WHERE ${condition}`}`;
  return firstValue<number>(sqlite, count, values) ?? 0;
}

/** The condition of a list, the columns by which it is sorted, and how. */
export function listOfRequest(sqlite: Sqlite, { resource, filter, order }: ListRequest, values: Values) {
  const browsable = browsableOf(resource);
  const field = browsable.sorts.find(({ name }) => name === order.sort);
  // The order of time is that of the index, so SQLite does not sort the rows.
  const isByTime = field !== undefined && field === browsable.filters.time;
  const columns = isByTime ? [`t.${field.column}_ms`, 't._content'] : field ? [`t.${field.column}`] : [];
  const use = browsable.uses.find(({ name }) => name === order.sort);
  const used = use ? [`(SELECT ${use.name} FROM (${usesSql}) u WHERE u.id = t.id)`] : [];
  const keys = [...columns.map(column => (isByTime ? column : `lower(${column})`)), ...used, 't.id'];
  const by = keys.map(key => (order.isDescending ? `${key} DESC` : key)).join(', ');
  const condition = conditionOf(sqlite, browsable, filter, 'row', values, isByTime);
  return { browsable, columns: [...columns, 't.id'].join(', '), by, condition };
}

const usesSql = `WITH pairs AS MATERIALIZED (
    SELECT source_connection_id AS source, destination_connection_id AS destination, count(*) AS exports, max(exported_at_ms) AS newest
    FROM document_exports INDEXED BY document_exports_exported_at_ms GROUP BY 1, 2)
  SELECT id, sum(asSource) AS asSource, sum(asDestination) AS asDestination, max(newest) AS newestExport
  FROM (SELECT source AS id, exports AS asSource, 0 AS asDestination, newest FROM pairs
    UNION ALL SELECT destination, 0, exports, newest FROM pairs) WHERE id IS NOT NULL GROUP BY id`;

/** The exports of each connection that has any, by its id, in one pass over an index; the newest in milliseconds since 1970. */
export function connectionUses(sqlite: Sqlite) {
  type Use = { readonly id: number } & Readonly<Record<Browsable['uses'][number]['name'], number | null>>;
  return new Map(allRows<Use>(sqlite, usesSql).map(use => [use.id, use]));
}
