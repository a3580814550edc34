import { judgeForms } from './forms-oracle.ts';
import type { MirrorState, Removals, RunWords } from './mirror-rows.ts';
import { judgeRecords } from './record-oracle.ts';
import { type Contents, contentOf, type Entry, isSame, sizeOf } from './records.ts';
import { claims, type ListReport, type RunReport } from './run-real.ts';
import { type ListName, listNames } from './scenario.ts';
import type { Lifetimes, ServiceList } from './service-list.ts';
import type { World } from './world.ts';

/** The kinds of broken promises. */
export const findingKinds = [
  'lost',
  'invented',
  'kept',
  'removed-wrongly',
  'unstored',
  'mass-removal',
  'misnamed',
  'rewritten',
  'dishonest',
  'history',
  'verify',
  'not-healed',
  'broke',
  'endless',
] as const;
export type FindingKind = (typeof findingKinds)[number];

/** A broken promise. */
export interface Finding {
  readonly kind: FindingKind;
  readonly list: ListName | null;
  /** The run, counted from 1. */
  readonly run: number;
  readonly what: string;
}

/** The facts by which one run is judged. */
export interface RunFacts {
  readonly run: number;
  readonly world: World;
  readonly before: MirrorState;
  readonly after: MirrorState;
  /** Null if the process died, so that it reported nothing. */
  readonly report: RunReport | null;
  /** False if a cache or a replica gave an answer: then names can be old, and new records can come late. */
  readonly isDirect: boolean;
  /** Records that the run was shown on pages that it had asked for. */
  readonly shown: Readonly<Record<ListName, ReadonlySet<Entry>>>;
  /** True if no more than half of a list can be removed. */
  readonly isGuarded: boolean;
  /** True if another program wrote to the mirror. Until a run is sure, its rows can have contents that were never listed. */
  readonly isMeddled: boolean;
  /** True if nothing but docmirror wrote to the mirror, and the records have no fields beside the contract. */
  readonly isPure: boolean;
  /** True if one did so during this run. Then the content of the mirror cannot be judged. */
  readonly isMeddledAmid: boolean;
}

/** Compares one run of all lists with the life of every record. The service's lists must have counted since the run began. */
export function judgeRun(facts: RunFacts): Finding[] {
  const { run, world, before, after, report, shown, isDirect, isMeddled, isMeddledAmid } = facts;
  if (isMeddledAmid) return [];
  const findings = listNames.flatMap(name => {
    const words = report?.lists.find(({ resource }) => resource === name) ?? null;
    const list = world.lists[name];
    const lives = list.lifetimes();
    const complaints = judgeList(
      list,
      lives,
      before.lists[name],
      after.lists[name],
      words,
      isMeddled,
      isDirect,
    );
    if (facts.isGuarded) complaints.push(...massRemoval(after.removals[name]));
    if (words !== null && isDirect) complaints.push(...lost(lives, after.lists[name], words));
    if (!isMeddled && isDirect)
      complaints.push(...removedUnread(list, before.lists[name], after.lists[name]));
    if (facts.isPure) complaints.push(...judgeForms(list, before, after, words));
    // What was under way when a reading ended early can be lost.
    if (words !== null && words.completeness !== null && !hasEndedEarly(words))
      complaints.push(...unstored(list, lives, shown[name], after.lists[name]));
    return complaints.map(complaint => ({ ...complaint, list: name, run }));
  });
  return [...findings, ...judgeNames(facts), ...judgeWords(facts)];
}

/** A finding about one list. */
export type Complaint = Pick<Finding, 'kind' | 'what'>;

/** Whether the reading of a list ended early, and what it had read was written: the next run can go on with it. */
export function hasEndedEarly({
  status,
  completeness,
}: Pick<ListReport, 'status' | 'completeness'>): boolean {
  return completeness === 'unproven' && (status === 'failed' || status === 'cancelled');
}

function judgeList(
  list: ServiceList,
  lives: Lifetimes,
  before: Contents,
  after: Contents,
  words: ListReport | null,
  isMeddled: boolean,
  isDirect: boolean,
): Complaint[] {
  const claimsAll = claims.includes(words?.completeness ?? '');
  const isExact = claimsAll && words?.removalsWithheld === 0 && words.rejected === 0;
  const isDecided = claimsAll && isDirect;
  const findings = removedWrongly(list, lives, before, after, isDecided);
  if (isExact || !isMeddled) findings.push(...invented(list, after));
  if (isExact || !isMeddled) {
    // The row of one of two exports of one identity can have got the text of the other one, until the list is proven.
    const known = list.recordsIn(before);
    const rowsOf = (content: string) => known.get(list.recordOf(content)) ?? 0;
    const isSingle = (content: string) => !isAmbiguous(list, content) && rowsOf(content) < 2;
    const rows = [...after].filter(([content]) => isExact || isSingle(content));
    findings.push(...tooMany(lives, isExact ? new Map() : before, new Map(rows)));
  }
  findings.push(...judgeRecords(list, before, after, { isExact, isDecided }));
  if (words !== null) findings.push(...dishonest(words, before, after));
  return findings;
}

