import { afterEach, expect, test } from 'vitest';
import {
  CursorLost,
  feed,
  lossOfRun,
  type Position,
  positionText,
  readPosition,
} from '../../../../src/store/read/history/feed.ts';
import { ReceiptLog } from '../../../../src/store/receipts/receipt-log.ts';
import { type MadeEvent, MadeMirror } from '../../../support/made-mirror.ts';

const opened: MadeMirror[] = [];
afterEach(() => {
  for (const mirror of opened.splice(0)) mirror[Symbol.dispose]();
});

function keep(mirror: MadeMirror): MadeMirror {
  opened.push(mirror);
  return mirror;
}

const put = (id: number, name: string): MadeEvent => ({ resource: 'collections', id, kind: 'put', name });
const abc = [put(1, 'a'), put(2, 'b'), put(3, 'c')];

/** A mirror whose second run changed three records, a backup after the first, and one whose second run is another one. */
function setMirrors() {
  const first = keep(new MadeMirror());
  first.run(abc);
  const backup = first.backup();
  first.run([put(1, 'A'), put(2, 'B'), put(3, 'C')]);
  const other = keep(new MadeMirror(backup));
  other.run([put(1, 'A2'), put(2, 'B2'), put(3, 'C2')]);
  return { first, other };
}

const keysOf = (changes: readonly { runId: number; recordId: number }[]) =>
  changes.map(({ runId, recordId }) => [runId, recordId]);

/** The JSON of a position, with some members replaced; those that are undefined are gone. */
function altered(mirror: MadeMirror, position: Position, more: object): Position {
  const read = readPosition(
    JSON.stringify({ ...JSON.parse(positionText(mirror.sqlite, position)), ...more }),
  );
  if (read === null) throw new Error('It is no position.');
  return read;
}

function lossIn(mirror: MadeMirror, position: Position) {
  try {
    feed(mirror.sqlite).from(position);
    return null;
  } catch (error) {
    if (error instanceof CursorLost) return error.loss;
    throw error;
  }
}

test('a reader in the midst of a run goes on after its last change', () => {
  const { first } = setMirrors();
  const { changes, next, isComplete } = feed(first.sqlite).since(1).upTo(2);
  expect([keysOf(changes), isComplete, next.runId]).toEqual([
    [
      [2, 1],
      [2, 2],
    ],
    false,
    1,
  ]);
  const rest = feed(first.sqlite).from(next).upTo(2);
  expect([keysOf(rest.changes), rest.isComplete, rest.next.runId]).toEqual([[[2, 3]], true, 2]);
  expect(rest.next.after).toBeNull();
});

test('a reader in the midst of a run that was replaced by another one of its number is refused', () => {
  const { first, other } = setMirrors();
  const { next } = feed(first.sqlite).since(1).upTo(2);
  expect(lossIn(first, next)).toBeNull();
  expect(lossIn(other, next)).toMatchObject({ kind: 'restored', sharedRunId: 1 });
  const ofFirstRun = feed(first.sqlite).since(0).upTo(4).next;
  expect(ofFirstRun).toMatchObject({ runId: 1, after: { runId: 2 } });
  expect(lossIn(other, ofFirstRun)).toMatchObject({ kind: 'restored', sharedRunId: 1 });
});

test('a reader in the midst of the first run is refused by another mirror', () => {
  const { first } = setMirrors();
  const { next } = feed(first.sqlite).since(0).upTo(2);
  expect(next.runId).toBe(0);
  const stranger = keep(new MadeMirror());
  stranger.run(abc);
  expect(lossIn(stranger, next)).toMatchObject({ kind: 'other mirror', sharedRunId: 0 });
  expect(lossIn(stranger, altered(first, next, { after: null }))).toBeNull();
});

