import { existsSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ResourceName } from '../src/contract/lists.ts';
import { listOf } from '../src/contract/lists.ts';
import { SqliteMirror } from '../src/store/mirror.ts';
import type { ListOutcome, PageSource } from '../src/sync/ports.ts';
import { type RunSummary, runSync } from '../src/sync/run.ts';
import { sqlite, type TemporaryFolder } from './run-cli.ts';

// Runs without a process and, for a MovingList, without HTTP: where the command line is not the point.

const silent = {
  listStarted() {},
  walkStarted() {},
  pageDone() {},
  walkAgain() {},
  listEnded() {},
};

export interface InProcessOptions {
  readonly resources?: readonly ResourceName[];
  readonly pageSize?: number | null;
  readonly mustProve?: boolean;
  /** In milliseconds; every sweep is full when it is left out. */
  readonly fullEveryMs?: number;
  /** From 0 to 1; any number of records may be removed when it is left out. */
  readonly maxRemovals?: number;
}

/** One run over a mirror that is opened and closed for it. */
export async function run(
  path: string,
  source: PageSource,
  options: InProcessOptions = {},
): Promise<RunSummary> {
  const mirror = SqliteMirror.open(path);
  try {
    return await runSync(
      {
        lists: (options.resources ?? ['document-exports', 'collections', 'webhooks']).map(listOf),
        trigger: 'manual',
        docmirrorVersion: 'test',
        pageSize: options.pageSize ?? null,
        removals: { shareMax: options.maxRemovals ?? 1, allowAny: options.maxRemovals === undefined },
        mustProve: options.mustProve ?? false,
        fullEveryMs: options.fullEveryMs ?? 0,
      },
      { source, mirror, clock: () => new Date(), observer: silent, signal: new AbortController().signal },
    );
  } finally {
    mirror.close();
  }
}

/** One run over the document exports alone. */
export async function sync(
  path: string,
  source: PageSource & { readonly pageSize: number },
  mustProve = false,
): Promise<ListOutcome> {
  const options = { resources: ['document-exports' as const], pageSize: source.pageSize, mustProve };
  return (await run(path, source, options)).resources[0] as ListOutcome;
}

/** The document exports of a mirror, sorted, as `labelOf` of a MovingList writes them. */
export function stored(path: string): string[] {
  const rows = sqlite(
    path,
    "SELECT source_document_reference || ' ' || source_document_title AS label FROM document_exports",
  );
  return rows.map(row => row.label as string).sort();
}

/** A folder in memory where the machine has such a place: for many short runs whose survival of a power cut is not the point. */
export function memoryFolder(): TemporaryFolder {
  const root = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const path = mkdtempSync(join(root, 'docmirror-test-'));
  return {
    path,
    async [Symbol.asyncDispose]() {
      await rm(path, { recursive: true, force: true });
    },
  };
}
