import { identityOf } from '../../contract/record-key.ts';
import { contentBytes } from '../../contract/sum.ts';
import type { UnshownRow } from '../../proof/reading.ts';
import type { Stage } from './stage.ts';

/** How the staged records of a list become rows. */
export interface Diff {
  /** Rows that get a new version; in a list with ids none is named here, because the id says it. */
  readonly edits: readonly { readonly row: number; readonly n: number }[];
  /** How many copies of a staged record are not inserted, because they replace a row or were replaced themselves. */
  readonly used: ReadonlyMap<number, number>;
  /** Staged records that a newer version replaced within the run; each once a copy. */
  readonly dropped: readonly number[];
  /** The rows that no answer has shown and that no new version replaces. */
  readonly unshown: readonly UnshownRow[];
}

/** Records of the run beyond which versions of one record within the run are searched for only if more were shown than are listed. */
const fewStaged = 10_000;

/** When answers have shown a content: the numbers of the first and the last of them, and how many places of pages have it. */
interface Moments {
  first: number;
  last: number;
  places: number;
}

/** A version of a staged record: a row or, if `n` is set, another staged record. */
interface Version {
  readonly row: number | null;
  readonly n: number | null;
  /** As 32 hexadecimal digits. */
  readonly content: string;
}

/**
 * Finds the records of a list without ids that are new versions of known ones: a record keeps its row while its identity is the same.
 * A new version replaces a version that no answer has shown. It also replaces one that was shown only in earlier answers: that record
 * was edited while the list was read.
 *
 * @param total the greatest total that an answer stated.
 * @param isFull whether the whole list was read; otherwise nothing is said of rows that were not shown.
 */
export function diffOf(stage: Stage, total: number, isFull: boolean): Diff {
  const unshown = isFull ? unshownRows(stage) : [];
  const used = new Map<number, number>();
  const edits: { row: number; n: number }[] = [];
  const dropped: number[] = [];
  const none = { edits, used, dropped, unshown };
  if (stage.isOfIds || stage.stagedSum.count === 0) return none;
  const pairs = candidates(stage, unshown, stage.seenCount > total);
  if (pairs.size === 0) return none;

  const contents = new Map([...pairs.keys()].map(n => [n, stage.contentOf(n)]));
  const moments = momentsOf(stage, [...contents.values(), ...[...pairs.values()].flat().map(v => v.content)]);
  const momentOf = (n: number) => moments.get(contents.get(n) as string);
  const takenRows = new Set<number>();
  const copies = (n: number) => (stage.copies.get(n) ?? 1) - (used.get(n) ?? 0);
  const take = (n: number) => used.set(n, (used.get(n) ?? 0) + 1);
  // Each of several pages can show another one of identical records.
  const isReplaced = ({ row, content }: Version) =>
    row !== null && !stage.shown.has(row) && (moments.get(content)?.places ?? 0) <= 1;
  const givesWay = ({ content }: Version, n: number) => {
    const [before, now] = [moments.get(content), momentOf(n)];
    return before !== undefined && now !== undefined && before.last < now.first; // guard: two versions in one run
  };
  const newest = [...pairs.keys()].sort((a, b) => (momentOf(b)?.first ?? 0) - (momentOf(a)?.first ?? 0));
  for (const n of newest) {
    let left = copies(n);
    for (const isOlder of [isReplaced, givesWay])
      for (const version of pairs.get(n) as Version[]) {
        const { row, n: older } = version;
        const isFree = row === null ? copies(older as number) > 0 : !takenRows.has(row);
        if (left <= 0 || !isFree || !isOlder(version, n)) continue;
        if (row === null) {
          dropped.push(older as number);
          take(older as number);
          left = 0;
        } else {
          edits.push({ row, n });
          takenRows.add(row);
          take(n);
          left--;
        }
      }
  }
  return { ...none, unshown: unshown.filter(({ id }) => !takenRows.has(id)) };
}

/** For each staged record the other versions with its identity. */
function candidates(
  { sqlite, sql, stagedSum }: Stage,
  unshown: readonly UnshownRow[],
  hasDoubles: boolean,
): Map<number, Version[]> {
  let found: (Version & { readonly staged: number })[] = [];
  const find = (query: string) => {
    found = found.concat(sqlite.prepare<[], (typeof found)[0]>(query).all());
  };
  if (hasDoubles || stagedSum.count <= fewStaged) find(sql.edits);
  else if (unshown.length > 0) {
    sqlite.exec('DELETE FROM temp.unshown');
    sqlite.prepare(sql.setUnshown).run(JSON.stringify(unshown.map(({ id }) => id)));
    find(sql.editsOfUnshown);
  }
  if (hasDoubles) find(sql.versions);
  return Map.groupBy(found, ({ staged }) => staged);
}

/** The answers that have shown some contents. */
function momentsOf({ pages }: Stage, sought: readonly string[]): ReadonlyMap<string, Moments> {
  const texts = new Set(sought);
  const words = new Set(sought.map(content => Number.parseInt(content.slice(0, 8), 16)));
  const moments = new Map<string, Moments>();
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

/** The rows that no answer has shown and that get no new version by their id, in the order of their ids. */
function unshownRows({ table, sqlite, sql, isOfIds, isEmpty, shown, ids }: Stage): UnshownRow[] {
  if (isEmpty || shown.size >= table.count()) return [];
  // Ids of the service can be far apart.
  if (isOfIds || shown.size < 1000)
    return [...table.keys()].filter(({ id }) => !shown.has(id) && !ids.has(id));
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

/** Whether a row has the identity of a rejected record: nobody knows what is the matter with it. */
export function isProtected({ rejected, list, table }: Stage, row: number): boolean {
  const identities = new Set(rejected.all.map(({ identity }) => identity));
  return identities.size > 0 && identities.has(identityOf(list, table.read(row).record)); // guard: rejected records keep their rows
}
