// What the next run can know of a list, written with its rows: the state, and the pages in a table of their own.

import type { Sum } from '../../contract/sum.ts';
import type { Answer } from '../../proof/answers.ts';
import { learntOrder } from '../../proof/order.ts';
import type { PageItems } from '../../proof/page-items.ts';
import { allValues } from '../tables/ask.ts';
import { rangesOf } from './compact-sets.ts';
import { ConnectionNames, type Saying } from './connections.ts';
import { pageCheck } from './known-items.ts';
import { transact } from './mirror.ts';
import { resumable } from './resume-log.ts';
import type { Stage } from './stage.ts';
import { type ReadList, type SavedState, writeState } from './sync-state.ts';

/** The rows of the records of a page; null for a record that has no row. */
type RowsOfPage = (page: PageItems) => readonly (number | null)[];

/** The rows of a list as a run has written them. */
interface WrittenRows {
  readonly rowsSum: Sum;
  readonly rowsOf: RowsOfPage;
  /** Whether the run was sure of the list, and whether it was clean, because it moreover held nothing back. */
  readonly isProven: boolean;
  readonly isClean: boolean;
}

/** A list with at most this many pages is always read in full: it costs little, and shows every change. */
const pagesAlwaysInFull = 10;

/** Writes what the next run can know of a list, and returns it. */
export function writeNextState(stage: Stage, read: ReadList, written: WrittenRows): SavedState {
  const { sqlite, list, runId } = stage.context;
  const state = nextState(stage, read, written);
  writeState(sqlite, list, runId, state);
  return state;
}

/** What the next run can know of a list. Its pages are written, too. */
function nextState(
  stage: Stage,
  read: ReadList,
  { rowsSum, rowsOf, isProven, isClean }: WrittenRows,
): SavedState {
  const { state: before, sharedKeys: shared } = stage;
  const { proof, firstPageNo, pageSize, servedSize, readSince, toResume } = read;
  if (proof === null) return isClean ? before : { ...before, growth: null };
  // If there is a rest to read, what was known stays, because the next run might read it.
  if (toResume !== null) {
    const all = resumable(proof, stage.older);
    const digests = all.map(({ digest }) => digest);
    const { noted, notes } = notePages(stage, rowsOf, digests, true);
    const answers = all.filter(({ digest }) => noted.has(digest));
    const { totalBefore } = toResume;
    const planned = proof.planned === null ? {} : { planned: proof.planned };
    const next = { firstPageNo, pageSize, totalBefore, ...planned, answers };
    return { ...before, growth: null, ...notes, resumeLog: next, servedSize };
  }
  const order = isProven ? learntOrder(proof.answers, before.order) : before.order;
  const isByKey = order !== null && order !== 'none' && proof.verdict.rule === 'key';
  const isGrowing = isClean && isByKey && rowsSum.count > pagesAlwaysInFull * pageSize;
  const growth = isGrowing ? { lastFullSyncAt: readSince, firstPageNo, pageSize } : null;
  // The pages of its plan, or of readings by the list's own page size.
  const isNoted = ({ size, isSecondLook }: Answer) =>
    !isSecondLook && (proof.verdict.rule === 'key' || size === pageSize);
  const answers = isClean ? proof.answers.filter(isNoted) : [];
  const digests = answers.map(({ page }) => page.digest);
  const { notes } = notePages(stage, rowsOf, digests, false);
  const retained = proof.retained?.why === 'filled' ? { retained: proof.retained.end } : {};
  const sharedKeys = shared.noteOf(rowsSum);
  const learnt = { order, growth, ...(sharedKeys && { sharedKeys }), ...retained };
  return { ...learnt, ...notes, resumeLog: null, servedSize };
}

/** Forgets the answers of a reading that ended early, because what they say can't be written. */
export async function forgetResumeLog({ context, state: before }: Stage): Promise<void> {
  const { file, list, runId } = context;
  const forget = () => writeState(file.sqlite, list, runId, { ...before, resumeLog: null });
  await transact(file, AbortSignal.timeout(forgettingMsMax), forget);
}

