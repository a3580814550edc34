import { identityOf } from '../../contract/record.ts';
import { contentBytes } from '../../contract/sum.ts';
import type { UnshownRow } from '../../proof/reading.ts';
import { mayRemove, type RemovalGuard } from '../../proof/removal.ts';
import type { Answer } from '../../proof/window.ts';
import type { ReadList } from './memory.ts';
import type { Stage } from './stage.ts';

/** The result of reading a list. */
export interface Result extends ReadList {
  readonly answers: readonly Answer[];
  /** Known records whose presence the run could not decide. */
  readonly undecided: number;
  readonly removals: RemovalGuard;
}

/** What a run does to a list. It is found by reading alone, and `apply` writes it. */
export type Plan = ReturnType<typeof planOf>;

/** Finds what a run does to a list that was read. */
export function planOf(stage: Stage, { proof, answers, removals }: Result) {
  const { list, sqlite, records, table, sum } = stage.context;
  const { sql, isOfIds } = stage;
  const total = answers.reduce((greatest, answer) => Math.max(greatest, answer.total), 0);
  const unshown = proof === null ? [] : unshownRows(stage);
  const versions = versionsOf(stage, proof === null || unshown.length > 0, total);
  sqlite.exec(sql.resetCopies);
  const setCopies = sqlite.prepare(sql.setCopies);
  for (const [n, count] of versions.copies) setCopies.run(count, n);

  const missing = unshown.filter(({ id }) => !versions.edits.has(id));
  const fates = new Map((proof?.rows ?? []).map(({ id, fate }) => [id, fate]));
  const gone = missing.filter(({ id }) => fates.get(id) === 'gone');
  const isAllowed = gone.length === 0 || mayGo();
  const going = new Set(isAllowed ? gone.map(({ id }) => id) : []);
  return {
    ...versions,
    gone: [...going],
    /** Unshown rows that stay. */
    stays: missing.map(({ id }) => id).filter(id => !going.has(id)),
    /** How many of them would go if the removals were not withheld, and the field of their identity that seems to be written otherwise. */
    withheld: isAllowed ? 0 : gone.length,
    changedIdentity: isAllowed ? null : changedIdentity(),
    /** A staged record gets the row of this and its number: the greatest id of the rows so far or, in a list with ids, 0. */
    base: isOfIds ? 0 : (sqlite.prepare<[], number>(sql.lastId).pluck().get() as number),
  };

  /** Whether rows that are gone can be removed: not if they are too many, or if a rejected record might be one of them. */
  function mayGo(): boolean {
    const settled = records.last('settled', list.resource);
    if (stage.rejected.hasUnreadableNew(sqlite, records.last('sure', list.resource)?.runId ?? 0))
      return false;
    // Only rows up to the last settled run count. A run that withheld removals is not settled: otherwise the next run could remove
    // them all.
    const settledRunId = settled?.runId ?? Number.POSITIVE_INFINITY;
    const counted = gone.filter(({ id }) => table.read(id).firstSeenRunId <= settledRunId).length;
    return mayRemove(counted, settled?.recordCount ?? sum.count, removals);
  }

  /** The field in which as many new records differ from those that are gone: the service seems to write it otherwise. */
  function changedIdentity(): string | null {
    const ids = JSON.stringify(gone.map(({ id }) => id));
    const isOnly = ({ query }: { query: string }) => sqlite.prepare(query).pluck().get(ids) === 1;
    return sql.changedIdentity.find(isOnly)?.name ?? null;
  }
}

/**
 * The rows that no answer has shown, and that no new version replaces. A row with the identity of a rejected record is not among them:
 * nobody knows what is the matter with it.
 *
 * @param total the greatest total that an answer stated.
 */
export function missingRows(stage: Stage, total: number): UnshownRow[] {
  const unshown = unshownRows(stage);
  const { edits } = versionsOf(stage, unshown.length > 0, total);
  const { rejected, context } = stage;
  const identities = new Set(rejected.all.map(({ identity }) => identity));
  const isProtected = (row: number) =>
    identities.size > 0 && identities.has(identityOf(context.list, context.table.read(row).record)); // guard: rejected records keep their rows
  return unshown.filter(({ id }) => !edits.has(id) && !isProtected(id));
}

/** The rows that no answer has shown and that get no new version by their id, in the order of their ids. */
function unshownRows({ context, sql, isOfIds, shown, ids }: Stage): UnshownRow[] {
  const { table, sqlite, sum } = context;
  if (sum.count === 0 || shown.size >= table.count()) return [];
  // Ids of the service can be far apart.
  if (isOfIds) return table.keys().filter(({ id }) => !shown.has(id) && !ids.has(id));
  const unshown: UnshownRow[] = [];
  const [least, most] = sqlite.prepare<[], [number, number]>(sql.idSpan).raw().get() as [number, number];
  for (let from = shown.firstMissing(least, most); from !== null; from = shown.firstMissing(from, most)) {
    let to = from;
    while (to < most && !shown.has(to + 1)) to++;
    for (const row of table.keys(from, to)) unshown.push(row);
    from = to + 1;
  }
  return unshown;
}

