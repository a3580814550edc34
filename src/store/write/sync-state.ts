// What a run knows of a list for the next one, and who reads it:
//
//     order, retained       the proof, for its plan and its conclusion
//     growth                sync/read.ts, where an incremental run begins; its newest rows are found again
//     names, sayings        connections.ts, for the numbers in known pages
//     pages                 known-pages.ts, whose rows are in a table of their own
//     sharedKeys            identities.ts, for ties and duplicates
//     resumeLog             sync/read.ts, if a reading ended early
//     servedSize            sync/first-page.ts

import type Database from 'better-sqlite3';
import type { Connection } from '../../contract/content.ts';
import type { ListDefinition } from '../../contract/lists.ts';
import { hash16Hex, type Sum } from '../../contract/sum.ts';
import type { Proof } from '../../proof/conclude.ts';
import type { Finding } from '../../proof/findings.ts';
import type { KeysBeyond } from '../../proof/log.ts';
import { type LearntOrder, learntOrder } from '../../proof/order.ts';
import type { Answer } from '../../proof/window.ts';
import { ignoredFields } from '../tables/ignored-fields.ts';
import { areFieldsKnown } from '../tables/service-facts.ts';
import type { Saying } from './connections.ts';
import { forgetPages, type KnownPages, type NotedPages, PageNotes, type SeenPages } from './known-pages.ts';
import { listSql } from './list-sql.ts';
import { type LoggedAnswer, type ResumeLog, resumable } from './resume-log.ts';
import type { NotedKeys } from './shared-keys.ts';

/** What a run knows of a list for the next one. It saves work and is never believed: the commit gate compares sums. */
export interface SyncState {
  /** The order of the list, as the last proven full sync saw it. */
  readonly order: LearntOrder;
  /** Null if the last run was not sure of the list, or if the list must be read in full for another reason. */
  readonly growth: GrowingEnd | null;
  /** What remembered pages say of connections: single ones, and what their records say of all. */
  readonly names: readonly Connection[];
  readonly sayings: readonly Saying[];
  /** The pages of the last proven full sync and of the resume log; null if none are known. */
  readonly pages: NotedPages | null;
  /** The growing end of which the last full run let rows stay, because the list seemed to be being filled; left out if it did not. */
  readonly retained?: KeysBeyond | null;
  /** The keys that its rows share; left out if no run has looked, if rows have changed since, or if they are many. */
  readonly sharedKeys?: NotedKeys;
  /** Null if the last full reading went to its end. */
  readonly resumeLog: ResumeLog | null;
  /** Null if the service refused no page size. */
  readonly servedSize: ServedSize | null;
}

/** The page size of a service that refuses larger ones. */
export interface ServedSize {
  readonly pageSize: number;
  /** Whether to send it; not if it is that of pages that are asked for without a size. */
  readonly isSent: boolean;
  /** Whether the service refuses even that one if it is sent. */
  readonly isOnly: boolean;
  /** When larger ones were refused, in milliseconds since 1970. */
  readonly refusedAtMs: number;
}

/** The state of a list before anything is known of it. */
export const nothingLearnt: SyncState = {
  order: null,
  growth: null,
  names: [],
  sayings: [],
  pages: null,
  resumeLog: null,
  servedSize: null,
};

/** The growing end of a list, from which an incremental run begins. */
export interface GrowingEnd {
  /** When the last proven full sync began, as an ISO date in UTC. */
  readonly lastFullSyncAt: string;
  readonly firstPageNo: number;
  readonly pageSize: number;
  /** The key of the newest record, and the rows with it; of a list with outliers, of the newest record that is surely none. */
  readonly newestKey: number;
  readonly newestRows: readonly number[];
}

/** A list that was read. */
export interface ReadList {
  /** Null if only the growing end of the list was read. */
  readonly proof: Proof | null;
  readonly answers: readonly Answer[];
  /** Known records whose presence the run could not decide. */
  readonly undecided: number;
  /** Why the list is not proven; none if it is. */
  readonly findings: readonly Finding[];
  readonly firstPageNo: number;
  readonly pageSize: number;
  readonly servedSize: ServedSize | null;
  /** The moment of the oldest answer in use, as an ISO date in UTC: when the reading began. */
  readonly readSince: string;
  /** If the reading ended early: what it went on with. */
  readonly toResume: {
    readonly older: readonly LoggedAnswer[];
    readonly totalBefore: number | null;
  } | null;
}

/** A list with at most this many pages is always read in full: it costs little, and shows every change. */
const pagesAlwaysInFull = 10;
/** If more rows share the newest time, the list is read in full. */
const newestRowsMax = 1_000;

/** The state as JSON, and the run that wrote it; undefined if there is none, null if another program changed it. */
export function savedState(sqlite: Database.Database, { resource }: ListDefinition) {
  const saved = sqlite
    .prepare<[string], [runId: number, state: string, check: string]>(
      'SELECT run_id, state, lower(hex("check")) FROM _list_states WHERE resource = ?',
    )
    .raw()
    .get(resource);
  if (saved === undefined) return undefined;
  const [runId, json, check] = saved;
  return checkOf(resource, runId, json) === check ? { runId, json } : null;
}