test('with the newest first, a reader is refused if the run with which it began is no longer there', () => {
  const { first, other } = setMirrors();
  const begun = feed(first.sqlite).since(0).newestFirst(4).next;
  expect(begun).toMatchObject({ since: 0, runId: 2, after: { runId: 1 } });
  expect(lossIn(first, begun)).toBeNull();
  expect(lossIn(other, begun)).toMatchObject({ kind: 'restored', sharedRunId: 1 });
  // A run that ends meanwhile is not its own: it reads back to where it began.
  first.run([put(9, 'later')]);
  const rest = feed(first.sqlite).from(begun).newestFirst(10);
  expect([keysOf(rest.changes), rest.isComplete]).toEqual([
    [
      [1, 2],
      [1, 1],
    ],
    true,
  ]);
  expect(rest.next.runId).toBe(2);
  expect(keysOf(feed(first.sqlite).from(rest.next).newestFirst(10).changes)).toEqual([]);
  expect(readPosition(positionText(first.sqlite, begun))).toBeNull();
});

test('a cursor of 0.4.0 begins the run again that it is in the midst of', () => {
  const { first, other } = setMirrors();
  const { next } = feed(first.sqlite).since(1).upTo(2);
  const { runId, resource, recordId, operation } = next.after ?? {};
  const old = altered(first, next, { after: { runId, resource, recordId, operation } });
  const again = [
    [2, 1],
    [2, 2],
    [2, 3],
  ];
  expect(keysOf(feed(first.sqlite).from(old).upTo(10).changes)).toEqual(again);
  expect(keysOf(feed(other.sqlite).from(old).upTo(10).changes)).toEqual(again);
  expect(keysOf([...feed(first.sqlite).from(old).through(2).changes])).toEqual(again);
  expect(keysOf(feed(first.sqlite).from(old).newestFirst(2).changes)).toEqual([
    [2, 3],
    [2, 2],
  ]);
  const shorter = keep(new MadeMirror());
  shorter.sqlite.prepare('UPDATE _mirror SET mirror_id = ?').run(next.mirrorId);
  expect(lossIn(shorter, old)).toMatchObject({ kind: 'restored', sharedRunId: 0 });
});

test.each([
  ['a run that this mirror does not have yet', { runId: 99, leafIndex: null, leafHash: null }, 1],
  ['a run without the receipt that it has', { leafIndex: null, leafHash: null }, 1],
  ['another receipt', { leafIndex: 1, leafHash: 'f'.repeat(64) }, 1],
  ['earlier runs that are not there', { leafHash: null, leafIndex: null, earlier: [[1, 'ffff']] }, 0],
  ['a pruning that never was', { begunAfter: 'f'.repeat(64) }, 0],
])('a cursor that names %s is refused', (_name, more, sharedRunId) => {
  const { first } = setMirrors();
  const { next } = feed(first.sqlite).since(0).upTo(100);
  expect(lossIn(first, altered(first, next, more))).toMatchObject({ kind: 'restored', sharedRunId });
});

test('a run without a receipt is followed if the one before it is the same', () => {
  const { first, other } = setMirrors();
  const { next } = feed(first.sqlite).since(0).upTo(100);
  const bare = altered(first, next, { leafIndex: null, leafHash: null });
  for (const { sqlite } of [first, other])
    sqlite.exec('DROP TRIGGER sync_receipts_are_kept; DELETE FROM sync_receipts WHERE run_id = 2');
  expect(lossIn(first, bare)).toBeNull();
  expect(lossIn(first, altered(first, bare, { earlier: [[1, 'ffff']] }))).not.toBeNull();
});

test('a reader that begins in a mirror of which old versions were deleted gets to its end page by page', () => {
  const mirror = keep(new MadeMirror());
  mirror.run(abc);
  mirror.run([put(1, 'A')]);
  mirror.run([put(2, 'B')]);
  mirror.prune(2);
  let { next, changes, isComplete } = feed(mirror.sqlite).since(0).upTo(1);
  const got = [...changes];
  for (let pages = 0; !isComplete && pages < 10; pages++) {
    ({ next, changes, isComplete } = feed(mirror.sqlite).from(next).upTo(1));
    got.push(...changes);
  }
  expect(keysOf(got)).toEqual([
    [1, 2],
    [1, 3],
    [2, 1],
    [3, 2],
  ]);
});