/** A version of a staged record. */
interface Version {
  readonly staged: number;
  /** A row or, below zero, minus the number of another staged record. */
  readonly older: number;
  /** As 32 hexadecimal digits. */
  readonly content: string;
}

/**
 * Finds the staged records that are new versions of known ones: a record keeps its row while its identity is the same. Without an id, a
 * new version replaces a version that no answer has shown. It also replaces one that was shown only in earlier answers: that record was
 * edited while the list was read.
 *
 * @param haveOlder whether there can be rows that no answer has shown.
 */
function versionsOf(stage: Stage, haveOlder: boolean, total: number) {
  const { context, sql, shown, isOfIds } = stage;
  /** Rows that get a staged record as their new version, each once. */
  const edits = new Map<number, number>();
  /** Staged records that a newer version replaced within the run; each once a copy. */
  const dropped: number[] = [];
  /** How many rows are left to insert for a staged record, if it is not one. */
  const copies = new Map(stage.copies);
  const copiesOf = (n: number) => copies.get(n) ?? 1;
  const take = (n: number) => copies.set(n, copiesOf(n) - 1);
  const all = <Row>(query: string) => context.sqlite.prepare<[], Row>(query).all();
  if (isOfIds) {
    for (const { id } of all<{ id: number }>(sql.editsOfIds)) {
      edits.set(id, id);
      take(id);
    }
    return { edits, dropped, copies };
  }
  const hasDoubles = stage.seenCount > total;
  const ofRows = hasDoubles || haveOlder ? all<Version>(sql.edits) : [];
  const found = hasDoubles ? ofRows.concat(all(sql.versions)) : ofRows;
  const versions = Map.groupBy(found, ({ staged }) => staged);
  const contents = new Map([...versions.keys()].map(n => [n, stage.contentOf(n)]));
  const moments = momentsOf(stage, [...contents.values(), ...found.map(({ content }) => content)]);
  const firstOf = (n: number) => moments.get(contents.get(n) as string)?.first ?? 0;
  // Each of several pages can show another one of identical records.
  const isReplaced = ({ older, content }: Version) =>
    older >= 0 && !shown.has(older) && (moments.get(content)?.places ?? 0) <= 1;
  const givesWay = ({ content, staged }: Version) => {
    const before = moments.get(content);
    return before !== undefined && before.last < firstOf(staged); // guard: two versions in one run
  };
  for (const n of [...versions.keys()].sort((a, b) => firstOf(b) - firstOf(a))) {
    let left = copiesOf(n);
    for (const isOlder of [isReplaced, givesWay])
      for (const version of versions.get(n) as Version[]) {
        const { older } = version;
        const isFree = older < 0 ? copiesOf(-older) > 0 : !edits.has(older);
        if (left <= 0 || !isFree || !isOlder(version)) continue;
        if (older < 0) dropped.push(-older);
        else edits.set(older, n);
        take(older < 0 ? -older : n);
        left = older < 0 ? 0 : left - 1;
      }
  }
  return { edits, dropped, copies };
}

/** When answers have shown a content: the numbers of the first and the last of them, and how many places of pages have it. */
interface Moments {
  first: number;
  last: number;
  places: number;
}

/** The answers that have shown some contents. */
function momentsOf({ pages }: Stage, sought: readonly string[]): ReadonlyMap<string, Moments> {
  const texts = new Set(sought);
  const words = new Set(sought.map(content => Number.parseInt(content.slice(0, 8), 16)));
  const moments = new Map<string, Moments>();
  if (texts.size === 0) return moments;
  for (const { items, first, last } of pages.values()) {
    const { buffer, byteOffset, byteLength } = items.contents;
    const contents = Buffer.from(buffer, byteOffset, byteLength);
    for (let at = 0; at < byteLength; at += contentBytes) {
      // A text for each of a million contents would cost more than everything else here.
      if (!words.has(contents.readUInt32BE(at))) continue;
      const content = contents.toString('hex', at, at + contentBytes);
      if (!texts.has(content)) continue;
      const known = moments.get(content) ?? { first, last, places: 0 };
      known.first = Math.min(known.first, first);
      known.last = Math.max(known.last, last);
      known.places++;
      moments.set(content, known);
    }
  }
  return moments;
}
