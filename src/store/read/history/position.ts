import type Database from 'better-sqlite3';
import { keptResources } from '../../../contract/lists.ts';
import * as shape from '../../../contract/shapes.ts';
import { DocmirrorError, tryToRead } from '../../../errors.ts';
import { ReceiptLog } from '../../receipts/receipt-log.ts';
import { lastRunBefore, ofKind, readPruned } from '../../receipts/statements.ts';
import { EndedRuns } from '../../tables/ended-runs.ts';
import { type ChangeKey, operations } from './changes.ts';

/** A run as a reader of the changes remembers it: by its number and its receipt's hash, because a restored mirror gives numbers again. */
export interface RunPin {
  /** 0 for the time before the first run. */
  readonly runId: number;
  /** 64 hexadecimal digits; null if the run has no receipt. */
  readonly leafHash: string | null;
}

/** The last change that a reader has of a run that it does not have whole. docmirror 0.4 left the hash of that run out. */
export type Amid = ChangeKey & Partial<Pick<RunPin, 'leafHash'>>;

/** What a reader of the changes has: both ends of it are pinned, so that a mirror can say whether that is still its own past. */
export interface Position {
  readonly mirrorId: string;
  /** The run that was delivered last and whole. If the newest changes come first, it is the newest run of all that were read. */
  readonly delivered: RunPin;
  /** The run in whose midst the reader is; null if it is between two runs. */
  readonly amid: Amid | null;
  /** If the newest changes come first: only those of later runs than this one are read. Null if the oldest come first. */
  readonly since: number | null;
  /** The hash of the newest receipt of a pruning or rebuild when the reader began; null if there was none. */
  readonly begunAfter: string | null;
  /** Some earlier runs, the newest first, with the beginnings of their receipts' hashes. After a restore they show how far both agree. */
  readonly earlier: readonly (readonly [runId: number, hash: string])[];
}

/** Why a mirror does not have what came after a position, and the newest run that is the same for both; 0 if there is none. */
export interface Loss {
  readonly kind: 'other mirror' | 'restored' | 'rebuilt' | 'pruned' | 'no history';
  /** It goes on after "it". */
  readonly why: string;
  readonly sharedRunId: number;
}

/** A position that can't be followed in this mirror. */
export class CursorLost extends DocmirrorError {
  readonly loss: Loss;

  constructor(loss: Loss) {
    super('cursor_lost', `The cursor ${loss.why}. The newest run that both share is ${loss.sharedRunId}.`);
    this.loss = loss;
  }
}

const hash = shape.hex(64, '');
const count = shape.whole('', 0);
const key = {
  runId: count,
  resource: shape.oneOf(keptResources),
  recordId: shape.whole(),
  operation: shape.oneOf(operations),
};
/** A position as JSON, with the names of 0.4. The optional members are newer. */
const cursor = shape.object({
  mirrorId: shape.text(),
  runId: count,
  leafIndex: shape.orNull(count),
  leafHash: shape.orNull(hash),
  after: shape.optional(shape.orNull(shape.object({ ...key, leafHash: shape.optional(shape.orNull(hash)) }))),
  since: shape.optional(count),
  begunAfter: shape.optional(hash),
  earlier: shape.optional(shape.list(shape.pair(count, shape.text('', '^[0-9a-f]+$')))),
});

/** A position as the text of a file, or of a cursor in an address. */
export function positionText(sqlite: Database.Database, position: Position): string {
  const { mirrorId, delivered, amid, since, begunAfter, earlier } = position;
  const leafIndex = receiptOf(sqlite, delivered.runId)?.leafIndex ?? null;
  const news = { ...(since !== null && { since }), ...(begunAfter !== null && { begunAfter }) };
  return `${JSON.stringify({ mirrorId, ...delivered, leafIndex, after: amid, ...news, earlier })}\n`;
}