test('a reader learns that it can not go on from the shared run if what came after it was deleted', () => {
  const first = keep(new MadeMirror());
  first.run(abc);
  first.run([put(1, 'A')]);
  const backup = first.backup();
  first.run([put(2, 'B')]);
  const whole = feed(first.sqlite).since(0).upTo(100).next;
  const other = keep(new MadeMirror(backup));
  for (const id of [1, 2, 3]) other.run([{ resource: 'collections', id, kind: 'remove', name: '' }]);
  expect(lossIn(other, whole)).toMatchObject({ kind: 'restored', sharedRunId: 2 });
  other.prune(4);
  const loss = lossIn(other, whole);
  expect(loss).toMatchObject({ kind: 'pruned', sharedRunId: 2 });
  expect(loss?.why).toMatch(/restored from a backup since, and is older than the history that is kept/);
});

test('a reader is refused if what it has not read yet was deleted, or dropped by a rebuild', () => {
  const mirror = keep(new MadeMirror());
  mirror.run(abc);
  mirror.run([put(1, 'A')]);
  mirror.run([put(1, 'AA')]);
  const begun = feed(mirror.sqlite).since(0).upTo(1).next;
  mirror.prune(2);
  expect(lossIn(mirror, begun)).toMatchObject({ kind: 'pruned', sharedRunId: 0 });
  const again = feed(mirror.sqlite).since(0).upTo(1).next;
  expect(lossIn(mirror, again)).toBeNull();
  const whole = feed(mirror.sqlite).since(0).upTo(100).next;
  mirror.begin([], true);
  mirror.end();
  for (const position of [again, whole]) expect(lossIn(mirror, position)).toMatchObject({ kind: 'rebuilt' });
  expect(lossIn(mirror, feed(mirror.sqlite).since(0).upTo(1).next)).toBeNull();
});

test('changes are delivered when their run has ended', () => {
  const mirror = keep(new MadeMirror());
  mirror.run(abc);
  mirror.begin([put(1, 'A')]);
  const { changes, isComplete, next } = feed(mirror.sqlite).since(1).upTo(10);
  expect([changes, isComplete, next.runId]).toEqual([[], true, 1]);
  mirror.end();
  expect(keysOf(feed(mirror.sqlite).from(next).upTo(10).changes)).toEqual([[2, 1]]);
});

test('runs can be added to what was published of the same run, but not after a rebuild', () => {
  const { first, other } = setMirrors();
  const mirrorId = new ReceiptLog(first.sqlite).mirrorId();
  const started = first.sqlite.prepare<[], string>('SELECT started_at FROM sync_runs WHERE id = 2').pluck();
  const published = { mirrorId, runId: 2, startedAtMs: Date.parse(started.get() ?? '') };
  expect(lossOfRun(first.sqlite, published)).toBeNull();
  expect(lossOfRun(other.sqlite, published)).toMatchObject({ kind: 'restored' });
  expect(lossOfRun(keep(new MadeMirror()).sqlite, published)).toMatchObject({ kind: 'other mirror' });
  first.begin([], true);
  first.end();
  expect(lossOfRun(first.sqlite, published)).toMatchObject({ kind: 'rebuilt', sharedRunId: 2 });
});

test.each([
  '',
  '{}',
  '[]',
  '1',
  '{"mirrorId":"x","runId":1}',
  '{"mirrorId":"x","runId":-1,"leafIndex":null,"leafHash":null}',
])('%s is no cursor', text => {
  expect(readPosition(text)).toBeNull();
});

test('a reader that shares no run with a mirror is told of no gap that does not concern it', () => {
  const { first } = setMirrors();
  const { next } = feed(first.sqlite).since(0).upTo(100);
  const other = keep(new MadeMirror());
  other.sqlite.prepare('UPDATE _mirror SET mirror_id = ?').run(next.mirrorId);
  other.run(abc);
  other.run([put(1, 'A')]);
  other.prune(2);
  expect(lossIn(other, next)).toEqual({
    kind: 'restored',
    why: 'is from a later state of this mirror, which was restored from a backup since',
    sharedRunId: 0,
  });
});
