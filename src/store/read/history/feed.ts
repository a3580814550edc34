import { keptResources } from '../../../contract/lists.ts';
import * as shape from '../../../contract/shapes.ts';
import { DocmirrorError, tryToRead } from '../../../errors.ts';
import { ReceiptHashes, ReceiptLog } from '../../receipts/receipt-log.ts';
import { lastRunBefore, ofKind, readPruned } from '../../receipts/statements.ts';
import { allValues, firstRow, firstValue, type Sqlite } from '../../tables/ask.ts';
import { EndedRuns } from '../../tables/ended-runs.ts';
import type { ChangeFilter } from '../browsable.ts';
import { type ChangeKey, type ChangeRequest, changesThatFit, operations } from './changes.ts';

/** The changes of ended runs that match, each once for a reader that keeps its position; to be read from one state of the mirror. */
export function feed(sqlite: Sqlite, filter?: ChangeFilter) {
  const newest = new EndedRuns(sqlite).newest() ?? 0;
  const open = (position: Position) => feedFrom(sqlite, filter, newest, position);
  /** Begins after a run that has ended, or with 0 at the first run, with what is kept of the history. */
  const since = (runId: number) => {
    const begunAfter = newestGap(sqlite);
    const begun = begunAfter === null ? {} : { begunAfter: new ReceiptHashes(sqlite).of(begunAfter) };
    return open(positionAt(sqlite, runId, begun));
  };
  return {
    since,
    /** Goes on after a position. Throws CursorLost if a run that the reader has is not the mirror's, or not all after it is kept. */
    from(position: Position) {
      // A reader that has nothing yet begins now.
      if (position.runId === 0 && !position.after) return since(0);
      const loss = lossOf(sqlite, position);
      if (loss !== null) throw new CursorLost(loss);
      return open(position);
    },
  };
}

function feedFrom(sqlite: Sqlite, filter: ChangeFilter | undefined, newest: number, position: Position) {
  const { runId: deliveredRunId, since, after: amid = null, begunAfter } = position;
  const begun = begunAfter === undefined ? {} : { begunAfter };
  // docmirror 0.4 did not note which run the reader is in: that one is read again from its beginning.
  const lastTaken = amid?.leafHash === undefined ? null : amid;
  const take = (request: ChangeRequest, limit: number) => {
    const oneMore = changesThatFit(sqlite, { filter, ...request }).take(limit + 1);
    const found = oneMore.toArray();
    const changes = found.slice(0, limit);
    return { changes, last: changes.at(-1) ?? request.after ?? null, isComplete: found.length <= limit };
  };
  return {
    /** As many of the next changes, at least 1; they are complete if nothing is left until the next run ends. */
    upTo(limit: number) {
      const { changes, last, isComplete } = take({ sinceRunId: deliveredRunId, after: lastTaken }, limit);
      if (isComplete || last === null)
        return { changes, isComplete, next: positionAt(sqlite, newest, begun) };
      const before = 'SELECT max(id) FROM sync_runs WHERE id < ?';
      const whole = Math.max(deliveredRunId, firstValue<number>(sqlite, before, last.runId) ?? 0);
      return { changes, isComplete, next: positionAt(sqlite, whole, begun, last) };
    },

    /** The same with the newest changes first. Those of later runs are not delivered: a reader reads back to where it began. */
    newestFirst(limit: number) {
      // A reader of docmirror 0.4 begins again, because its cursor does not say how far up it began.
      const isBegun = since !== undefined;
      const sinceRunId = isBegun ? since : deliveredRunId;
      const after = isBegun ? amid : null;
      const { changes, last, isComplete } = take({ sinceRunId, after, isDescending: true }, limit);
      if (last === null) return { changes, isComplete, next: position };
      const top = isBegun ? deliveredRunId : newest;
      return { changes, isComplete, next: positionAt(sqlite, top, { since: sinceRunId }, last) };
    },

    /** All changes until a run that has ended, one at a time: even if they are many, they take no memory. */
    through(runId: number) {
      const sinceRunId = deliveredRunId;
      return {
        sinceRunId,
        changes: changesThatFit(sqlite, { filter, sinceRunId, untilRunId: runId, after: lastTaken }),
        next: runId > sinceRunId ? positionAt(sqlite, runId, begun) : position,
      };
    },
  };
}

