// What the next run can know of a list, written with its rows: the state, and the pages in a table of their own.

import type Database from 'better-sqlite3';
import type { Sum } from '../../contract/sum.ts';
import { learntOrder } from '../../proof/order.ts';
import type { PageItems } from '../../proof/window.ts';
import { rangesOf } from './compact-sets.ts';
import { ConnectionNames, type Saying } from './connections.ts';
import { type KnownPage, pageCheck } from './known-items.ts';
import { transact } from './mirror.ts';
import type { Stage } from './stage.ts';
import { type NotedPages, type ReadList, resumable, type SavedState, writeState } from './sync-state.ts';

/** The rows of the records of a page; null for a record that has no row. */
type RowsOfPage = (page: PageItems) => readonly (number | null)[];

/** The rows of a list as a run has written them. */
interface WrittenRows {
  readonly rows: Sum;
  readonly rowsOf: RowsOfPage;
  /** Whether the run was sure of the list, and whether it moreover withheld nothing. */
  readonly isProven: boolean;
  readonly isSure: boolean;
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
  { rows, rowsOf, isProven, isSure }: WrittenRows,
): SavedState {
  const { state: before, sharedKeys: shared } = stage;
  const { proof, firstPageNo, pageSize, servedSize, readSince, toResume } = read;
  if (proof === null) return isSure ? before : { ...before, growth: null };
  // If there is a rest to read, what was known stays, because the next run might read it.
  const notes = new PageNotes(stage, rowsOf, toResume !== null);
  if (toResume !== null) {
    const answers = resumable(proof, stage.older).filter(({ digest }) => notes.add(digest));
    const { totalBefore } = toResume;
    const planned = proof.planned === null ? {} : { planned: proof.planned };
    const next = { firstPageNo, pageSize, totalBefore, ...planned, answers };
    return { ...before, growth: null, ...notes.end(), resumeLog: next, servedSize };
  }
  const order = isProven ? learntOrder(proof.answers, before.order) : before.order;
  const isByKey = order !== null && order !== 'none' && proof.verdict.rule === 'key';
  const isGrowing = isSure && isByKey && rows.count > pagesAlwaysInFull * pageSize;
  const growth = isGrowing ? { lastFullSyncAt: readSince, firstPageNo, pageSize } : null;
  // The pages of its plan, or of readings by the list's own page size.
  for (const { size, page, isSecondLook } of isSure ? proof.answers : [])
    if (!isSecondLook && (proof.verdict.rule === 'key' || size === pageSize)) notes.add(page.digest);
  const retained = proof.retained?.why === 'filled' ? { retained: proof.retained.end } : {};
  const sharedKeys = shared.noteOf(rows);
  const learnt = { order, growth, ...(sharedKeys && { sharedKeys }), ...retained };
  return { ...learnt, ...notes.end(), resumeLog: null, servedSize };
}

/** Forgets the answers of a reading that ended early, because what they say can't be written. */
export async function forgetResumeLog({ context, state: before }: Stage): Promise<void> {
  const { file, list, runId } = context;
  const state = { ...before, resumeLog: null };
  await transact(file, AbortSignal.timeout(forgettingMsMax), () =>
    writeState(file.sqlite, list, runId, state),
  );
}

/** How long that can wait for another program's lock, in milliseconds. */
const forgettingMsMax = 5_000;

/**
 * Notes pages that the next run can know, and what they say of connections. Those that were known stay as they are, with the numbers of
 * what they say, until a name or most of these numbers are in no page any more.
 */
class PageNotes {
  readonly #stage: Stage;
  readonly #rowsOf: RowsOfPage;
  readonly #put: Database.Statement;
  /** The run whose numbers count, and the pages so far. */
  readonly #by: number;
  readonly #digests: Set<string>;
  /** What connections are called, with new numbers but for what no page says; null if the numbers of before count. */
  readonly #anew: ConnectionNames | null;
  readonly #newNumbers = new Map<number, number>();

  /** @param staysAll whether pages stay that this run has not seen. */
  constructor(stage: Stage, rowsOf: RowsOfPage, staysAll: boolean) {
    [this.#stage, this.#rowsOf] = [stage, rowsOf];
    const { context, knownPages } = stage;
    this.#put =
      context.sqlite.prepare(`INSERT OR REPLACE INTO _known_pages (resource, digest, run_id, rows, said, pieces, "check")
      VALUES (@resource, @digest, @run, @rows, @said, @pieces, @check)`);
    const by = knownPages.noted?.by ?? context.runId;
    const isAnew = by === context.runId || (!staysAll && areUnused(stage));
    this.#anew = isAnew ? new ConnectionNames({ names: [], sayings: [] }) : null;
    this.#by = isAnew ? context.runId : by;
    const known = staysAll ? Array.from(knownPages.all(), ({ digest }) => digest) : [];
    this.#digests = new Set(known.filter(digest => knownPages.get(digest) !== null));
  }

  /** Adds a page of this run; false if a record on it has no row, so that it can't be known. */
  add(digest: string): boolean {
    const parsed = this.#stage.pages.get(digest);
    if (parsed === undefined) return this.#digests.has(digest);
    const { items, said, pieces, isKnown } = parsed;
    if (isKnown && this.#anew === null) this.#digests.add(digest);
    else {
      const rows = items.count > 0 && said !== null ? rangesOf(this.#rowsOf(items)) : null;
      if (rows === null || said === null) this.#digests.delete(digest);
      else this.#note(digest, { rows, run: this.#stage.context.runId, said, pieces });
    }
    return this.#digests.has(digest);
  }

  #note(digest: string, { rows, run, said, pieces }: KnownPage): void {
    this.#digests.add(digest);
    const { resource } = this.#stage.context.list;
    const { buffer } =
      this.#anew === null ? new Uint16Array(said) : said.map(each => this.#newNumberOf(each));
    const row = { run, rows: JSON.stringify(rows), said: Buffer.from(buffer), pieces };
    const check = pageCheck(resource, this.#by, digest, row);
    this.#put.run({ resource, digest: Buffer.from(digest, 'hex'), ...row, check });
  }

  /** The new number of what a record says. */
  #newNumberOf(saying: number): number {
    const known = this.#newNumbers.get(saying);
    if (known !== undefined) return known;
    const number = this.#anew?.enter(this.#stage.names.mentionsOf(saying), Number.NaN) ?? 0;
    this.#newNumbers.set(saying, number);
    return number;
  }

  /** Removes the rows of all other pages. Returns what the state of the list has of the notes. */
  end() {
    const { context, names } = this.#stage;
    const { sqlite, list } = context;
    const all = 'SELECT lower(hex(digest)) FROM _known_pages WHERE resource = ?';
    const remove = sqlite.prepare('DELETE FROM _known_pages WHERE resource = ? AND digest = ?');
    for (const digest of sqlite.prepare<[string], string>(all).pluck().all(list.resource))
      if (!this.#digests.has(digest)) remove.run(list.resource, Buffer.from(digest, 'hex'));
    const { entries, sayings } = this.#anew ?? names;
    const pages: NotedPages = { by: this.#by, count: this.#digests.size };
    return { names: entries, sayings, pages };
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