/** What the last run knew of a list. If it ignored other fields, the same page can now have other contents, so only the order is known. */
export function readState(
  sqlite: Database.Database,
  list: ListDefinition,
  ignored: ReadonlySet<string>,
): SyncState {
  const saved = savedState(sqlite, list) ?? null;
  if (saved === null) return nothingLearnt;
  const state: SyncState = JSON.parse(saved.json);
  const { order, servedSize, growth } = state;
  const before = ignoredFields(sqlite, list.resource)(saved.runId);
  // A page that is known is not parsed, so nothing would be seen of its fields.
  const isToParse = before.symmetricDifference(ignored).size > 0 || !areFieldsKnown(sqlite, list.resource);
  if (isToParse) return { ...nothingLearnt, order, servedSize };
  const newest = growth && newestOf(sqlite, list, order);
  return { ...state, growth: newest && { ...(growth as GrowingEnd), ...newest } };
}

/** Notes what the next run can know of a list. */
export function writeState(
  sqlite: Database.Database,
  { resource }: ListDefinition,
  runId: number,
  state: Omit<SyncState, 'growth'> & { readonly growth: object | null },
): void {
  if (state.pages === null) forgetPages(sqlite, resource);
  const json = JSON.stringify(state);
  sqlite
    .prepare(
      'INSERT OR REPLACE INTO _list_states (resource, run_id, state, "check") VALUES (?, ?, ?, unhex(?))',
    )
    .run(resource, runId, json, checkOf(resource, runId, json));
}

function checkOf(...values: readonly [resource: string, runId: number, state: string]): string {
  return hash16Hex(JSON.stringify(values));
}

/** What a run knew of a list at its begin. */
interface KnownBefore {
  readonly context: { readonly sqlite: Database.Database; readonly list: ListDefinition };
  readonly before: SyncState;
  readonly knownPages: KnownPages;
  readonly records: { readonly identities: { sharedKeysOf(rows: Sum): NotedKeys | undefined } };
}

/** What the next run can know of a list; notes its pages. It `isSure` if this run was sure of the list, and withheld and rejected nothing. */
export function stateAfter(
  { context, before, knownPages, records }: KnownBefore,
  read: ReadList,
  seen: SeenPages,
  isSure: boolean,
  rows: Sum,
): Omit<SyncState, 'growth'> & { readonly growth: object | null } {
  const { proof, findings, firstPageNo, pageSize, servedSize, readSince, toResume } = read;
  if (proof === null) return isSure ? before : { ...before, growth: null };
  // If there is a rest to read, what was known stays, because the next run might read it.
  const notes = new PageNotes(context, knownPages, seen, toResume !== null);
  if (toResume !== null) {
    const answers = resumable(proof, toResume.older).filter(({ digest }) => notes.add(digest));
    const { totalBefore } = toResume;
    const planned = proof.planned === null ? {} : { planned: proof.planned };
    const next = { firstPageNo, pageSize, totalBefore, ...planned, answers };
    return { ...before, growth: null, ...notes.end(), resumeLog: next, servedSize };
  }
  const order = findings.length === 0 ? learntOrder(proof.answers, before.order) : before.order;
  const isByKey = order !== null && order !== 'none' && proof.verdict.rule === 'key';
  const isGrowing = isSure && isByKey && rows.count > pagesAlwaysInFull * pageSize;
  const growth = isGrowing ? { lastFullSyncAt: readSince, firstPageNo, pageSize } : null;
  // The pages of its plan, or of readings by the list's own page size.
  for (const { size, page, isSecondLook } of isSure ? proof.answers : [])
    if (!isSecondLook && (proof.verdict.rule === 'key' || size === pageSize)) notes.add(page.digest);
  const retained = proof.retained?.why === 'filled' ? { retained: proof.retained.end } : {};
  const sharedKeys = records.identities.sharedKeysOf(rows);
  const learnt = { order, growth, ...(sharedKeys && { sharedKeys }), ...retained };
  return { ...learnt, ...notes.end(), resumeLog: null, servedSize };
}

/** The newest key of the rows that is surely of no outlier, and its rows; null if there is none, or if too many rows share it. */
function newestOf(sqlite: Database.Database, list: ListDefinition, order: LearntOrder) {
  const sql = listSql(list);
  const find = (query: string) => sqlite.prepare<number[], number>(query).pluck();
  const newestKey = find(sql.newestKey).get(order === null || order === 'none' ? 0 : order.outliers);
  if (newestKey === undefined) return null;
  const newestRows = find(sql.rowsOfKey).all(newestKey, newestRowsMax + 1);
  return newestRows.length <= newestRowsMax ? { newestKey, newestRows } : null;
}
