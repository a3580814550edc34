import { contentBytes } from '../../contract/sum.ts';
import type { UnshownRow } from '../../proof/reading.ts';
import type { ParsedPage } from './known-pages.ts';
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

/** When answers have shown a content: the numbers of the first and the last of them, and how many pages have it. */
interface Moments {
  first: number;
  last: number;
  pages: number;
}

/** A row or, if `n` is set, a staged record. */
type Version =
  | { readonly row: number; readonly n?: undefined }
  | { readonly n: number; readonly row?: undefined };

/**
 * Finds the records of a list without ids that are new versions of known ones: a record keeps its row while its identity is the same.
 * A new version replaces a version that no answer has shown. It also replaces one that was shown only in earlier answers: that record
 * was edited while the list was read.
 *
 * @param total the greatest total that an answer stated.
 * @param isFull whether the whole list was read; otherwise nothing is said of rows that were not shown.
 */
export function diffOf(stage: Stage, total: number, isFull: boolean): Diff {
  const unshown = isFull ? stage.unshown() : [];
  const none = { edits: [], used: new Map<number, number>(), dropped: [], unshown };
  if (stage.isOfIds || stage.stagedSum.count === 0) return none;
  const hasDoubles = stage.seenCount > total;
  const pairs = candidates(stage, unshown, hasDoubles);
  if (pairs.size === 0) return none;

  const moments = momentsOf(stage, pairs);
  const momentOf = (version: Version) => moments.get(nameOf(version));
  const used = new Map<number, number>();
  const takenRows = new Set<number>();
  const edits: { row: number; n: number }[] = [];
  const dropped: number[] = [];
  const copies = (n: number) => (stage.copies.get(n - 1) ?? 1) - (used.get(n) ?? 0);
  const take = (n: number) => used.set(n, (used.get(n) ?? 0) + 1);
  const isFree = (version: Version) =>
    version.n === undefined ? !takenRows.has(version.row) : copies(version.n) > 0;
  const newest = [...pairs.keys()].sort(
    (a, b) => (momentOf({ n: b })?.first ?? 0) - (momentOf({ n: a })?.first ?? 0),
  );
  for (const n of newest) {
    const others = pairs.get(n) as Version[];
    while (copies(n) > 0) {
      // Each of several pages can show another one of identical records.
      const isReplaced = (older: Version) =>
        older.row !== undefined && !stage.shown.has(older.row) && (momentOf(older)?.pages ?? 0) <= 1;
      const givesWay = (older: Version) => {
        const [before, now] = [momentOf(older), momentOf({ n })];
        return before !== undefined && now !== undefined && before.last < now.first; // guard: two versions in one run
      };
      const older =
        others.find(each => isFree(each) && isReplaced(each)) ??
        others.find(each => isFree(each) && givesWay(each));
      if (older === undefined) break;
      if (older.n !== undefined) {
        dropped.push(older.n);
        take(older.n);
        break;
      }
      edits.push({ row: older.row, n });
      takenRows.add(older.row);
      take(n);
    }
  }
  return { edits, used, dropped, unshown: unshown.filter(({ id }) => !takenRows.has(id)) };
}

/** For each staged record the other versions with its identity. */
function candidates(
  stage: Stage,
  unshown: readonly UnshownRow[],
  hasDoubles: boolean,
): Map<number, Version[]> {
  const { sqlite, sql } = stage;
  const pairs = new Map<number, Version[]>();
  const add = (n: number, version: Version) => {
    const known = pairs.get(n);
    if (known === undefined) pairs.set(n, [version]);
    else known.push(version);
  };
  const found = (text: string) => sqlite.prepare<[], [number, number]>(text).raw().all();
  if (hasDoubles || stage.stagedSum.count <= fewStaged || unshown.length === 0) {
    for (const [row, n] of found(sql.edits)) add(n, { row });
    if (hasDoubles) for (const [older, n] of found(sql.versions)) add(n, { n: older });
  } else if (unshown.length > 0) {
    // By hand: a TEMP table.
    sqlite.exec('DELETE FROM temp.unshown');
    // By hand: a table-valued function.
    const insert = sqlite.prepare('INSERT INTO temp.unshown SELECT value FROM json_each(?)');
    insert.run(JSON.stringify(unshown.map(({ id }) => id)));
    for (const [row, n] of found(sql.editsOfUnshown)) add(n, { row });
  }
  return pairs;
}

function nameOf({ row, n }: Version): string {
  return n === undefined ? `row ${row}` : `n ${n}`;
}

/** The answers that have shown the versions. */
function momentsOf(
  stage: Stage,
  pairs: ReadonlyMap<number, readonly Version[]>,
): ReadonlyMap<string, Moments> {
  const names = new Map<string, string[]>();
  const words = new Set<number>();
  const seek = (version: Version) => {
    const content =
      version.n === undefined ? stage.table.read(version.row).content : stage.contentOf(version.n);
    const bytes = Buffer.from(content, 'hex');
    words.add(bytes.readUInt32LE());
    const sought = names.get(bytes.toString('latin1'));
    if (sought === undefined) names.set(bytes.toString('latin1'), [nameOf(version)]);
    else if (!sought.includes(nameOf(version))) sought.push(nameOf(version));
  };
  for (const [n, others] of pairs) for (const version of [{ n }, ...others]) seek(version);
  const moments = new Map<string, Moments>();
  for (const page of stage.pages.values()) {
    const { buffer, byteOffset, byteLength } = page.items.contents;
    const contents = Buffer.from(buffer, byteOffset, byteLength);
    for (let offset = 0; offset < byteLength; offset += contentBytes) {
      // A text for each of a million contents would cost more than everything else here.
      if (!words.has(contents.readUInt32LE(offset))) continue;
      for (const name of names.get(contents.toString('latin1', offset, offset + contentBytes)) ?? [])
        enter(moments, name, page);
    }
  }
  return moments;
}

function enter(moments: Map<string, Moments>, name: string, { first, last }: ParsedPage): void {
  const known = moments.get(name);
  if (known === undefined) moments.set(name, { first, last, pages: 1 });
  else {
    known.first = Math.min(known.first, first);
    known.last = Math.max(known.last, last);
    known.pages++;
  }
}