const hash = shape.hex(64, '');
const count = shape.whole('', 0);
const amidRun = shape.object({
  runId: count,
  resource: shape.oneOf<string>(keptResources),
  recordId: shape.whole(),
  operation: shape.oneOf(operations),
  leafHash: shape.optional(shape.orNull(hash)),
});
/**
 * What a reader of the changes has, in JSON with the names of 0.4; the optional members are newer. Runs are known by their numbers and by
 * the hashes of their receipts, because a restored mirror gives numbers again: so a mirror can say whether that is still its own past.
 */
const position = shape.object({
  mirrorId: shape.text(),
  /** True if its hashes have the mirror's key. A share can't compare those of before 0.6, and takes them for right. */
  isKeyed: shape.optional(shape.yesOrNo()),
  /** The run that was delivered last and whole; 0 before the first. If the newest changes come first, the newest of all that were read. */
  runId: count,
  leafHash: shape.orNull(hash),
  /** The last change that the reader has of a run that it does not have whole; null if it is between two. 0.4 left the run's hash out. */
  after: shape.optional(shape.orNull(amidRun)),
  /** If the newest changes come first: only those of later runs than this one are read. */
  since: shape.optional(count),
  /** The hash of the newest receipt of a pruning or rebuild when the reader began. */
  begunAfter: shape.optional(hash),
  /** Some earlier runs, the newest first, with the beginnings of their receipts' hashes. After a restore they show how far both agree. */
  earlier: shape.optional(shape.list(shape.pair(count, shape.text('', '^[0-9a-f]+$')))),
});
/** The same, as a type. */
export type Position = shape.ValueOf<typeof position>;
/** In a text, docmirror 0.4 also looks for the place of the receipt. */
const written = shape.object({ ...position.properties, leafIndex: shape.orNull(count) });

/** A position as the text of a file, or of a cursor in an address. */
export function positionText(sqlite: Sqlite, position: Position): string {
  const { mirrorId, runId, leafHash, ...rest } = position;
  const leafIndex = firstValue(sqlite, 'SELECT leaf_index FROM sync_receipts WHERE run_id = ?', runId);
  return `${JSON.stringify({ mirrorId, runId, leafHash, leafIndex, ...rest })}\n`;
}

