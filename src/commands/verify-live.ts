import type { Config, ServiceConfig } from '../config/resolve.ts';
import { lists } from '../contract/lists.ts';
import type { ListOutcome } from '../contract/run.ts';
import { exitCodes } from '../errors.ts';
import { counted } from '../render/numbers.ts';
import type { LiveResult } from '../render/verification.ts';
import { differenceOf, type LiveDifference } from '../store/verify/live-differences.ts';
import type { RecordChange } from '../store/write/list-context.ts';
import { SqliteMirror } from '../store/write/mirror.ts';
import { exitCodeOf, runSync } from '../sync/run.ts';
import { version } from '../version.ts';
import type { Context } from './command.ts';
import type { Logger } from './logging.ts';
import { showProgress } from './progress.ts';
import { assertIsMirrorOf, openService } from './run-once.ts';
import { whenFree } from './when-free.ts';

/** Compares the mirror with the service, record for record: a dry run of `sync` whose changes are reported as differences. */
export async function verifyLive(
  options: { config: Config; service: ServiceConfig; limit: number; logger: Logger },
  context: Context,
): Promise<LiveResult & { readonly exitCode: number }> {
  const { config, service, limit, logger } = options;
  assertIsMirrorOf(config.database, service.baseUrl);
  const differences: LiveDifference[] = [];
  let differenceCount = 0;
  const { signal } = context;
  const observer = showProgress(context, logger);
  const source = await openService(service, config, { secrets: context.secrets, signal, logger, observer });
  const add = (change: RecordChange) => {
    differenceCount++;
    if (differences.length < limit) differences.push(differenceOf(change));
  };
  // A dry run writes and rolls back, which would make a concurrent sync fail. So it waits for the lock.
  const mirror = await whenFree(config.waitMs, signal, () =>
    SqliteMirror.openDry(config.database, add, { signal }),
  );
  try {
    const summary = await runSync(
      {
        lists,
        trigger: 'manual',
        docmirrorVersion: version,
        pageSize: config.pageSize,
        removals: { shareMax: 1, allowAny: true },
        pagesMax: config.maxPages,
        fullEveryMs: 0,
      },
      { source, mirror, clock: () => new Date(), observer, signal },
    );
    signal.throwIfAborted();
    return {
      isProven: summary.resources.every(isProven),
      isCompared: summary.resources.some(({ error }) => error === null),
      notes: summary.resources.flatMap(notesOn),
      differenceCount,
      differences,
      exitCode: differenceCount > 0 ? exitCodes.difference : exitCodeOf(summary, signal),
    };
  } finally {
    observer.close();
    mirror.close();
    await source.close();
  }
}

function isProven({ completeness, rejected, error }: ListOutcome): boolean {
  return completeness === 'proven' && rejected === 0 && error === null;
}

function notesOn({ resource, error, completeness, reason, rejected }: ListOutcome): string[] {
  if (error !== null) return [`${resource} could not be compared: ${error.message}`];
  return [
    ...(completeness === 'proven'
      ? []
      : [`${resource}: the readings proved nothing, so differences might come from that: ${reason}`]),
    ...(rejected === 0
      ? []
      : [`${resource}: ${counted(rejected, 'record')} could not be read, so not all was compared.`]),
  ];
}
