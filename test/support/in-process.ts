import { existsSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { listOf } from '../../src/contract/lists.ts';
import type { PageSource } from '../../src/contract/page.ts';
import { Secrets } from '../../src/service/secrets.ts';
import { Service, type ServiceOptions } from '../../src/service/service.ts';
import type { ListOutcome } from '../../src/store/tables/run.ts';
import type { ListContext } from '../../src/store/write/mirror.ts';
import { SqliteMirror } from '../../src/store/write/mirror.ts';
import { exitCodeOf, type RunSummary, runSync } from '../../src/sync/run.ts';
import type { ListOptions } from '../../src/sync/task.ts';
import { sqlite, type TemporaryFolder, temporaryFolder } from './run-cli.ts';

// Runs without a process, ten times as fast: for tests that are not about the command line.

const silence = () => undefined;
const silent = {
  listStarted: silence,
  readingStarted: silence,
  pageDone: silence,
  readAgain: silence,
  listEnded: silence,
};

export interface InProcessOptions {
  readonly resources?: readonly string[];
  readonly pageSize?: number | null;
  readonly signal?: AbortSignal;
  /** From 0 to 1. Any number of records can be removed if it is left out. */
  readonly maxRemovals?: number;
  /** In milliseconds. Every sync is full if it is left out. */
  readonly fullEveryMs?: number;
  readonly isAfresh?: boolean;
  readonly saveEveryMs?: number;
  /** In milliseconds; all is kept when it is left out. */
  readonly keepHistoryMs?: number;
  /** As the setting; every field counts if it is left out. */
  readonly ignoreFields?: NonNullable<ListOptions['ignoreFields']>;
  /** The time of the machine's clock; it is right if it is left out. */
  readonly now?: Date;
  /** As `sync --rebuild`; an altered mirror is refused when it is left out. */
  readonly mayRebuild?: boolean;
  /** Called with each list that is opened, so that a test can make it fail. */
  readonly onList?: (list: ListContext) => void;
}

/** Opens a mirror, makes one run over it, and closes it. */
export async function run(
  path: string,
  source: PageSource,
  options: InProcessOptions = {},
): Promise<RunSummary> {
  const signal = options.signal ?? new AbortController().signal;
  const mirror = SqliteMirror.open(path, { signal, mayRebuild: options.mayRebuild === true });
  const openList = mirror.openList.bind(mirror);
  mirror.openList = async (...order) => {
    const list = await openList(...order);
    options.onList?.(list);
    return list;
  };
  try {
    return await runSync(
      {
        lists: (options.resources ?? ['document-exports', 'collections', 'webhooks']).map(listOf),
        trigger: 'manual',
        docmirrorVersion: 'test',
        pageSize: options.pageSize ?? null,
        deleteLimit: { shareMax: options.maxRemovals ?? 1, allowAny: options.maxRemovals === undefined },
        pagesMax: 1_000_000,
        fullEveryMs: options.fullEveryMs ?? 0,
        isAfresh: options.isAfresh ?? false,
        saveEveryMs: options.saveEveryMs ?? 0,
        keepHistoryMs: options.keepHistoryMs ?? null,
        ignoreFields: options.ignoreFields ?? {},
      },
      { source, mirror, clock: () => options.now ?? new Date(), observer: silent, signal },
    );
  } finally {
    mirror.close();
  }
}

/** One run over the document exports of a MovingList. */
export async function sync(
  path: string,
  source: PageSource & { readonly pageSize: number },
): Promise<ListOutcome> {
  const { pageSize } = source;
  const options = { resources: ['document-exports'], pageSize };
  return (await run(path, source, options)).resources[0] as ListOutcome;
}

/** The document exports, or collections, of a mirror, sorted, as `labelOf` of a MovingList writes them. */
export function stored(
  path: string,
  list: 'document-exports' | 'collections' = 'document-exports',
): string[] {
  const [id, title] =
    list === 'collections' ? ['id', 'name'] : ['source_document_reference', 'source_document_title'];
  const rows = sqlite(path, `SELECT ${id} || ' ' || ${title} AS label FROM ${list.replace('-', '_')}`);
  return rows.map(row => row.label as string).sort();
}

/** How a run over a scene ended: as `scene.sync` says it. */
export interface InProcessSynced {
  /** The exit code that the command line would give. */
  readonly code: number;
  readonly status: string;
  readonly summary: RunSummary;
  of(resource: string): ListOutcome;
}

/** A service and the path of its mirror. */
interface Pair {
  readonly service: { readonly url: string; readonly options: { readonly token: string } };
  readonly database: string;
}

/** One run over a scene's service into its mirror, over real HTTP, with the command line's defaults but in full syncs. */
export async function syncScene(
  { service, database }: Pair,
  options: InProcessOptions & { allowMassRemoval?: boolean } & Partial<ServiceOptions> = {},
): Promise<InProcessSynced> {
  const source = new Service({
    baseUrl: service.url,
    readToken: async () => service.options.token,
    secrets: new Secrets(),
    // Other tests of the file can keep this process busy for seconds.
    timeoutMs: 30_000,
    giveUpAfterMs: 10_000,
    concurrency: 4,
    userAgent: 'docmirror-test',
    retryDelayMs: 2,
    ...options,
  });
  try {
    const { maxRemovals = 0.5, ...rest } = options;
    const guard = options.allowMassRemoval ? {} : { maxRemovals };
    const summary = await run(database, source, { ...rest, ...guard });
    return {
      code: exitCodeOf(summary, new AbortController().signal),
      status: summary.status,
      summary,
      of: resource => summary.resources.find(outcome => outcome.resource === resource) as ListOutcome,
    };
  } finally {
    await source.close();
  }
}

/** Waits until another process writes to the mirror in a transaction that lasts, or `over` is settled. */
export async function amidApply(path: string, over: Promise<unknown>): Promise<void> {
  const watcher = new Database(path, { timeout: 0 });
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  over.then(end, end);
  try {
    for (let busy = 0; busy < 3 && !isOver; await wait(2)) busy = isLocked(watcher) ? busy + 1 : 0;
  } finally {
    watcher.close();
  }
}

function isLocked(watcher: Database.Database): boolean {
  try {
    watcher.exec('BEGIN IMMEDIATE; ROLLBACK');
    return false;
  } catch {
    return true;
  }
}

/** A folder in memory if the machine has one: for many short runs whose survival of a power cut is not the point. */
export function memoryFolder(): TemporaryFolder {
  return temporaryFolder(existsSync('/dev/shm') ? '/dev/shm' : undefined);
}