/** How long that can wait for another program's lock, in milliseconds. */
const forgettingMsMax = 5_000;

/**
 * Notes pages that the next run can know, and what they say of connections; not one on which a record has no row. Those that were known stay
 * as they are, with the numbers of what they say, until a name or most of these numbers are in no page any more.
 *
 * @param staysAll whether pages stay that this run has not seen; if not, the rows of all others are removed.
 */
function notePages(stage: Stage, rowsOf: RowsOfPage, digests: Iterable<string>, staysAll: boolean) {
  const { context, knownPages, names, pages } = stage;
  const { sqlite, runId } = context;
  const { resource } = context.list;
  const put =
    sqlite.prepare(`INSERT OR REPLACE INTO _known_pages (resource, digest, run_id, rows, said, pieces, "check")
    VALUES (@resource, @digest, @run, @rows, @said, @pieces, @check)`);
  const byBefore = knownPages.noted?.by ?? runId;
  const isAnew = byBefore === runId || (!staysAll && areUnused(stage));
  // The run whose numbers count.
  const by = isAnew ? runId : byBefore;
  const renumbered = isAnew ? new NewNumbers(names) : null;
  const known = staysAll ? Array.from(knownPages.all(), ({ digest }) => digest) : [];
  const noted = new Set(known.filter(digest => knownPages.get(digest) !== null));
  for (const digest of new Set(digests)) {
    const parsed = pages.get(digest);
    if (parsed === undefined) continue;
    const { items, said, pieces, isKnown } = parsed;
    noted.add(digest);
    if (isKnown && renumbered === null) continue;
    const rows = items.count > 0 && said !== null ? rangesOf(rowsOf(items)) : null;
    if (rows === null || said === null) {
      noted.delete(digest);
      continue;
    }
    const { buffer } = renumbered === null ? new Uint16Array(said) : said.map(each => renumbered.of(each));
    const row = { run: runId, rows: JSON.stringify(rows), said: Buffer.from(buffer), pieces };
    const check = pageCheck(resource, by, digest, row);
    put.run({ resource, digest: Buffer.from(digest, 'hex'), ...row, check });
  }
  const all = 'SELECT lower(hex(digest)) FROM _known_pages WHERE resource = ?';
  const remove = sqlite.prepare('DELETE FROM _known_pages WHERE resource = ? AND digest = ?');
  for (const digest of allValues<string>(sqlite, all, resource))
    if (!noted.has(digest)) remove.run(resource, Buffer.from(digest, 'hex'));
  const { entries, sayings } = renumbered?.names ?? names;
  return { noted, notes: { names: entries, sayings, pages: { by, count: noted.size } } };
}

/** New numbers of what pages say of connections, without those that no page has. */
class NewNumbers {
  readonly names = new ConnectionNames({ names: [], sayings: [] });
  readonly #before: ConnectionNames;
  readonly #numbers = new Map<number, number>();

  constructor(before: ConnectionNames) {
    this.#before = before;
  }

  of(saying: number): number {
    const known = this.#numbers.get(saying);
    if (known !== undefined) return known;
    const number = this.names.enter(this.#before.mentionsOf(saying), Number.NaN);
    this.#numbers.set(saying, number);
    return number;
  }
}

/** So many numbers of what no page says can stay in any case. */
const unusedMax = 100;

/** Whether a name is in no page any more, which must not stay in the file, or most numbers are in none. */
function areUnused({ pages, names: { entries, sayings } }: Stage): boolean {
  const isUsed = new Uint8Array(sayings.length + 1);
  for (const { said } of pages.values()) for (const each of said ?? []) isUsed[each] = 1;
  const said = new Set<number>();
  let used = 0;
  for (let number = sayings.length; number > 0; number--) {
    if (isUsed[number] === 0) continue;
    const { before, entry } = sayings[number - 1] as Saying;
    isUsed[before] = 1;
    said.add(entry);
    used++;
  }
  return said.size < entries.length || sayings.length > 2 * used + unusedMax;
}
