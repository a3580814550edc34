import type Database from 'better-sqlite3';
import type { RecordValues, StoredConnection } from '../../contract/content.ts';
import { arrayFields, lists, type Scalar, scalarFields, tableOf } from '../../contract/lists.ts';
import { readOne } from '../../contract/record.ts';
import { readWireConnection, wireConnection, wireWriter } from '../../contract/wire.ts';
import { MirrorFileError } from '../../errors.ts';
import { lastRunBefore, readPruned } from '../receipts/pruned.ts';
import { arrayOf } from '../tables/view-sql.ts';

/** A record of a list, or a connection, as it was at one time. */
export interface StateRecord {
  readonly id: number;
  readonly firstSeenRunId: number;
  readonly changedRunId: number;
  /** A connection has its name as the only scalar. */
  readonly values: RecordValues;
}

type Row = [
  id: number,
  firstSeenRunId: number,
  changedRunId: number,
  extra: string | null,
  versionId: number | null,
  record: string | null,
  ...values: Scalar[],
];

const stoodAfter = 'h.resource = @resource AND h.valid_from_run_id <= @run AND h.valid_to_run_id > @run';

/** The mirror in its present state or in its state after a run: the rows that no later run wrote, and the versions that one ended. */
export class MirrorState {
  readonly #sqlite: Database.Database;
  readonly #runId: number | null;
  #connections: ReadonlyMap<number, StoredConnection> | undefined;

  /** @param runId null for the present state. */
  constructor(sqlite: Database.Database, runId: number | null) {
    this.#sqlite = sqlite;
    this.#runId = runId;
  }

  /** How many records a list had, or how many connections there were. */
  count(resource: string): number {
    const [rows, versions] = this.#parts(resource, 'count(*)', 'count(*)');
    const all = versions === null ? rows : `SELECT (${rows}) + (${versions} AND h.record IS NOT NULL)`;
    return this.#sqlite.prepare<unknown[], number>(all).pluck().get(this.#bound(resource)) ?? 0;
  }

  /** Its records in the order of their ids, one at a time. Those that were erased since are left out. */
  *records(resource: string): Generator<StateRecord> {
    const list = lists.find(each => each.resource === resource);
    const scalars = list === undefined ? ['name'] : scalarFields(list).map(({ column }) => column);
    const arrays = list === undefined ? [] : arrayFields(list);
    const columns = [
      ...scalars.map(column => `t.${column}`),
      ...arrays.map(field => list && arrayOf(list, field, 'value', field.column)),
    ];
    const [rows, versions] = this.#parts(
      resource,
      `t.id, t._first_seen_run_id, t._changed_run_id, t._extra, NULL, NULL, ${columns.join(', ')}`,
      `h.record_id, h.first_seen_run_id, h.valid_from_run_id, NULL, h.id, h.record, ${columns.map(() => 'NULL').join(', ')}`,
    );
    const all = versions === null ? rows : `${rows} UNION ALL ${versions} AND h.record IS NOT NULL`;
    const found = this.#sqlite.prepare<unknown[], Row>(`${all} ORDER BY 1`).raw();
    for (const row of found.iterate(this.#bound(resource))) {
      const [id, firstSeenRunId, changedRunId, extra, versionId, record, ...values] = row;
      if (record !== null) {
        yield { id, firstSeenRunId, changedRunId, values: restored(resource, versionId, record) };
        continue;
      }
      yield {
        id,
        firstSeenRunId,
        changedRunId,
        values: {
          id: list?.identity.by === 'content' ? null : id,
          scalars: values.slice(0, scalars.length),
          arrays: values.slice(scalars.length).map(json => JSON.parse(json as string)),
          extra,
        },
      };
    }
  }

  /** The same in the service's shape, with the names that the connections had then. */
  *wire(resource: string): Generator<string> {
    const list = lists.find(each => each.resource === resource);
    const write = list && wireWriter(list, id => this.connection(id));
    for (const { id, values } of this.records(resource))
      yield write === undefined ? wireConnection(connectionOf(id, values)) : write(values);
  }

  /** A connection as it was then; undefined if there was none. */
  connection(id: number): StoredConnection | undefined {
    this.#connections ??= new Map(
      this.records('connections').map(each => [each.id, connectionOf(each.id, each.values)]),
    );
    return this.#connections.get(id);
  }

  /** The SELECT of the rows, and that of the versions that have ended since; null for the present state. */
  #parts(resource: string, ofRows: string, ofVersions: string): [string, string | null] {
    const rows = `SELECT ${ofRows} FROM ${tableOf(resource)} t`;
    if (this.#runId === null) return [rows, null];
    return [
      `${rows} WHERE t._changed_run_id <= @run`,
      `SELECT ${ofVersions} FROM record_history h WHERE ${stoodAfter}`,
    ];
  }

  #bound(resource: string): object {
    return this.#runId === null ? {} : { run: this.#runId, resource };
  }
}

function connectionOf(id: number, { scalars: [name], extra }: RecordValues): StoredConnection {
  return { id, name: name as string | null, extra };
}

/** An ended version, parsed like a record of the service, so that it gets the columns that it was written from. */
function restored(resource: string, versionId: number | null, record: string): RecordValues {
  const list = lists.find(each => each.resource === resource);
  if (list === undefined) {
    const { id, name, extra } = readWireConnection(record);
    return { id, scalars: [name], arrays: [], extra };
  }
  try {
    const found = readOne(list, record);
    if (found !== undefined) return found;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new MirrorFileError(
    `record_history ${versionId} contains a text that is not a record. "docmirror verify" shows what else is wrong.`,
  );
}

/** Why the state after a run can't be read, in words; null if it can. */
export function whyNotAsOf(sqlite: Database.Database, runId: number): string | null {
  const pruned = readPruned(sqlite);
  if (runId < pruned.throughRunId)
    return `Run ${runId} is further back than the history goes: versions that ended before ${pruned.before} were deleted (DOCMIRROR_KEEP_HISTORY). The oldest run that can be asked for is ${pruned.throughRunId}.`;
  const rebuiltAfter = lastRunBefore(sqlite, 'rebuild');
  if (runId <= rebuiltAfter)
    return `Run ${runId} was before the mirror was rebuilt ("sync --rebuild" after run ${rebuiltAfter}), so docmirror can't say what the lists were then. The oldest run that can be asked for is ${rebuiltAfter + 1}.`;
  const lacksHistory = sqlite.prepare(
    `SELECT 1 FROM sync_run_resources WHERE run_id > ? AND updated + removed > 0
       AND NOT EXISTS (SELECT 1 FROM record_history) LIMIT 1`,
  );
  if (lacksHistory.get(runId) !== undefined)
    return `Run ${runId} can't be asked for: the file has no history of what later runs changed, because it is a share that was made with --without-history.`;
  return null;
}

/** How many records can't be shown in their state after a run, because their text was erased since. */
export function erasedSince(sqlite: Database.Database, runId: number, resource: string): number {
  const count = `SELECT count(*) FROM record_history h WHERE ${stoodAfter} AND h.record IS NULL`;
  return sqlite.prepare<unknown[], number>(count).pluck().get({ run: runId, resource }) ?? 0;
}
