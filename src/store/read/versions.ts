import type Database from 'better-sqlite3';
import { type Connection, type RecordValues, wireConnection, wireWriter } from '../../contract/content.ts';
import { arrayFields, lists, type Scalar, scalarFields, tableOf } from '../../contract/lists.ts';
import { recordOfJson } from '../../contract/record.ts';
import { Sum } from '../../contract/sum.ts';
import { MirrorFileError, tryToRead } from '../../errors.ts';
import { openMirrorForReading } from '../file/open.ts';
import { lastRunBefore, readPruned } from '../receipts/statements.ts';
import { arrayOf } from '../tables/view-sql.ts';
import type { Change } from './change-cursor.ts';

/** A version of a record of a list, or of a connection. */
export interface StoredVersion {
  readonly id: number;
  readonly firstSeenRunId: number;
  readonly changedRunId: number;
  /** The hash of its content, as 32 hexadecimal digits. */
  readonly content: string;
  /** A connection has its name as the only scalar. If the text of an ended version was erased, everything is null. */
  readonly values: RecordValues;
}

type Row = [
  id: number,
  firstSeenRunId: number,
  changedRunId: number,
  content: string,
  versionId: number | null,
  record: string | null,
  extra: string | null,
  ...values: Scalar[],
];

/** SQL conditions: the rows `t` that are wanted, and the versions `h` that have ended; null for none of these. */
interface Wanted {
  readonly rows: string;
  readonly versions: string | null;
}

/** Some versions of the records of a list or of the connections, in the order of their ids, one at a time. */
export function* versionsOf(
  sqlite: Database.Database,
  resource: string,
  { rows, versions }: Wanted,
  bound: object,
): Generator<StoredVersion> {
  const list = lists.find(each => each.resource === resource);
  const scalars = list === undefined ? ['t.name'] : scalarFields(list).map(({ column }) => `t.${column}`);
  const arrays =
    list === undefined ? [] : arrayFields(list).map(each => arrayOf(list, each, 'value', each.column));
  const columns = [...scalars, ...arrays];
  const current = `SELECT t.id, t._first_seen_run_id, t._changed_run_id, lower(hex(t._content)), NULL, NULL, t._extra,
      ${columns.join(', ')} FROM ${tableOf(resource)} t WHERE ${rows}`;
  const ended = `SELECT h.record_id, h.first_seen_run_id, h.valid_from_run_id, lower(hex(h.content)), h.id, h.record, NULL,
      ${columns.map(() => 'NULL').join(', ')} FROM record_history h WHERE ${versions}`;
  const all = versions === null ? current : `${current} UNION ALL ${ended}`;
  for (const row of sqlite.prepare<unknown[], Row>(`${all} ORDER BY 1`).raw().iterate(bound)) {
    const [id, firstSeenRunId, changedRunId, content, versionId, record, extra, ...values] = row;
    const own = {
      id: list?.identity.by === 'content' ? null : id,
      scalars: values.slice(0, scalars.length),
      arrays: values.slice(scalars.length).map(json => JSON.parse(String(json)) ?? []),
      extra,
    };
    const said = versionId === null || record === null ? own : restored(resource, versionId, record);
    yield { id, firstSeenRunId, changedRunId, content, values: said };
  }
}

const stoodAfter = 'h.resource = @resource AND h.valid_from_run_id <= @run AND h.valid_to_run_id > @run';

/** The mirror in its present state or in its state after a run: the rows that no later run wrote, and the versions that one ended. */
export class MirrorState {
  readonly #sqlite;
  readonly #runId;
  #connections: ReadonlyMap<number, Connection> | undefined;

  /** @param runId null for the present state. */
  constructor(sqlite: Database.Database, runId: number | null) {
    this.#sqlite = sqlite;
    this.#runId = runId;
  }