/** Reads what `positionText` wrote, also that of 0.4; null if the text is something else, or of a reader in the other direction. */
export function readPosition(text: string, isDescending = false): Position | null {
  const read: unknown = tryToRead(() => JSON.parse(text));
  if (!shape.isValid(written, read) || (read.since !== undefined && !isDescending)) return null;
  const { leafIndex, ...rest } = read;
  return (leafIndex === null) === (rest.leafHash === null) ? rest : null;
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

/** Earlier runs of a position: all of the last 16, then fewer and fewer, so that a cursor stays small. */
const distances = [
  ...Array.from({ length: 16 }, (_, at) => at + 1),
  ...Array.from({ length: 20 }, (_, at) => 32 * 2 ** at),
];
/** How many hexadecimal digits of an earlier receipt's hash are enough to recognize it. */
const hashLength = 16;

/** The position of a reader that has everything up to a run and, of a later one, everything up to a change. */
function positionAt(
  sqlite: Sqlite,
  runId: number,
  more: Pick<Position, 'since' | 'begunAfter'>,
  after: ChangeKey | null = null,
): Position {
  const hashes = new ReceiptHashes(sqlite);
  return {
    mirrorId: new ReceiptLog(sqlite).mirrorId(),
    isKeyed: true,
    runId,
    leafHash: hashes.ofRun(runId),
    after: after && { ...keyOf(after), leafHash: hashes.ofRun(after.runId) },
    ...more,
    earlier: distances.flatMap(distance => {
      const start = hashes.ofRun(runId - distance)?.slice(0, hashLength);
      return start === undefined ? [] : [[runId - distance, start] as const];
    }),
  };
}

function keyOf({ runId, resource, recordId, operation }: ChangeKey): ChangeKey {
  return { runId, resource, recordId, operation };
}

/** Why the changes after the position of a reader that has some can't be read in this mirror; null if all of them can. */
function lossOf(sqlite: Sqlite, position: Position): Loss | null {
  const { mirrorId, runId, after = null, begunAfter = null } = position;
  const ofMirror = lossOfMirror(sqlite, mirrorId);
  if (ofMirror !== null) return ofMirror;
  const hashes = new ReceiptHashes(sqlite, position);
  // Rows that a rebuild had dropped before the reader began are there again if it never was.
  const others = 'SELECT leaf_hash FROM sync_receipts WHERE run_id IS NULL';
  const isFound = (hash: string) => allValues<string>(sqlite, others).some(each => hashes.isOf(each, hash));
  const hasBegun = begunAfter === null || isFound(begunAfter);
  const sharedRunId = hasBegun ? sharedRun(sqlite, hashes, position) : 0;
  // What was pruned or dropped before the reader began does not concern it.
  const isGapKnown = begunAfter !== null && new ReceiptHashes(sqlite).isOf(newestGap(sqlite), begunAfter);
  const gap = isGapKnown ? null : gapAfter(sqlite, sharedRunId);
  const isShared = hasBegun && sharedRunId === runId && (after === null || isOwn(sqlite, hashes, after));
  if (isShared) return gap && { ...gap, sharedRunId };
  const loss = restored(sharedRunId);
  // A reader that begins from nothing misses nothing.
  if (gap === null || sharedRunId === 0) return loss;
  return { ...gap, why: `${loss.why}, and ${gap.why}`, sharedRunId };
}

/** Why later runs can't be added to what was published up to a run, which began then; null if they can. Pruning is found elsewhere. */
export function lossOfRun(
  sqlite: Sqlite,
  { mirrorId, runId, startedAtMs }: { mirrorId: string; runId: number; startedAtMs: number },
): Loss | null {
  const ofMirror = lossOfMirror(sqlite, mirrorId);
  if (ofMirror !== null) return ofMirror;
  const started = firstValue<string>(sqlite, 'SELECT started_at FROM sync_runs WHERE id = ?', runId) ?? '';
  if (!new EndedRuns(sqlite).has(runId) || Date.parse(started) !== startedAtMs) return restored(0);
  const gap = gapAfter(sqlite, runId);
  return gap?.kind === 'rebuilt' ? { ...gap, sharedRunId: runId } : null;
}

function lossOfMirror(sqlite: Sqlite, mirrorId: string): Loss | null {
  if (mirrorId === new ReceiptLog(sqlite).mirrorId()) return null;
  return { kind: 'other mirror', why: 'is of another mirror', sharedRunId: 0 };
}

function restored(sharedRunId: number): Loss {
  const why = 'is from a later state of this mirror, which was restored from a backup since';
  return { kind: 'restored', why, sharedRunId };
}

/** True if a run of a reader is this mirror's. A run of which 0.4 noted no hash might be: it must have ended at least. */
function isOwn(sqlite: Sqlite, hashes: ReceiptHashes, run: { runId: number; leafHash?: string | null }) {
  const { runId, leafHash } = run;
  const isSame = () => leafHash === undefined || hashes.isOf(hashes.stored(runId), leafHash);
  return runId === 0 || (new EndedRuns(sqlite).has(runId) && isSame());
}

/** The newest run of which a position knows, and that is this mirror's. A run without a receipt is vouched for by the one before it. */
function sharedRun(sqlite: Sqlite, hashes: ReceiptHashes, position: Position): number {
  const { runId, leafHash, earlier = [] } = position;
  const known = earlier.find(([id, start]) => hashes.isOf(hashes.stored(id), start))?.[0] ?? 0;
  const isKnown = leafHash !== null || known === (earlier[0]?.[0] ?? 0);
  return isKnown && isOwn(sqlite, hashes, position) ? runId : known;
}

/** What is missing of the history after a run, so that neither its changes nor the state after that run can be read; null if nothing is. */
export function gapAfter(sqlite: Sqlite, runId: number) {
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
  const lacksHistory = `SELECT 1 FROM sync_run_resources WHERE run_id > ? AND updated + removed > 0
    AND NOT EXISTS (SELECT 1 FROM record_history) LIMIT 1`;
  if (firstRow(sqlite, lacksHistory, runId) === undefined) return null;
  const why = 'needs the history, which this share does not have: it was made with --without-history';
  return { kind: 'no history', why, throughRunId: runId } as const;
}

/** The stored hash of the newest receipt of a pruning or rebuild: both take something away of what earlier runs changed. Null if there is none. */
export function newestGap(sqlite: Sqlite): string | null {
  const newest = (kind: 'prune' | 'rebuild') => `SELECT leaf_index, leaf_hash FROM ${ofKind(kind)}`;
  const both = `SELECT leaf_hash FROM (${newest('prune')} UNION ALL ${newest('rebuild')}) ORDER BY leaf_index DESC LIMIT 1`;
  return firstValue(sqlite, both);
}
