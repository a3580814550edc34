// Plays every small list whose records are edited, edited back, removed, doubled and written in another way by a second node, between any
// answers, against `reconcileVersions`. The oracle counts records.

import {
  ofRow,
  ofText,
  type RecordNo,
  type ShownRecords,
  showing,
  type VersionNo,
} from '../../../src/proof/page-items.ts';
import type { KnownRow, ReconciledRecord } from '../../../src/proof/reconcile.ts';
import { Choices } from './choices.ts';
import type * as Core from './core.ts';
import type { Count } from './every-world.ts';

interface Listed {
  readonly identity: RecordNo;
  readonly version: VersionNo;
  /** The version before, for an edit that is taken back. */
  readonly before: VersionNo | null;
}

/** How far worlds of `reconcileVersions` alone go. */
export interface SettleBound {
  readonly name: string;
  readonly lists: readonly (readonly (readonly [identity: number, version: number])[])[];
  readonly answers: number;
  readonly changesMax: number;
  /** Whether a second node can answer, which writes all records in another way. */
  readonly hasTwoNodes: boolean;
  /** Whether mirrors with an older text, or with more rows of an identity, are played, too. */
  readonly hasMirror: boolean;
  /** Whether records have ids: one that is twice in the list is one row. */
  readonly hasIds?: boolean;
}

interface SettleAnswer extends ShownRecords {
  readonly list: readonly Listed[];
  readonly from: number;
  readonly to: number;
}

const ofNode = 1000;

/**
 * Plays every world of `reconcileVersions` alone within a bound.
 *
 * @param isFirstEnough whether to stop when something is wrong.
 */
export function playSettle(core: typeof Core, bound: SettleBound, isFirstEnough = false): Count {
  const count: Count = { worlds: 0, claims: new Map(), wrong: new Map(), smallest: new Map() };
  for (const list of bound.lists) {
    const choices = new Choices();
    do {
      const story: string[] = [];
      const found = playOne(core, bound, list, choices, story);
      count.worlds++;
      for (const what of found) {
        count.wrong.set(what, (count.wrong.get(what) ?? 0) + 1);
        const known = count.smallest.get(what);
        if (known === undefined || known.length > story.length) count.smallest.set(what, story);
      }
      if (isFirstEnough && found.length > 0) return count;
    } while (choices.advance());
  }
  return count;
}

function playOne(
  core: typeof Core,
  bound: SettleBound,
  first: SettleBound['lists'][number],
  choices: Choices,
  story: string[],
): string[] {
  let list: Listed[] = first.map(([identity, version]) => ({
    identity: ofRow(identity),
    version: ofText(version),
    before: null,
  }));
  let left = bound.changesMax;
  let next = 100;
  const identities = [...new Set(list.map(({ identity }) => identity))];
  const rows = mirrorOf(list, identities, bound.hasMirror ? choices.next(4) : 0);
  const moments = [list];
  const answers: SettleAnswer[] = [];
  for (let count = 0; count < bound.answers; count++) {
    while (left > 0) {
      const changes = changesOf(list, next);
      const chosen = choices.next(changes.length + 1);
      if (chosen === 0) break;
      list = changes[chosen - 1] as Listed[];
      moments.push(list);
      left--;
      next += 10;
    }
    const pieces: [number, number][] = [];
    for (let from = 0; from < list.length; from++)
      for (let to = from + 1; to <= list.length; to++) pieces.push([from, to]);
    if (pieces.length === 0) continue;
    const [from, to] = pieces[choices.next(pieces.length)] as [number, number];
    const node = bound.hasTwoNodes ? choices.next(2) : 0;
    const shown = list.slice(from, to);
    story.push(`${said(list)}: ${from} to ${to} by node ${node}`);
    answers.push({
      ...showing(
        shown.map(({ identity, version }) => ({
          record: identity,
          version: ofText(version + node * ofNode),
        })),
      ),
      list,
      from,
      to,
    });
  }
  story.push(`rows ${JSON.stringify([...rows])}`);
  const { hasIds = false } = bound;
  const settled = core.reconcileVersions(
    answers,
    new Set(identities),
    identity => rows.get(identity) ?? [],
    hasIds,
  );
  return identities.flatMap(identity => {
    const its = settled.get(identity);
    if (!hasIds) return judge(identity, its, rows.get(identity) ?? [], moments, answers);
    const count = its === undefined ? 0 : its.kept.length + its.edited.length + its.added.length;
    return count > 1 ? ['an id has two rows'] : [];
  });
}

