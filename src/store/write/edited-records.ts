import { identityOf } from '../../contract/record-key.ts';
import { contentBytes } from '../../contract/sum.ts';
import type { ListTable, NewRecord } from '../tables/list-table.ts';
import { IdSet } from './id-set.ts';
import type { ListReading, ShownPage } from './list-reading.ts';
import type { ListRows } from './list-rows.ts';
import type { UnshownRows } from './unshown-rows.ts';

/** When answers of the run have shown a content: the numbers of the first and the last of them, and their pages. */
interface Moments {
  first: number;
  last: number;
  readonly pages: Set<object>;
}

interface Version {
  readonly row: number;
  readonly record: NewRecord;
  readonly isNew: boolean;
  readonly moments: Moments | null;
}

/**
 * Finds the records of a list without ids that are new versions of known ones, and gives them the rows of these. A record keeps its
 * row while its identity is the same.
 *
 * A new version replaces a version that no answer has shown. It also replaces one that was shown only in earlier answers and never
 * on the same page: that record was edited while the list was read.
 *
 * @returns how many rows were given to new versions.
 */
export function settleEdits(
  table: ListTable,
  rows: ListRows,
  reading: ListReading,
  unshown: UnshownRows,
  runId: number,
): number {
  if (table.list.identity.by === 'id' || rows.writer.counts.inserted === 0) return 0;
  rows.buildIndexes();
  const groups = groupsOf(table, runId);
  if (groups.size === 0) return 0;
  const unshownIds = new IdSet();
  for (const { id } of unshown.all()) unshownIds.add(id);
  const moments = momentsOf(groups, reading);
  const gone = new Set<number>();
  let settled = 0;
  for (const group of groups.values()) {
    const versions = group.map(version => ({ ...version, moments: moments.get(nameOf(version)) ?? null }));
    for (const [older, newer] of pairsOf(versions, row => unshownIds.has(row))) {
      if (older.isNew) {
        rows.writer.remove(older.row);
        reading.takeBack(older.record.content);
        reading.replaceNewest(older.row, newer.row);
        gone.add(older.row);
      } else {
        rows.writer.remove(newer.row);
        rows.writer.update(older.row, newer.record);
        if (reading.isShown(older.row)) reading.takeBack(older.record.content);
        else {
          reading.takeBack(newer.record.content);
          reading.startSum.add(older.record.content);
          reading.show(older.row, newer.record.content);
        }
        reading.replaceNewest(newer.row, older.row);
        gone.add(newer.row);
      }
      settled++;
    }
  }
  unshown.forget(gone);
  return settled;
}

type Groups = Map<string, Omit<Version, 'moments'>[]>;

/** Groups of records with the same identity, of which one is new and one is not, or two are new. */
function groupsOf(table: ListTable, runId: number): Groups {
  const groups: Groups = new Map();
  const times = new Map<unknown, NewRecord>();
  for (const row of table.insertedBy(runId)) {
    const record = { ...row.record, content: Buffer.from(row.content, 'hex') };
    const identity = identityOf(table.list, record);
    const version = { row: row.id, record, isNew: true };
    const group = groups.get(identity);
    if (group === undefined) groups.set(identity, [version]);
    else group.push(version);
    times.set(table.timeOf(record), record);
  }
  // The time is part of the identity, and has an index.
  for (const record of times.values()) {
    for (const row of table.rowsAtTimeOf(record)) {
      const group = row.firstSeenRunId === runId ? undefined : groups.get(identityOf(table.list, row.record));
      if (group === undefined) continue;
      group.push({
        row: row.id,
        record: { ...row.record, content: Buffer.from(row.content, 'hex') },
        isNew: false,
      });
    }
  }
  for (const [identity, group] of groups) if (group.length < 2) groups.delete(identity);
  return groups;
}

function nameOf({ record }: Pick<Version, 'record'>): string {
  return record.content.toString('latin1');
}

/** The answers and pages that have shown the contents of the groups. */
function momentsOf(groups: Groups, reading: ListReading): ReadonlyMap<string, Moments> {
  const names = new Set<string>();
  const words = new Set<number>();
  for (const group of groups.values()) {
    for (const version of group) {
      names.add(nameOf(version));
      words.add(version.record.content.readUInt32LE());
    }
  }
  const moments = new Map<string, Moments>();
  for (const page of reading.pages.values()) {
    const { buffer, byteOffset, byteLength } = page.items.contents;
    const contents = Buffer.from(buffer, byteOffset, byteLength);
    for (let at = 0; at < page.items.keys.length; at++) {
      // A text for each of a million contents would cost more than everything else here.
      if (!words.has(contents.readUInt32LE(at * contentBytes))) continue;
      const name = contents.toString('latin1', at * contentBytes, (at + 1) * contentBytes);
      if (names.has(name)) enter(moments, name, page);
    }
  }
  return moments;
}

function enter(moments: Map<string, Moments>, name: string, page: ShownPage): void {
  const known = moments.get(name);
  if (known === undefined) {
    moments.set(name, { first: page.first, last: page.last, pages: new Set([page]) });
    return;
  }
  known.first = Math.min(known.first, page.first);
  known.last = Math.max(known.last, page.last);
  known.pages.add(page);
}

/** Pairs of a version and its replacement; each version is in one pair at most. */
function* pairsOf(
  versions: readonly Version[],
  isUnshown: (row: number) => boolean,
): Generator<readonly [older: Version, newer: Version]> {
  const taken = new Set<Version>();
  const newest = versions
    .filter(({ isNew }) => isNew)
    .sort((a, b) => (b.moments?.first ?? 0) - (a.moments?.first ?? 0));
  for (const newer of newest) {
    if (taken.has(newer)) continue;
    const isFree = (older: Version) => older !== newer && !taken.has(older);
    const older =
      versions.find(version => isFree(version) && isUnshown(version.row) && !isOnPages(version)) ??
      versions.find(version => isFree(version) && givesWay(version, newer));
    if (older === undefined) continue;
    taken.add(older);
    taken.add(newer);
    yield [older, newer];
  }
}

/** Whether several pages show the content of an unshown row: each can show another one of identical records. */
function isOnPages({ moments }: Version): boolean {
  return moments !== null && moments.pages.size > 1;
}

/** Whether all answers that have shown a version came before all answers that have shown another one, and no page shows both. */
function givesWay({ moments: older }: Version, { moments: newer }: Version): boolean {
  if (older === null || newer === null) return false;
  return older.last < newer.first && [...older.pages].every(page => !newer.pages.has(page)); // guard: two versions in one run
}