/** Reads what `positionText` wrote, also that of 0.4; null if the text is something else, or of a reader in the other direction. */
export function readPosition(text: string, isDescending = false): Position | null {
  const read: unknown = tryToRead(() => JSON.parse(text));
  if (!shape.isValid(cursor, read) || (read.since !== undefined && !isDescending)) return null;
  const { mirrorId, runId, leafIndex, leafHash, after, since, begunAfter, earlier } = read;
  if ((leafIndex === null) !== (leafHash === null)) return null;
  return {
    mirrorId,
    delivered: { runId, leafHash },
    amid: after ?? null,
    since: since ?? null,
    begunAfter: begunAfter ?? null,
    earlier: earlier ?? [],
  };
}

/** Earlier runs of a position: all of the last 16, then fewer and fewer, so that a cursor stays small. */
const distances = [
  ...Array.from({ length: 16 }, (_, at) => at + 1),
  ...Array.from({ length: 20 }, (_, at) => 32 * 2 ** at),
];
/** How many hexadecimal digits of an earlier receipt's hash are enough to recognize it. */
const hashLength = 16;

/** The position of a reader that has everything up to a run and, of a later one, everything up to a change. */
export function positionAt(
  sqlite: Database.Database,
  runId: number,
  more: { readonly after?: ChangeKey | null; readonly begunAfter?: string | null } = {},
): Position {
  const { after = null, begunAfter = null } = more;
  return {
    mirrorId: new ReceiptLog(sqlite).mirrorId(),
    delivered: pinOf(sqlite, runId),
    amid: after && { ...keyOf(after), leafHash: pinOf(sqlite, after.runId).leafHash },
    since: null,
    begunAfter,
    earlier: distances.flatMap(distance => {
      const leafHash = receiptOf(sqlite, runId - distance)?.leafHash;
      return leafHash === undefined ? [] : [[runId - distance, leafHash.slice(0, hashLength)] as const];
    }),
  };
}

function keyOf({ runId, resource, recordId, operation }: ChangeKey): ChangeKey {
  return { runId, resource, recordId, operation };
}

function pinOf(sqlite: Database.Database, runId: number): RunPin {
  return { runId, leafHash: receiptOf(sqlite, runId)?.leafHash ?? null };
}

/** Why the changes after the position of a reader that has some can't be read in this mirror; null if all of them can. */
export function lossOf(sqlite: Database.Database, position: Position): Loss | null {
  const { mirrorId, delivered, amid, begunAfter } = position;
  const ofMirror = lossOfMirror(sqlite, mirrorId);
  if (ofMirror !== null) return ofMirror;
  // Rows that a rebuild had dropped before the reader began are there again if it never was.
  const hasBegun = begunAfter === null || hasReceipt(sqlite, begunAfter);
  const sharedRunId = hasBegun ? sharedRun(sqlite, position) : 0;
  // What was pruned or dropped before the reader began does not concern it.
  const isGapKnown = begunAfter !== null && begunAfter === newestGap(sqlite);
  const gap = isGapKnown ? null : gapAfter(sqlite, sharedRunId);
  const isShared = hasBegun && sharedRunId === delivered.runId && (amid === null || isOwn(sqlite, amid));
  if (isShared) return gap && { ...gap, sharedRunId };
  const loss = restored(sharedRunId);
  // A reader that begins from nothing misses nothing.
  if (gap === null || sharedRunId === 0) return loss;
  return { ...gap, why: `${loss.why}, and ${gap.why}`, sharedRunId };
}

/** What was published of a mirror: everything up to a run, and when that run began, in milliseconds since 1970. */
export interface PublishedRun {
  readonly mirrorId: string;
  readonly runId: number;
  readonly startedAtMs: number;
}

/** Why later runs can't be added to what was published; null if they can. A publication itself finds what a pruning took away. */
export function lossOfRun(sqlite: Database.Database, published: PublishedRun): Loss | null {
  const { mirrorId, runId, startedAtMs } = published;
  const ofMirror = lossOfMirror(sqlite, mirrorId);
  if (ofMirror !== null) return ofMirror;
  const started = sqlite.prepare<[number], string>('SELECT started_at FROM sync_runs WHERE id = ?').pluck();
  const isOwnRun = new EndedRuns(sqlite).has(runId) && Date.parse(started.get(runId) ?? '') === startedAtMs;
  if (!isOwnRun) return restored(0);
  const gap = gapAfter(sqlite, runId);
  return gap?.kind === 'rebuilt' ? { ...gap, sharedRunId: runId } : null;
}

