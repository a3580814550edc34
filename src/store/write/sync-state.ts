// What a run knows of a list for the next one. next-state.ts makes it, and this is who reads it:
//
//     order, retained       the proof, for its plan and its conclusion
//     growth                sync/list.ts, and read.ts, where an incremental run begins; apply.ts, which wants its newest rows to be listed
//     names, sayings        connections.ts, for the numbers in known pages
//     pages                 known-items.ts, whose rows are in a table of their own
//     sharedKeys            shared-keys.ts, for ties and duplicates
//     resumeLog             stage.ts, if a reading ended early
//     servedSize            sync/first-page.ts

import type Database from 'better-sqlite3';
import type { Connection } from '../../contract/content.ts';
import type { ListDefinition } from '../../contract/lists.ts';
import { hash16Hex } from '../../contract/sum.ts';
import type { Answer } from '../../proof/answers.ts';
import type { Proof } from '../../proof/conclude.ts';
import type { KeysBeyond } from '../../proof/log.ts';
import type { LearntOrder } from '../../proof/order.ts';
import { firstRow } from '../tables/ask.ts';
import { ignoredFields } from '../tables/ignored-fields.ts';
import { areFieldsKnown } from '../tables/service-facts.ts';
import type { Saying } from './connections.ts';
import { listSql } from './list-sql.ts';
import type { ResumeLog } from './resume-log.ts';

/** What a run knows of a list for the next one. It saves work and is never believed: the commit gate compares sums. */
export interface SyncState {
  /** The order of the list, as the last proven full sync saw it. */
  readonly order: LearntOrder;
  /** Null if the last run was not clean, or if the list must be read in full for another reason. */
  readonly growth: GrowingEnd | null;
  /** What remembered pages say of connections: single ones, and what their records say of all. */
  readonly names: readonly Connection[];
  readonly sayings: readonly Saying[];
  /** The pages of the last full sync, if it was clean, and of the resume log; null if no run has noted any. */
  readonly pages: NotedPages | null;
  /** The growing end, and not its rows, of which the last full run let rows stay, because the list seemed to be being filled; left out if it did not. */
  readonly retained?: KeysBeyond | null;
  /** The keys that its rows share; left out if no run has looked, if rows have changed since, or if they are many. */
  readonly sharedKeys?: NotedKeys;
  /** Null if the last full reading went to its end. */
  readonly resumeLog: ResumeLog | null;
  /** Null if the service refused no page size. */
  readonly servedSize: ServedSize | null;
}

/** How many pages of a list are noted, and the run whose numbers they have of what is said of connections. */
export interface NotedPages {
  readonly by: number;
  readonly count: number;
}

/** The keys that several rows share, and the sum of the rows of which they were noted. */
export interface NotedKeys {
  readonly of: string;
  readonly keys: readonly number[];
  readonly counts: readonly number[];
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

/** The state of a list before anything is known of it. A try with this very object is the last one, because it has nothing left to doubt. */
export const nothingLearnt: SyncState = {
  order: null,
  growth: null,
  names: [],
  sayings: [],
  pages: null,
  resumeLog: null,
  servedSize: null,
};

/** The state as it is written: the newest rows of the growing end are found when it is read. */
export type SavedState = Omit<SyncState, 'growth'> & {
  readonly growth: Omit<GrowingEnd, 'newestKey' | 'newestRows'> | null;
};

/** The growing end of a list, from which an incremental run begins. */
export interface GrowingEnd {
  /** When the last clean full sync began, as an ISO date in UTC. */
  readonly lastFullSyncAt: string;
  readonly firstPageNo: number;
  readonly pageSize: number;
  /** The key of the newest record, and the rows with it; of a list with outliers, of the newest record that is surely none. */
  readonly newestKey: number;
  readonly newestRows: readonly number[];
}

/** A list that was read: what sync/read.ts makes, and apply.ts writes. */
export interface ReadList {
  /** Null if only the growing end of the list was read. */
  readonly proof: Proof | null;
  readonly answers: readonly Answer[];
  readonly firstPageNo: number;
  readonly pageSize: number;
  readonly servedSize: ServedSize | null;
  /** The moment of the oldest answer in use, as an ISO date in UTC: when the reading began. */
  readonly readSince: string;
  /** If the reading ended early: the total that the run before it found. */
  readonly toResume: Pick<ResumeLog, 'totalBefore'> | null;
}

/** If more rows share the newest time, the list is read in full. */
const newestRowsMax = 1_000;

/** The state as JSON, and the run that wrote it; undefined if there is none, null if another program changed it. */
export function savedState(sqlite: Database.Database, { resource }: ListDefinition) {
  const query =
    'SELECT run_id AS runId, state AS json, lower(hex("check")) AS hash FROM _list_states WHERE resource = ?';
  const saved = firstRow<{ runId: number; json: string; hash: string }>(sqlite, query, resource);
  if (saved === undefined) return undefined;
  const { runId, json, hash } = saved;
  return stateCheck(resource, runId, json) === hash ? { runId, json } : null;
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
  state: SavedState,
): void {
  if (state.pages === null) sqlite.prepare('DELETE FROM _known_pages WHERE resource = ?').run(resource);
  const json = JSON.stringify(state);
  const write =
    'INSERT OR REPLACE INTO _list_states (resource, run_id, state, "check") VALUES (?, ?, ?, unhex(?))';
  sqlite.prepare(write).run(resource, runId, json, stateCheck(resource, runId, json));
}

function stateCheck(...values: readonly [resource: string, runId: number, state: string]): string {
  return hash16Hex(JSON.stringify(values));
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
