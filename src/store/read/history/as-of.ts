import { type Connection, type RecordValues, wireWriter } from '../../../contract/content.ts';
import { arrayFields, keptOf, listOf, type Scalar, scalarFields } from '../../../contract/lists.ts';
import { recordOfJson } from '../../../contract/record.ts';
import { MirrorFileError, tryToRead } from '../../../errors.ts';
import { firstValue, type Sqlite } from '../../tables/ask.ts';
import { arrayOf } from '../../tables/view-sql.ts';
import { gapAfter } from './feed.ts';

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

/**
 * Some versions of the records of a list or of the connections, one at a time. The wanted rows `t` and ended versions `h` are conditions
 * in SQL, null for no versions; `by` is how rows alone are sorted.
 */
export function* versionsOf(
  sqlite: Sqlite,
  resource: string,
  { rows, versions, by = '1' }: { rows: string; versions: string | null; by?: string },
  bound: object,
): Generator<StoredVersion> {
  const kept = keptOf(resource);
  const scalars = scalarFields(kept).map(({ column }) => `t.${column}`);
  // Only lists have any.
  const arrays = arrayFields(kept).map(each => arrayOf(listOf(resource), each, 'value', each.column));
  const columns = [...scalars, ...arrays];
  const current = `SELECT t.id, t._first_seen_run_id, t._changed_run_id, lower(hex(t._content)), NULL, NULL, t._extra,
      ${columns.join(', ')} FROM ${kept.table} t WHERE ${rows}`;
  const ended = `SELECT h.record_id, h.first_seen_run_id, h.valid_from_run_id, lower(hex(h.content)), h.id, h.record, NULL,
      ${columns.map(() => 'NULL').join(', ')} FROM record_history h WHERE ${versions}`;
  const all = versions === null ? current : `${current} UNION ALL ${ended}`;
  for (const row of sqlite.prepare<unknown[], Row>(`${all} ORDER BY ${by}`).raw().iterate(bound)) {
    const [id, firstSeenRunId, changedRunId, content, versionId, record, extra, ...values] = row;
    const own = {
      id: kept.identity.by === 'content' ? null : id,
      scalars: values.slice(0, scalars.length),
      arrays: values.slice(scalars.length).map(json => JSON.parse(String(json)) ?? []),
      extra,
    };
    // An ended version is parsed like a record of the service, so that it gets the columns that it was written from.
    const isOwn = versionId === null || record === null;
    const said = isOwn ? own : tryToRead(() => recordOfJson(resource, record));
    if (said === null) throw notARecord(versionId);
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
  constructor(sqlite: Sqlite, runId: number | null) {
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
    const write = wireWriter(keptOf(resource), id => this.connection(id));
    for (const { values } of this.records(resource)) yield write(values);
  }

  connection(id: number): Connection | undefined {
    const read = () =>
      this.records('connections').map(({ id, values: { scalars, extra } }) => {
        return [id, { id, name: scalars[0] as string | null, extra }] as const;
      });
    this.#connections ??= new Map(read());
    return this.#connections.get(id);
  }
}

/** The error if an ended version has another text than a record. */
export function notARecord(versionId: number | null): MirrorFileError {
  const what = `record_history ${versionId} contains a text that is not a record.`;
  return new MirrorFileError(`${what} "docmirror verify" shows what else is wrong.`);
}

/** Why the state after a run can't be read, in words; null if it can. */
export function whyNotAsOf(sqlite: Sqlite, runId: number): string | null {
  const gap = gapAfter(sqlite, runId);
  switch (gap?.kind) {
    case undefined:
      return null;
    case 'rebuilt':
      return `Run ${runId} was before the mirror was rebuilt ("sync --rebuild" after run ${gap.throughRunId}), so docmirror can't say what the lists were then. The oldest run that can be asked for is ${gap.throughRunId + 1}.`;
    case 'pruned':
      return `Run ${runId} is further back than the history goes: versions that ended before ${gap.before} were deleted (DOCMIRROR_KEEP_HISTORY). The oldest run that can be asked for is ${gap.throughRunId}.`;
    case 'no history':
      return `Run ${runId} can't be asked for: the file has no history of what later runs changed, because it is a share that was made with --without-history.`;
  }
}

/** How many records can't be shown in their state after a run, because their text was erased since. */
export function erasedSince(sqlite: Sqlite, runId: number, resource: string): number {
  const count = `SELECT count(*) FROM record_history h WHERE ${stoodAfter} AND h.record IS NULL`;
  return firstValue<number>(sqlite, count, { run: runId, resource }) ?? 0;
}