function judge(
  identity: RecordNo,
  settled: ReconciledRecord | undefined,
  rows: readonly KnownRow[],
  moments: readonly Listed[][],
  answers: readonly SettleAnswer[],
): string[] {
  const found: string[] = [];
  const countIn = (list: readonly Listed[]) => list.filter(each => each.identity === identity).length;
  const showing = answers.filter(({ records }) => records.includes(identity));
  if (settled === undefined) return showing.length > 0 ? ['shown, but not settled'] : [];
  const { kept, edited, added, absent } = settled;
  const versions = [...kept.map(each => each.version), ...edited.map(each => each.version), ...added];
  const most = Math.max(...moments.map(countIn));
  if (versions.length > most) found.push('more rows than records at any moment');
  // An answer has them all if its piece of the list has all that are listed then.
  const isWhole = ({ list, from, to }: SettleAnswer) => countIn(list) === countIn(list.slice(from, to));
  const throughout = Math.min(...moments.map(countIn));
  if (answers.some(each => isWhole(each) && showing.includes(each)) && versions.length < throughout)
    found.push('lost');
  const of = (answer: SettleAnswer) =>
    [...answer.versions].filter((_, at) => answer.records[at] === identity);
  const newest = showing.at(-1) as SettleAnswer;
  if (most === 1 && versions[0] !== of(newest)[0]) found.push('not the newest version');
  // If the newest answer with this identity has all of it, and as many as there ever were, it counts.
  if (
    isWhole(newest) &&
    countIn(newest.list) === most &&
    versions.toSorted().join() !== of(newest).toSorted().join()
  )
    found.push('not what the newest answer shows');
  const all = [...kept, ...edited, ...absent].map(({ row }) => row).toSorted();
  if (
    all.join() !==
    rows
      .map(({ row }) => row)
      .toSorted()
      .join()
  )
    found.push('a row has no decision, or two');
  if (added.length > 0 && absent.length > 0) found.push('a row goes, and one comes');
  const versionOf = new Map(rows.map(({ row, version }) => [row, version]));
  if (kept.some(({ row, version }) => versionOf.get(row) !== version))
    found.push('kept, but another version');
  const after = edited.filter(({ row }) => versions.includes(versionOf.get(row) as VersionNo));
  const due = (version: number) => versions.filter(each => each === version).length;
  if (
    after.some(
      ({ row }) =>
        kept.filter(each => each.version === versionOf.get(row)).length < due(versionOf.get(row) as number),
    )
  )
    found.push('a row is edited although it is listed as it is');
  return found;
}

/** No rows; those that are listed; the same with an older text; or one row more of each identity, as 0.4.0 could leave it. */
function mirrorOf(
  list: readonly Listed[],
  identities: readonly RecordNo[],
  kind: number,
): Map<RecordNo, KnownRow[]> {
  const rows = new Map<RecordNo, KnownRow[]>();
  if (kind === 0) return rows;
  for (const identity of identities) {
    const own = list.filter(each => each.identity === identity);
    const known = own.map(({ version }, at) => ({
      row: identity * 10 + at,
      version: kind === 2 ? ofText(version + 500) : version,
    }));
    if (kind === 3) known.push({ row: identity * 10 + 9, version: ofText(600) });
    rows.set(identity, known);
  }
  return rows;
}

function changesOf(list: readonly Listed[], next: number): Listed[][] {
  return list.flatMap((record, at) => {
    const { identity, version, before } = record;
    const made = [
      list.toSpliced(at, 1, { identity, version: ofText(next + at), before: version }),
      list.toSpliced(at, 1),
      // A twin, the same in every field or not.
      list.toSpliced(at, 0, { ...record, before: null }),
      list.toSpliced(at, 0, { identity, version: ofText(next + at), before: null }),
    ];
    if (before !== null) made.push(list.toSpliced(at, 1, { identity, version: before, before: version }));
    const other = list[at + 1];
    // Records of one time can change places.
    if (other !== undefined && Math.floor(other.identity / 2) === Math.floor(identity / 2))
      made.push(list.toSpliced(at, 2, other, record));
    return made;
  });
}

const said = (list: readonly Listed[]) =>
  list.map(({ identity, version }) => `${identity}.${version}`).join(' ');

// Identities 2 and 3 share a time; 4 has another one.
const lists: SettleBound['lists'] = [
  '2.1',
  '2.1 4.2',
  '2.1 2.1',
  '2.1 2.2 4.3',
  '2.1 3.2 4.3',
  '2.1 3.2 2.3',
].map(text => text.split(' ').map(record => record.split('.').map(Number) as [number, number]));

const two = { lists, answers: 2, hasTwoNodes: false, hasMirror: true };

/** The bounds of `reconcileVersions`, the short one first. */
export const settleBounds: readonly SettleBound[] = [
  { ...two, name: 'two answers, one change, any mirror', changesMax: 1 },
  { ...two, name: 'ids, two answers, one change', changesMax: 1, hasIds: true, hasMirror: false },
  { ...two, name: 'two answers, two changes, any mirror', changesMax: 2 },
  {
    name: 'three answers, one change, two nodes',
    lists,
    answers: 3,
    changesMax: 1,
    hasTwoNodes: true,
    hasMirror: false,
  },
  {
    name: 'three answers, two changes, a record or two that are the same',
    lists: lists.filter((_, at) => at === 0 || at === 2),
    answers: 3,
    changesMax: 2,
    hasTwoNodes: false,
    hasMirror: false,
  },
  {
    name: 'two answers, two nodes, any mirror',
    lists,
    answers: 2,
    changesMax: 1,
    hasTwoNodes: true,
    hasMirror: true,
  },
  {
    name: 'four answers, two changes, one record',
    lists: lists.slice(0, 1),
    answers: 4,
    changesMax: 2,
    hasTwoNodes: false,
    hasMirror: false,
  },
];
