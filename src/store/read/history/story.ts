import { tableOf } from '../../../contract/lists.ts';
import { allRows, allValues, firstValue, type Sqlite } from '../../tables/ask.ts';
import { timeOfRun } from '../../tables/view-sql.ts';
import { recordReader } from '../records/find.ts';
import { notARecord } from './as-of.ts';

/** Everything that the mirror knows about one record: its present and its earlier content. */
export type RecordStory = NonNullable<ReturnType<typeof readStory>>;
/** One version of a record. */
export type StoryVersion = RecordStory['versions'][number];
/** A run with which a version began or ended. Its time is null until it has applied the list or, for connections, has ended. */
export type StoryRun = StoryVersion['from'];

interface Row {
  readonly historyId: number | null;
  readonly fromRunId: number;
  readonly toRunId: number | null;
  readonly endedBy: string | null;
  readonly firstRunId: number;
  readonly record: string | null;
  readonly isRecord: number;
}

/** Whether the mirror has a record, or ever had it. */
export function isKnown(sqlite: Sqlite, resource: string, recordId: number): boolean {
  const known = `SELECT 1 FROM ${tableOf(resource)} WHERE id = @recordId
    UNION ALL SELECT 1 FROM record_history WHERE resource = @resource AND record_id = @recordId LIMIT 1`;
  return firstValue(sqlite, known, { resource, recordId }) !== null;
}

/** What the mirror knows of a record, at most its newest versions; null if it never had it. Throws a MirrorFileError if one is no JSON. */
export function readStory(sqlite: Sqlite, resource: string, recordId: number, versionsMax: number) {
  const ended = 'FROM record_history h WHERE h.resource = @resource AND h.record_id = @recordId';
  // One more than is returned: the oldest one that is returned also needs the version before it.
  const query = `SELECT NULL AS historyId, _changed_run_id AS fromRunId, NULL AS toRunId, NULL AS endedBy,
      _first_seen_run_id AS firstRunId, NULL AS record, 1 AS isRecord FROM ${tableOf(resource)} WHERE id = @recordId
    UNION ALL SELECT * FROM (
      SELECT h.id, h.valid_from_run_id, h.valid_to_run_id, h.ended_by, h.first_seen_run_id, h.record,
        h.record IS NULL OR json_valid(h.record)
      ${ended} ORDER BY h.valid_from_run_id DESC, h.id DESC LIMIT @limit)`;
  const rows = allRows<Row>(sqlite, query, { resource, recordId, limit: versionsMax + 1 });
  const [newest] = rows;
  if (newest === undefined) return null;
  const broken = rows.find(({ isRecord }) => isRecord === 0);
  if (broken !== undefined) throw notARecord(broken.historyId);
  const count = firstValue<number>(sqlite, `SELECT count(*) ${ended}`, { resource, recordId }) ?? 0;
  const time = sqlite.prepare<object, string | null>(`SELECT ${timeOfRun('@runId', '@resource')}`).pluck();
  const runOf = (runId: number) => ({ runId, at: time.get({ runId, resource }) ?? null });
  const isCurrent = newest.historyId === null;
  const records = rows.map(({ record }) => record);
  if (isCurrent) records[0] = recordReader(sqlite, resource)(recordId).record;
  return {
    resource,
    recordId,
    /** The run that saw it first, or first again after its last removal. */
    firstSeen: runOf(newest.firstRunId),
    /** The newest first; never empty. If the record still exists, the first of them has no end. */
    versions: rows.slice(0, versionsMax).map((row, place) => {
      const isFirst = row.firstRunId === row.fromRunId;
      const isSuccessor = !isFirst && rows[place + 1]?.toRunId === row.fromRunId;
      return {
        from: runOf(row.fromRunId),
        to: row.toRunId === null ? null : runOf(row.toRunId),
        endedBy: row.endedBy,
        isFirst,
        /** JSON text in the service's own shape; null if it was erased. */
        record: records[place] ?? null,
        /** The version that this one replaced. Null for a first one, and if the earlier one is no longer kept. */
        before: isSuccessor ? { record: records[place + 1] ?? null } : null,
      };
    }),
    /** How many versions are kept. `versions` can have fewer. */
    versionCount: count + Number(isCurrent),
  };
}

/** The exports that have, or ever had, a reference, the newest in the mirror first. It reads the whole list: there is no index for this. */
export function findByReference(sqlite: Sqlite, reference: string, matchesMax: number) {
  // The search looks for the member exactly as docmirror writes it, so most texts need not be parsed.
  const member = `"sourceDocumentReference":${JSON.stringify(reference)}`;
  const query = `SELECT id FROM document_exports WHERE source_document_reference = @reference
    UNION SELECT record_id FROM record_history
    WHERE resource = 'document-exports' AND instr(record, @member) > 0 AND json_valid(record)
      AND record ->> '$.sourceDocumentReference' = @reference
    ORDER BY 1 DESC`;
  const ids = allValues<number>(sqlite, query, { reference, member });
  return { recordIds: ids.slice(0, matchesMax), count: ids.length };
}

/** Other exports of the same document, the newest first: those with the same source and reference. */
export function otherVersions(sqlite: Sqlite, exportId: number, limit: number) {
  const others = `SELECT o.id FROM document_exports t CROSS JOIN document_exports o
      ON o.source_connection_id IS t.source_connection_id
    WHERE t.id = ? AND o.source_document_reference = t.source_document_reference AND o.id <> t.id
    ORDER BY o.exported_at_ms DESC, o.id DESC LIMIT ?`;
  return allValues<number>(sqlite, others, exportId, limit).map(recordReader(sqlite, 'document-exports'));
}

/** The webhooks that name a connection, the newest first, and how many there are. */
export function webhooksOf(sqlite: Sqlite, connectionId: number, limit: number) {
  const naming =
    'SELECT DISTINCT webhook_id FROM webhook_connections WHERE connection_id = ? ORDER BY 1 DESC';
  const ids = allValues<number>(sqlite, naming, connectionId);
  return { items: ids.slice(0, limit).map(recordReader(sqlite, 'webhooks')), count: ids.length };
}
