import { nothingIgnored } from '../../contract/content.ts';
import { keptResources, type ListDefinition, lists, tableOf, timeColumnOf } from '../../contract/lists.ts';
import { recordOfJson } from '../../contract/record.ts';
import { hash16 } from '../../contract/sum.ts';
import { tryToRead } from '../../errors.ts';
import type { TimeSlice } from '../../time-slice.ts';
import type { Sqlite } from '../tables/ask.ts';
import { wroteListSql } from '../tables/ended-runs.ts';
import { keptColumns, keptValue } from '../tables/ever.ts';
import { ignoredFields } from '../tables/ignored-fields.ts';
import { ListTable, registerInstant } from '../tables/list-table.ts';
import { rejectedContent } from '../tables/rejected-identity.ts';
import { KnownPages } from '../write/known-items.ts';
import { savedState } from '../write/sync-state.ts';

/** Something in the mirror that is not as docmirror wrote it. */
export interface Difference {
  /** Null if the file itself is damaged. */
  readonly table: string | null;
  /** Null if it is not one row. */
  readonly id: number | null;
  readonly what: string;
  readonly severity: 'content' | 'record of runs' | 'shortcut';
}

type Severity = Difference['severity'];

/** Reports a difference. If the severity is left out, it is that of the table. */
export type Report = (table: string | null, id: number | null, what: string, severity?: Severity) => void;

const ofRuns =
  /^(sync_(runs|run_resources|receipts)|(rejected_records|accepted_findings|service_facts)|_mirror|__drizzle_migrations|sqlite_sequence)$/;

/** How bad a difference in a table is. */
export function severityOf(table: string | null): Severity {
  if (table === '_list_states' || table === '_known_pages') return 'shortcut';
  return ofRuns.test(table ?? '') ? 'record of runs' : 'content';
}

/** The data that all checks of one mirror share. */
export interface Audit {
  readonly sqlite: Sqlite;
  readonly report: Report;
  readonly slice: TimeSlice;
  /** One, unless somebody changed the table. */
  readonly mirrorIds: readonly string[];
  /** The last run whose ended versions were deleted; 0 if none were. */
  readonly prunedThrough: number;
  /** The last run before the newest rebuild or upgrade; 0 if there was none. Their receipts say what they accepted. */
  readonly acceptedThrough: number;
  /** The last run whose changes rows and history no longer have, because of a pruning or a rebuild; 0 if they have all. */
  readonly knownAfter: number;
}

/** A statement that selects what docmirror can't have written into a table: a row's id or null, and words. */
type Fault = readonly [table: string, select: string];

const ofLists = `(${keptResources.map(resource => `'${resource}'`).join(', ')})`;
/** The receipts that no run writes. Somebody could have made a text of them that is no JSON. */
const receipts =
  "(SELECT iif(json_valid(receipt), receipt, '{}') AS receipt FROM sync_receipts WHERE run_id IS NULL)";
const erasures = `(SELECT * FROM ${receipts} WHERE receipt ->> 'kind' = 'erase')`;
const version = "resource || ' ' || record_id";
const isLost = "'the text is missing, and no receipt says that it was erased'";

/** A run's hashes do not cover which run first saw a record that it updated. The version that was updated says it, and they cover that. */
const pastOf = (resource: string): Fault => [
  tableOf(resource),
  `SELECT id, 'the version that run ' || _changed_run_id || ' ended is missing from record_history' AS what
   FROM ${tableOf(resource)} AS row
   WHERE _first_seen_run_id <> _changed_run_id AND _changed_run_id > @knownAfter AND NOT EXISTS (
     SELECT 1 FROM record_history
     WHERE resource = '${resource}' AND record_id = row.id AND first_seen_run_id = row._first_seen_run_id
       AND valid_to_run_id = row._changed_run_id AND ended_by = 'update')`,
];

const ofNoRun = (table: string, column = 'run_id'): Fault => [
  table,
  `SELECT rowid AS id, 'it names run ' || ${column} || ', which does not exist' AS what
   FROM ${table} WHERE ${column} NOT IN (SELECT id FROM sync_runs)`,
];

const ofOtherList = (table: string): Fault => [
  table,
  `SELECT NULL AS id, 'it names a list that docmirror does not know; no run reads or removes this row' AS what
   WHERE EXISTS (SELECT 1 FROM ${table} WHERE resource NOT IN ${ofLists})`,
];

const ofKept = lists.flatMap(list => (keptColumns(list).length > 0 ? [`'${list.resource}'`] : [])).join(', ');

/** A text that no column can store is in the record, and not kept. */
const isKeptOtherwise = (list: ListDefinition) =>
  keptColumns(list).map(
    column => `(resource = '${list.resource}' AND ended_by = 'removal' AND
      ${column} IS NOT ${keptValue(list, column)} ${column === timeColumnOf(list) ? '' : `AND ${column} IS NOT NULL`})`,
  );

const accepting = ['resource', 'code', 'rejectedRecordId', 'atMost', 'until', 'why', 'actor', 'at'];
const withdrawing = ['at', 'actor', 'why'];
const membersOf = (receipt: string, members: readonly string[]) =>
  members.map(member => `${receipt}.receipt ->> '${member}'`).join(', ');
const ofAcceptances = (kind: string) => `(SELECT * FROM ${receipts} WHERE receipt ->> 'kind' = '${kind}')`;

