import type Database from 'better-sqlite3';
import { and, count, desc, eq, sql } from 'drizzle-orm';
import { listOf } from '../../contract/lists.ts';
import { wireConnection, wireWriter } from '../../contract/wire.ts';
import { MirrorFileError } from '../../errors.ts';
import { ConnectionTable } from '../tables/connection-table.ts';
import { ListTable } from '../tables/list-table.ts';
import { firstValue } from '../tables/query.ts';
import { recordHistory, syncRunResources, syncRuns } from '../tables/schema.ts';
import type { Provenance } from '../tables/standing-record.ts';
import { prepare, select } from '../tables/statement.ts';

/** A run with which a version began or ended. */
export interface StoryRun {
  readonly runId: number;
  /** When the run had applied the list or, for connections, had ended; ISO 8601, UTC. Null until that is recorded. */
  readonly at: string | null;
}

/** One version of a record. */
export interface StoryVersion {
  readonly from: StoryRun;
  /** The run that ended it; null for the current version. */
  readonly to: StoryRun | null;
  /** How it ended: `update` or `removal`; null for the current version. */
  readonly endedBy: string | null;
  /** True if the record was new, or had come back, with this version. */
  readonly isFirst: boolean;
  /** JSON text in the service's own shape; null if it was erased. */
  readonly record: string | null;
  /** The version that this one replaced. Null for a first one, and if the earlier one is no longer kept. */
  readonly before: { readonly record: string | null } | null;
}

/** Everything that the mirror knows about one record: its present and its earlier content. */
export interface RecordStory {
  readonly resource: string;
  readonly recordId: number;
  /** The run that saw it first, or first again after its last removal. */
  readonly firstSeen: StoryRun;
  /** The newest first; never empty. If the record still exists, the first of them has no end. */
  readonly versions: readonly StoryVersion[];
  /** How many versions are kept. `versions` can have fewer. */
  readonly versionCount: number;
}

/** Records with a reference, the newest in the mirror first. */
export interface ReferenceMatches {
  readonly recordIds: readonly number[];
  /** How many there are. Not all of them might be listed. */
  readonly count: number;
}

interface Row {
  readonly historyId: number | null;
  readonly fromRunId: number;
  readonly toRunId: number | null;
  readonly endedBy: string | null;
  readonly firstSeenRunId: number;
  readonly record: string | null;
}

function endedVersions(resource: string, recordId: number, most: number) {
  const of = recordHistory;
  return select({
    historyId: of.id,
    fromRunId: of.validFromRunId,
    toRunId: of.validToRunId,
    endedBy: of.endedBy,
    firstSeenRunId: of.firstSeenRunId,
    record: of.record,
  })
    .from(of)
    .where(isOf(resource, recordId))
    .orderBy(desc(of.validFromRunId), desc(of.id))
    .limit(most);
}

function isOf(resource: string, recordId: number) {
  return and(eq(recordHistory.resource, resource), eq(recordHistory.recordId, recordId));
}

function timeOfRun(resource: string, runId: number) {
  const [run, list] = [syncRuns, syncRunResources];
  return select({ at: sql<string | null>`coalesce(${list.completedAt}, ${run.completedAt})` })
    .from(run)
    .leftJoin(list, and(eq(list.runId, run.id), eq(list.resource, resource)))
    .where(eq(run.id, runId));
}

// The search looks for the member exactly as docmirror writes it, so most texts need not be parsed.
// By hand: a reference that is bound once and is used in several places.
const withReference = `
  SELECT id FROM document_exports WHERE source_document_reference = @reference
  UNION
  SELECT record_id FROM record_history
  WHERE resource = 'document-exports' AND instr(record, @member) > 0 AND json_valid(record)
    AND record ->> '$.sourceDocumentReference' = @reference
  ORDER BY 1 DESC`;

/**
 * Everything that the mirror knows about one record; null if it never had it.
 *
 * @param resource a list, or `connections`.
 * @param versionsMax how many versions are returned, the newest ones.
 * @throws MirrorFileError if a version in the history is no JSON.
 */
export function readStory(
  sqlite: Database.Database,
  resource: string,
  recordId: number,
  versionsMax: number,
): RecordStory | null {
  return sqlite.transaction(() => {
    const standing = standingOf(sqlite, resource, recordId);
    // One more than is returned: the oldest one that is returned also needs the version before it.
    const rows: Row[] = [
      ...(standing === null ? [] : [standing]),
      ...prepare(sqlite, endedVersions).all(resource, recordId, versionsMax + 1),
    ];
    if (rows.length === 0) return null;
    const versions = rows.map((row, at) => versionOf(sqlite, resource, row, rows[at + 1]));
    const countOfEnded = (of: string, id: number) =>
      select({ count: count() }).from(recordHistory).where(isOf(of, id));
    const ended = firstValue(sqlite, countOfEnded, resource, recordId);
    return {
      resource,
      recordId,
      firstSeen: runOf(sqlite, resource, rows[0]?.firstSeenRunId ?? 0),
      versions: versions.slice(0, versionsMax),
      versionCount: (ended ?? 0) + (standing === null ? 0 : 1),
    };
  })();
}

/** The document exports that have, or ever had, a reference. It reads the whole list, because there is no index for this. */
export function findByReference(
  sqlite: Database.Database,
  reference: string,
  matchesMax: number,
): ReferenceMatches {
  const member = `"sourceDocumentReference":${JSON.stringify(reference)}`;
  const ids = sqlite
    .prepare<{ reference: string; member: string }, number>(withReference)
    .pluck()
    .all({ reference, member });
  return { recordIds: ids.slice(0, matchesMax), count: ids.length };
}

function standingOf(sqlite: Database.Database, resource: string, recordId: number): Row | null {
  const connections = new ConnectionTable(sqlite);
  if (resource === 'connections') {
    const row = connections.read(recordId);
    return row === undefined ? null : rowOf(row, wireConnection(row));
  }
  const list = listOf(resource);
  const table = new ListTable(sqlite, list);
  if (!table.has(recordId)) return null;
  const row = table.read(recordId);
  return rowOf(row, wireWriter(list, id => connections.read(id))(row.record));
}

function rowOf({ firstSeenRunId, changedRunId }: Provenance, record: string): Row {
  return { historyId: null, fromRunId: changedRunId, toRunId: null, endedBy: null, firstSeenRunId, record };
}

function versionOf(
  sqlite: Database.Database,
  resource: string,
  row: Row,
  earlier: Row | undefined,
): StoryVersion {
  assertIsRecord(row);
  const isFirst = row.firstSeenRunId === row.fromRunId;
  const isSuccessor = !isFirst && earlier?.toRunId === row.fromRunId;
  return {
    from: runOf(sqlite, resource, row.fromRunId),
    to: row.toRunId === null ? null : runOf(sqlite, resource, row.toRunId),
    endedBy: row.endedBy,
    isFirst,
    record: row.record,
    before: isSuccessor ? { record: earlier.record } : null,
  };
}

function runOf(sqlite: Database.Database, resource: string, runId: number): StoryRun {
  return { runId, at: firstValue(sqlite, timeOfRun, resource, runId) ?? null };
}

function assertIsRecord({ historyId, record }: Row): void {
  try {
    if (record !== null) JSON.parse(record);
  } catch (cause) {
    throw new MirrorFileError(
      `record_history ${historyId} contains a text that is not a record. "docmirror verify" shows what else is wrong.`,
      { cause },
    );
  }
}