/** A record that left the mirror must have been absent from the service at some instant of the run. */
function removedWrongly(
  list: ServiceList,
  { least }: Lifetimes,
  before: Contents,
  after: Contents,
  isDecided: boolean,
): Complaint[] {
  const wrong = [...before].filter(
    ([content, count]) =>
      (after.get(content) ?? 0) < Math.min(count, least.get(content) ?? 0) &&
      (isDecided || !isAmbiguous(list, content)),
  );
  const what = `${wrong.length} listed throughout, known, and gone: ${wrong[0]?.[0]}`;
  return wrong.length === 0 ? [] : [{ kind: 'removed-wrongly', what }];
}

/** A known record that the run could not read is kept, unless a replica that lags does not list it. */
function removedUnread(list: ServiceList, before: Contents, after: Contents): Complaint[] {
  const content = [...list.broken.values()].find(
    each => before.has(each) && !after.has(each) && !isAmbiguous(list, each, 1),
  );
  return content === undefined
    ? []
    : [{ kind: 'removed-wrongly', what: `could not be read, and gone: ${content}` }];
}

function lost({ least }: Lifetimes, after: Contents, words: ListReport): Complaint[] {
  if (!claims.includes(words.completeness ?? '')) return [];
  const missing = [...least].filter(([content, count]) => (after.get(content) ?? 0) < count);
  const what = `${missing.length} listed throughout and not in the mirror: ${missing[0]?.[0]}`;
  return missing.length === 0 ? [] : [{ kind: 'lost', what }];
}

/** All records that were seen are stored, proven or not. */
function unstored(
  list: ServiceList,
  { least }: Lifetimes,
  shown: ReadonlySet<Entry>,
  after: Contents,
): Complaint[] {
  const contents = [...shown].map(entry => contentOf(list.name, entry) ?? '');
  const missing = contents.find(
    content => (least.get(content) ?? 0) > 0 && !after.has(content) && !isAmbiguous(list, content),
  );
  const what = `shown, listed throughout, and not in the mirror: ${missing}`;
  return missing === undefined ? [] : [{ kind: 'unstored', what }];
}

/** If two exports have one identity, a run can't know which of them is edited, unreadable or on an old replica's page. */
function isAmbiguous(list: ServiceList, content: string, unreadable = 0): boolean {
  return list.name === 'document-exports' && unreadable + list.mostOfIdentity(content) > 1;
}

/** A guarded run removes half of the rows that the last settled run had, or 20. */
function massRemoval({ gone, settledCount }: Removals): Complaint[] {
  const most = Math.max(20, Math.floor(settledCount / 2));
  return gone <= most ? [] : [{ kind: 'mass-removal', what: `${gone} of ${settledCount} rows removed` }];
}

function invented(list: ServiceList, after: Contents): Complaint[] {
  const content = [...after.keys()].find(each => !list.ever.has(each));
  return content === undefined ? [] : [{ kind: 'invented', what: `never listed: ${content}` }];
}

/** No content is stored more often than it was listed at once. Undecided rows of the mirror `known` are an exception. */
function tooMany({ most }: Lifetimes, known: Contents, after: Contents): Complaint[] {
  const mostOf = (content: string) => Math.max(most.get(content) ?? 0, known.get(content) ?? 0);
  const odd = [...after].find(([content, count]) => count > mostOf(content));
  if (odd === undefined) return [];
  const [content, count] = odd;
  const listed = mostOf(content);
  if (listed === 0) return [{ kind: 'kept', what: `kept although it was gone before the run: ${content}` }];
  return [{ kind: 'invented', what: `stored ${count} times, listed ${listed} times at once: ${content}` }];
}