/** Each row says what the receipts of when it was accepted and withdrawn say, and each of these has a row. */
const notAsAccepted: Fault = [
  'accepted_findings',
  `SELECT coalesce(row.id, made.receipt ->> 'id') AS id, 'the row is not what the receipts of its acceptance and withdrawal say' AS what
   FROM accepted_findings AS row FULL JOIN ${ofAcceptances('accept')} AS made ON made.receipt ->> 'id' = row.id
   LEFT JOIN ${ofAcceptances('withdraw')} AS ended ON ended.receipt ->> 'id' = row.id
   WHERE json_array(row.id, row.resource, row.code, row.rejected_record_id, row.at_most, row.until, row.why, row.actor, row.accepted_at,
     row.withdrawn_at, row.withdrawn_by, row.withdrawn_why) IS NOT
     json_array(made.receipt ->> 'id', ${membersOf('made', accepting)}, ${membersOf('ended', withdrawing)})`,
];

const faults: readonly Fault[] = [
  notAsAccepted,
  ...keptResources.map(pastOf),
  ...['record_history', '_list_states', '_known_pages'].map(ofOtherList),
  ...['sync_run_resources', 'rejected_records', 'sync_receipts'].map(table => ofNoRun(table)),
  ofNoRun('record_history', 'valid_to_run_id'),
  [
    // No receipt covers them, so anybody could have added them.
    'record_history',
    `SELECT id, ${version} || ': it ended with run ' || valid_to_run_id || ', but versions up to run ' || cast(@prunedThrough AS INTEGER) || ' were deleted' AS what
     FROM record_history WHERE valid_to_run_id <= @prunedThrough`,
  ],
  [
    'record_history',
    `SELECT id, ${version} || ': ' || ${isLost} AS what FROM record_history
     WHERE record IS NULL AND (resource, record_id, valid_to_run_id) NOT IN (
       SELECT receipt ->> 'resource', receipt ->> 'recordId', ended.value ->> 'runId'
       FROM ${erasures}, json_each(receipt, '$.ended') AS ended)`,
  ],
  [
    'record_history',
    `SELECT id, ${version} || ': its time, reference or return is not what docmirror wrote' AS what FROM record_history AS h
     WHERE ${lists.flatMap(isKeptOtherwise).join(' OR ')}
       OR (coalesce(${lists.flatMap(keptColumns).join(', ')}) IS NOT NULL AND
         (ended_by <> 'removal' OR resource NOT IN (${ofKept})))
       OR (returned_run_id IS NOT NULL AND
         (ended_by <> 'removal' OR returned_run_id < valid_to_run_id OR returned_run_id NOT IN (SELECT id FROM sync_runs)))`,
  ],
  [
    'rejected_records',
    `SELECT id, ${isLost} AS what FROM rejected_records WHERE record IS NULL AND id NOT IN (
       SELECT receipt ->> 'recordId' FROM ${erasures} WHERE receipt ->> 'resource' = 'rejected-records')`,
  ],
  [
    'sync_runs',
    `SELECT id, iif(status = 'running', 'the run has a receipt, but has not ended', 'the run has ended, but has no receipt') AS what
     FROM sync_runs WHERE (status <> 'running') <> (id IN (SELECT run_id FROM sync_receipts WHERE run_id IS NOT NULL))`,
  ],
  [
    '_list_states',
    `SELECT NULL AS id, resource || ': the row is missing' AS what FROM sync_run_resources
     WHERE run_id > @acceptedThrough AND checksum IS NOT NULL AND ${wroteListSql} AND resource NOT IN (SELECT resource FROM _list_states)
     GROUP BY resource`,
  ],
];

/** Checks everything that neither the sums of rows nor the hashes of runs cover. */
export function verifyTables(audit: Audit): void {
  const { sqlite, report, prunedThrough, knownAfter, acceptedThrough } = audit;
  registerInstant(sqlite);
  const bound = { prunedThrough, knownAfter, acceptedThrough };
  for (const [table, select] of faults)
    for (const { id, what } of sqlite.prepare<[object], Omit<Difference, 'table'>>(select).iterate(bound))
      report(table, id, what);
  for (const list of lists) {
    for (const { table, id, what } of new ListTable(sqlite, list).malformed()) report(table, id, what);
    const saved = savedState(sqlite, list);
    const changed = `${list.resource}: the row was changed after docmirror wrote it`;
    if (saved === null) report('_list_states', null, changed);
    else if (saved !== undefined && !new KnownPages(sqlite, list, JSON.parse(saved.json).pages).areWhole)
      report('_known_pages', null, changed);
  }
  verifyTexts(audit);
}

/** Compares texts with their contents: of rejected records, and of versions before a rebuild, where hashes need not agree any more. */
function verifyTexts({ sqlite, report, knownAfter }: Audit): void {
  type Text = {
    table: string;
    id: number;
    resource: string;
    runId: number;
    record: string;
    content: string;
  };
  const all = `SELECT 'record_history' AS "table", id, resource, valid_from_run_id AS runId, record, lower(hex(content)) AS content
    FROM record_history WHERE valid_to_run_id <= ? AND record IS NOT NULL
    UNION ALL SELECT 'rejected_records', id, resource, run_id, record, lower(hex(content)) FROM rejected_records
    WHERE record IS NOT NULL`;
  const ignoredIn = new Map<string, ReturnType<typeof ignoredFields>>(
    keptResources.map(resource => [resource, ignoredFields(sqlite, resource)]),
  );
  const texts = sqlite.prepare<[number], Text>(all);
  for (const { table, id, resource, runId, record, content } of texts.iterate(knownAfter)) {
    const ignored = ignoredIn.get(resource)?.(runId) ?? nothingIgnored;
    const contentOf = () => recordOfJson(resource, record, ignored).content;
    // 0.5 ignored no field of a rejected record.
    const ofRejected = () => [hash16(record), rejectedContent(record, ignored)];
    const found = tryToRead(() => (table === 'rejected_records' ? ofRejected() : [contentOf()]));
    if (!found?.some(each => each.toString('hex') === content))
      report(table, id, 'the text and its content disagree');
  }
}
