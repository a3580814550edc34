import { listOf } from '../../src/contract/lists.ts';
import type { PageSource } from '../../src/contract/page.ts';
import { CancelledError, MirrorAlteredError, ServiceError } from '../../src/errors.ts';
import { readPage } from '../../src/service/page.ts';
import { verifyMirror } from '../../src/store/verify/verify.ts';
import { SqliteMirror } from '../../src/store/write/mirror.ts';
import { exitCodeOf, type RunSummary, runSync } from '../../src/sync/run.ts';
import type { ListObserver } from '../../src/sync/task.ts';
import type { Answer, Ask } from './answers.ts';
import { type ListName, listNames } from './scenario.ts';

// Only this file of the simulation uses the program. The others read the mirror's public tables by plain SQL.

/** The words that claim that a list is complete. */
export const claims: readonly string[] = ['proven'];

/** One run, as the simulation wants it. */
export interface RunWish {
  readonly path: string;
  readonly lists: readonly ListName[];
  readonly pageSize: number | null;
  readonly concurrency: number;
  readonly isIncremental: boolean;
  readonly isGuarded: boolean;
  /** How much of the history is kept; null: all of it. */
  readonly keepHours: number | null;
  /** The service: answers one request, or rejects with what nobody foresaw, or with the signal's reason. */
  readonly ask: (ask: Ask, signal: AbortSignal) => Promise<Answer>;
  /** Called at each reading of the clock; can throw. */
  readonly clock: () => Date;
  /** Called once a run has rebuilt the mirror, before it reads any list. */
  readonly rebuilt: () => void;
  /** Called at each event that the run reports to its observer; can throw. */
  readonly event: () => void;
  readonly signal: AbortSignal;
}

/** How one list ended, by the run's own words: of a list's outcome what the oracle looks at. */
export interface ListReport {
  readonly resource: ListName;
  readonly status: string;
  readonly completeness: string | null;
  readonly inserted: number;
  readonly updated: number;
  readonly removed: number;
  readonly rejected: number;
  readonly removalsWithheld: number;
  readonly undecided: number;
  readonly requests: number;
  readonly reason: string | null;
  readonly error: { readonly message: string } | null;
}

/** How a run ended; if it threw, `error` is what it threw and there are no lists. */
export interface RunReport {
  readonly exitCode: number | null;
  readonly status: string | null;
  readonly lists: readonly ListReport[];
  readonly error: unknown;
  /** True if docmirror refused the mirror, because another program had altered it; it was then rebuilt. */
  readonly wasRefused: boolean;
}

const hourMs = 60 * 60 * 1000;

/** Runs once over the lists of a mirror; if docmirror refuses it, because another program altered it, once more to rebuild it. */
export async function runOnce(wish: RunWish): Promise<RunReport> {
  const report = await tryOnce(wish, false);
  if (!(report.error instanceof MirrorAlteredError)) return report;
  return { ...(await tryOnce(wish, true)), wasRefused: true };
}

async function tryOnce(wish: RunWish, mayRebuild: boolean): Promise<RunReport> {
  let mirror: SqliteMirror | null = null;
  try {
    const { pageSize, event, clock, signal } = wish;
    mirror = SqliteMirror.open(wish.path, { signal, mayRebuild });
    const begin = mirror.beginRun.bind(mirror);
    mirror.beginRun = async start => {
      const begun = await begin(start);
      if (begun.rowsDropped !== null) wish.rebuilt();
      return begun;
    };
    const summary = await runSync(
      {
        lists: listNames.filter(name => wish.lists.includes(name)).map(listOf),
        trigger: 'manual',
        docmirrorVersion: 'simulation',
        pageSize,
        deleteLimit: { shareMax: 0.5, allowAny: !wish.isGuarded },
        pagesMax: 1_000_000,
        fullEveryMs: wish.isIncremental ? 24 * hourMs : 0,
        isAfresh: false,
        saveEveryMs: 0,
        keepHistoryMs: wish.keepHours === null ? null : wish.keepHours * hourMs,
      },
      { source: sourceOf(wish), mirror, clock, observer: observerOf(event), signal },
    );
    return reportOf(summary, signal);
  } catch (error) {
    return { exitCode: null, status: null, lists: [], error, wasRefused: false };
  } finally {
    mirror?.close();
  }
}

/** Makes an empty mirror. */
export function makeEmpty(path: string): void {
  SqliteMirror.open(path, new AbortController()).close();
}

/** The differences that an audit of the mirror finds, in words. */
export async function differencesIn(path: string): Promise<string[]> {
  const { differences } = await verifyMirror(path, { limit: 5, signal: new AbortController().signal });
  return differences.map(({ table, id, what }) => `${table} ${id}: ${what}`);
}

/** The error that stops a run. */
export function cancelled(): Error {
  return new CancelledError('SIGTERM');
}

function reportOf(summary: RunSummary, signal: AbortSignal): RunReport {
  return {
    exitCode: exitCodeOf(summary, signal),
    status: summary.status,
    lists: summary.resources,
    error: null,
    wasRefused: false,
  };
}

function observerOf(event: () => void): ListObserver {
  return {
    listStarted: event,
    readingStarted: event,
    pageDone: event,
    readAgain: event,
    listEnded: event,
  };
}

function sourceOf({ ask, concurrency }: RunWish): PageSource {
  const traffic = { requests: 0, retries: 0, bytes: 0, waitedMs: 0 };
  return {
    baseUrl: 'https://simulated.example',
    concurrency,
    traffic,
    async getPage({ resource }, { readItems, ...request }, signal) {
      traffic.requests++;
      const answer = await ask({ list: resource, ...request }, signal);
      if (answer.kind !== 'page') throw errorOf(answer.kind);
      const bytes = Buffer.from(answer.body);
      traffic.bytes += bytes.length;
      return readPage(bytes, '', readItems);
    },
  };
}

function errorOf(kind: Exclude<Answer['kind'], 'page'>): ServiceError {
  if (kind === 'missing')
    return new ServiceError('not_found', 'there is no page at this address', { retryable: false });
  if (kind === 'refused')
    return new ServiceError('refused', 'such pages are too large', { retryable: false });
  if (kind === 'cut') return new ServiceError('invalid_response', 'the body was cut', { retryable: true });
  return new ServiceError('server_error', 'the service is down', { retryable: true });
}