/** The loss of a reader that has another mirror; null if it is this one. */
function lossOfMirror(sqlite: Database.Database, mirrorId: string): Loss | null {
  if (mirrorId === new ReceiptLog(sqlite).mirrorId()) return null;
  return { kind: 'other mirror', why: 'is of another mirror', sharedRunId: 0 };
}

function restored(sharedRunId: number): Loss {
  const why = 'is from a later state of this mirror, which was restored from a backup since';
  return { kind: 'restored', why, sharedRunId };
}

/** True if a run of a reader is this mirror's. A run of which 0.4 noted no hash might be: it must have ended at least. */
function isOwn(sqlite: Database.Database, { runId, leafHash }: Pick<Amid, 'runId' | 'leafHash'>): boolean {
  if (runId === 0) return true;
  if (!new EndedRuns(sqlite).has(runId)) return false;
  return leafHash === undefined || (receiptOf(sqlite, runId)?.leafHash ?? null) === leafHash;
}

/** The newest run of which a position knows, and that is this mirror's. A run without a receipt is vouched for by the one before it. */
function sharedRun(sqlite: Database.Database, { delivered, earlier }: Position): number {
  const known = earlier.find(([id, start]) => receiptOf(sqlite, id)?.leafHash.startsWith(start))?.[0] ?? 0;
  const isKnown = delivered.leafHash !== null || known === (earlier[0]?.[0] ?? 0);
  return isKnown && isOwn(sqlite, delivered) ? delivered.runId : known;
}

/** What is missing of the history after a run, so that neither its changes nor the state after that run can be read; null if nothing is. */
export function gapAfter(sqlite: Database.Database, runId: number) {
  const rebuiltAfter = lastRunBefore(sqlite, 'rebuild');
  const { before, throughRunId } = readPruned(sqlite);
  // The one that reaches further is named, because the other can be less than what is asked for next.
  if (rebuiltAfter > 0 && runId <= rebuiltAfter && throughRunId <= rebuiltAfter) {
    const why = 'is from before "sync --rebuild", which dropped rows without a trace';
    return { kind: 'rebuilt', why, throughRunId: rebuiltAfter } as const;
  }
  if (runId < throughRunId) {
    const why = 'is older than the history that is kept (DOCMIRROR_KEEP_HISTORY)';
    return { kind: 'pruned', why, throughRunId, before } as const;
  }
  const lacksHistory = sqlite.prepare(
    `SELECT 1 FROM sync_run_resources WHERE run_id > ? AND updated + removed > 0
       AND NOT EXISTS (SELECT 1 FROM record_history) LIMIT 1`,
  );
  if (lacksHistory.get(runId) === undefined) return null;
  const why = 'needs the history, which this share does not have: it was made with --without-history';
  return { kind: 'no history', why, throughRunId: runId } as const;
}

/** The hash of the newest receipt of a pruning or rebuild: both take something away of what earlier runs changed. Null if there is none. */
export function newestGap(sqlite: Database.Database): string | null {
  const newest = (kind: 'prune' | 'rebuild') => `SELECT leaf_index, leaf_hash FROM ${ofKind(kind)}`;
  const found = sqlite
    .prepare<[], string>(
      `SELECT leaf_hash FROM (${newest('prune')} UNION ALL ${newest('rebuild')}) ORDER BY leaf_index DESC LIMIT 1`,
    )
    .pluck();
  return found.get() ?? null;
}

function receiptOf(sqlite: Database.Database, runId: number) {
  const ofRun = 'SELECT leaf_index AS leafIndex, leaf_hash AS leafHash FROM sync_receipts WHERE run_id = ?';
  return sqlite.prepare<[number], { leafIndex: number; leafHash: string }>(ofRun).get(runId);
}

/** Whether a receipt that is not of a run is in the log. */
function hasReceipt(sqlite: Database.Database, leafHash: string): boolean {
  const found = 'SELECT 1 FROM sync_receipts WHERE run_id IS NULL AND leaf_hash = ?';
  return sqlite.prepare(found).get(leafHash) !== undefined;
}