  /** Its records in the order of their ids, one at a time. Those that were erased since are left out. */
  records(resource: string): Generator<StoredVersion> {
    const run = this.#runId;
    if (run === null) return versionsOf(this.#sqlite, resource, { rows: '1', versions: null }, {});
    const wanted = { rows: 't._changed_run_id <= @run', versions: `${stoodAfter} AND h.record IS NOT NULL` };
    return versionsOf(this.#sqlite, resource, wanted, { run, resource });
  }

  /** The same in the service's shape, with the names that the connections had then. */
  *wire(resource: string): Generator<string> {
    const list = lists.find(each => each.resource === resource);
    const write = list && wireWriter(list, id => this.connection(id));
    for (const { id, values } of this.records(resource))
      yield write === undefined ? wireConnection(connectionOf(id, values)) : write(values);
  }

  /** A connection as it was then; undefined if there was none. */
  connection(id: number): Connection | undefined {
    this.#connections ??= new Map(
      this.records('connections').map(each => [each.id, connectionOf(each.id, each.values)]),
    );
    return this.#connections.get(id);
  }
}

function connectionOf(id: number, { scalars: [name], extra }: RecordValues): Connection {
  return { id, name: name as string | null, extra };
}

/** An ended version, parsed like a record of the service, so that it gets the columns that it was written from. */
function restored(resource: string, versionId: number, record: string): RecordValues {
  const found = tryToRead(() => recordOfJson(resource, record));
  if (found !== null) return found;
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

/** A mirror for a publication. Later runs do not change the rows and changes of a run, so they can be sent again. */
export type PublishSource = ReturnType<typeof openPublishSource>;
/** A run that has ended, however it ended. */
export type EndedRun = ReturnType<PublishSource['runs']>[number];
/** One version of a record or a connection, with a value for each of the list's own columns. */
export type SourceRow = ReturnType<typeof rowsOf> extends Generator<infer Row> ? Row : never;

/**
 * Opens a mirror for a publication: its rows and changes run by run, from one state of the file.
 *
 * @throws MirrorFileError if there is no mirror, it can't be read, or none of its runs has ended.
 */
export function openPublishSource(path: string) {
  using opening = new DisposableStack();
  const { sqlite } = opening.use(openMirrorForReading(path));
  sqlite.exec('BEGIN');
  // Each receipt names the mirror, and the first one is written when its first run ends.
  const first = "SELECT receipt ->> 'mirrorId' FROM sync_receipts ORDER BY leaf_index LIMIT 1";
  const mirrorId = sqlite.prepare<[], string>(first).pluck().get();
  if (mirrorId === undefined)
    throw new MirrorFileError(`No run of ${path} has ended yet. Make one with "docmirror sync".`);
  // Changes of a run that is not over can't be read yet, nor can those of later runs.
  const runs = sqlite.prepare<[], { runId: number; startedAt: string }>(
    `SELECT id AS runId, started_at AS startedAt FROM sync_runs
     WHERE id < coalesce((SELECT min(id) FROM sync_runs WHERE status = 'running'), 9e18) ORDER BY id`,
  );
  const rowCount = sqlite.prepare<[number], number>(
    'SELECT total(inserted + updated + removed) FROM sync_run_resources WHERE run_id > ?',
  );
  // Prepared once, because the view is long, and there can be thousands of runs.
  const changes = sqlite.prepare<[number], Omit<Change, 'before'>>(
    `SELECT run_id AS runId, changed_at AS changedAt, resource, record_id AS recordId, operation, record
     FROM changes WHERE run_id = ?`,
  );
  const file = opening.move();
  return {
    mirrorId,
    /** The last run before the mirror was rebuilt, which dropped rows without a trace; 0 if it never was. */
    lastRunBeforeRebuild: lastRunBefore(sqlite, 'rebuild'),
    /** The oldest first. */
    runs: () => runs.all(),
    /** About how many rows the later runs wrote and removed; for a progress bar. */
    rowCountSince: (runId: number) => rowCount.pluck().get(runId) ?? 0,
    /** The versions that a run wrote, and those that it removed, in any order. */
    rows: (resource: string, runId: number) => rowsOf(sqlite, resource, runId),
    changes: (runId: number) => changes.iterate(runId),
    /** How many rows a list has after a run, and the sum of their contents modulo 2^128, as 32 hexadecimal digits. */
    sumAfter: (resource: string, runId: number) => sumAfter(sqlite, resource, runId),
    [Symbol.dispose]: () => file.dispose(),
  };
}

function* rowsOf(sqlite: Database.Database, resource: string, run: number) {
  // The plus keeps SQLite from using another index than that of the run.
  const removed = "h.valid_to_run_id = @run AND h.ended_by = 'removal' AND +h.resource = @resource";
  const written = 'h.valid_from_run_id = @run AND +h.resource = @resource';
  for (const [isRemoved, rows, versions] of [
    [true, '0', removed],
    [false, 't._changed_run_id = @run', written],
  ] as const)
    for (const version of versionsOf(sqlite, resource, { rows, versions }, { run, resource })) {
      const { scalars, arrays, extra } = version.values;
      // A removed record is given with its last content.
      yield { ...version, values: [...scalars, ...arrays], extra, isRemoved };
    }
}

/** As the run recorded it. No run records connections, so these are added up from their versions. */
function sumAfter(sqlite: Database.Database, resource: string, runId: number) {
  if (resource !== 'connections') {
    const recorded = sqlite.prepare<[string, number], { recordCount: number; contentSum: string }>(
      `SELECT record_count AS recordCount, checksum AS contentSum FROM sync_run_resources
       WHERE resource = ? AND run_id <= ? AND checksum IS NOT NULL ORDER BY run_id DESC LIMIT 1`,
    );
    return recorded.get(resource, runId) ?? { recordCount: 0, contentSum: new Sum().toString() };
  }
  const contents = sqlite.prepare<{ runId: number }, string>(
    `SELECT lower(hex(_content)) FROM connections WHERE _changed_run_id <= @runId
     UNION ALL SELECT lower(hex(content)) FROM record_history
     WHERE resource = 'connections' AND valid_from_run_id <= @runId AND valid_to_run_id > @runId`,
  );
  const sum = new Sum();
  for (const content of contents.pluck().iterate({ runId })) sum.add(content);
  return { recordCount: sum.count, contentSum: sum.toString() };
}