/** A list's own words against each other, and against what became of the mirror. */
function dishonest(words: ListReport, before: Contents, after: Contents): Complaint[] {
  const { status, completeness, removed, rejected, removalsWithheld, undecided, reason } = words;
  const isIncremental = completeness === 'incremental';
  const claimsAll = claims.includes(completeness ?? '');
  const wrong: (string | false)[] = [
    status === 'completed' && !claimsAll && !isIncremental && `completed, but ${completeness}`,
    claimsAll &&
      status !== 'completed' &&
      rejected === 0 &&
      removalsWithheld === 0 &&
      `${completeness}, but ${status}`,
    status === 'completed' && rejected + removalsWithheld > 0 && 'completed with records left out',
    claimsAll && undecided > 0 && `${completeness} and ${undecided} undecided`,
    completeness === 'unproven' && !reason && 'unproven without a reason',
    completeness === 'unproven' && status === 'completed' && `unproven, but ${status}`,
    completeness === null && !isSame(before, after) && `${status}, but the mirror changed`,
    words.inserted - removed !== sizeOf(after) - sizeOf(before) &&
      `${words.inserted} in, ${removed} out, but the mirror went from ${sizeOf(before)} to ${sizeOf(after)}`,
  ];
  return wrong.filter(what => what !== false).map(what => ({ kind: 'dishonest', what }));
}

/** Compares the report of the run with its record, and its exit code with its lists. */
function judgeWords({ run, report, after }: RunFacts): Finding[] {
  if (report === null || report.error !== null) return [];
  const isDone = report.lists.every(({ status }) => status === 'completed');
  const findings: Finding[] = [];
  if ((report.exitCode === 0) !== isDone)
    findings.push({ kind: 'dishonest', list: null, run, what: `exit ${report.exitCode}` });
  for (const words of report.lists) {
    const row = after.words.find(({ resource }) => resource === words.resource);
    if (row === undefined || wordsOf(row) !== wordsOf(words)) {
      const what = `recorded as ${row && wordsOf(row)}, reported as ${wordsOf(words)}`;
      findings.push({ kind: 'dishonest', list: words.resource, run, what });
    }
  }
  return findings;
}

function wordsOf({ status, completeness, inserted, updated, removed }: Omit<RunWords, 'resource'>): string {
  return `${status}, ${completeness}, +${inserted} ~${updated} -${removed}`;
}

/**
 * Findings that are left after two runs over a service that is still and truthful.
 *
 * @param provable the lists that can be proven. A list with identical records in an order that is not visible cannot.
 */
export function judgeHealed(
  { run, world, after, report }: RunFacts,
  provable: readonly ListName[],
): Finding[] {
  const findings: Finding[] = [];
  const add = (list: ListName | null, what: string) => findings.push({ kind: 'not-healed', list, run, what });
  for (const name of provable) {
    const words = report?.lists.find(({ resource }) => resource === name);
    if (words?.status !== 'completed' || !claims.includes(words.completeness ?? ''))
      add(name, `${words?.status}, ${words?.completeness}: ${words?.reason ?? words?.error?.message}`);
    if (!isSame(after.lists[name], world.lists[name].now))
      add(name, 'the mirror is not what the service lists');
  }
  const wrong = wrongName(world, after);
  if (wrong !== null) add(null, wrong);
  return findings;
}

/** The names of connections must be right if all lists are proven and no name changed meanwhile. */
function judgeNames({ run, world, after, report, isDirect }: RunFacts): Finding[] {
  const isProven = (words: ListReport | undefined) =>
    claims.includes(words?.completeness ?? '') && words?.removalsWithheld === 0 && words.rejected === 0;
  const areProven = listNames.every(name =>
    isProven(report?.lists.find(({ resource }) => resource === name)),
  );
  const what = areProven && isDirect && world.isStill ? wrongName(world, after) : null;
  return what === null ? [] : [{ kind: 'misnamed', list: null, run, what }];
}

/**
 * A connection whose name is not that of the service, in words; null if there is none. If the service gives no name, the connection
 * can have the name that it had before.
 */
function wrongName(world: World, { connections }: MirrorState): string | null {
  const names = world.connectionNames();
  const ids = new Set([...names.keys(), ...connections.keys()]);
  const isRight = (id: number) =>
    names.get(id) === null ? connections.has(id) : names.get(id) === connections.get(id);
  const wrong = [...ids].find(id => !isRight(id));
  return wrong === undefined
    ? null
    : `connection ${wrong} is ${connections.get(wrong)}, the service says ${names.get(wrong)}`;
}

/** Compares earlier runs, by rows and history now, with the content of the mirror then. */
export function judgeHistory(
  stood: ReadonlyMap<number, MirrorState['lists']>,
  asOf: (runId: number) => MirrorState['lists'],
  run: number,
): Finding[] {
  const findings: Finding[] = [];
  for (const [runId, lists] of stood) {
    const now = asOf(runId);
    const list = listNames.find(name => !isSame(lists[name], now[name]));
    if (list !== undefined)
      findings.push({ kind: 'history', list, run, what: `as of run ${runId} it is not what it was` });
  }
  return findings;
}
