import { isDeepStrictEqual } from 'node:util';
import type { Config, ServiceConfig } from '../config/resolve.ts';
import { lists } from '../contract/lists.ts';
import type { ListOutcome } from '../contract/run.ts';
import { exitCodes } from '../errors.ts';
import { counted } from '../render/numbers.ts';
import type { LiveDifference, LiveResult } from '../render/verification.ts';
import type { RecordChange } from '../store/write/mirror.ts';
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
  const observer = await showProgress(context, logger);
  const source = openService(service, config, { secrets: context.secrets, signal, logger, observer });
  const add = (change: RecordChange) => {
    if (++differenceCount <= limit) differences.push(differenceOf(change));
  };
  // A dry run has the lock, so it waits for a run.
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
      isProven: summary.resources.every(
        ({ completeness, rejected, error }) => completeness === 'proven' && rejected === 0 && error === null,
      ),
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

function notesOn({ resource, error, completeness, reason, rejected }: ListOutcome): string[] {
  if (error !== null) return [`${resource} could not be compared: ${error.message}`];
  const notes: string[] = [];
  if (completeness !== 'proven')
    notes.push(`${resource}: the readings proved nothing, so differences might come from that: ${reason}`);
  if (rejected > 0)
    notes.push(`${resource}: ${counted(rejected, 'record')} could not be read, so not all was compared.`);
  return notes;
}

type Item = { readonly [name: string]: unknown };

const kinds = { insert: 'missing', update: 'different', removal: 'extra' } as const;

/** The difference between the mirror and the service in a record that a dry run would change. */
function differenceOf(change: RecordChange): LiveDifference {
  const { resource, operation, recordId, record, before } = change;
  const service: Item = JSON.parse(record);
  const mirror: Item = JSON.parse(before ?? record);
  const identity = lists.find(list => list.resource === resource)?.identity;
  const key = identity?.by === 'content' ? identity.fields.map(name => keyPart(service[name])) : [recordId];
  const names = new Set([...Object.keys(mirror), ...Object.keys(service)]);
  const fields = [...names]
    .map(field => ({ field, mirror: mirror[field] ?? null, service: service[field] ?? null }))
    .filter(pair => !isDeepStrictEqual(pair.mirror, pair.service));
  const id = operation === 'insert' ? null : recordId;
  return {
    kind: kinds[operation],
    resource: resource as LiveDifference['resource'],
    id,
    key: key.join(' · '),
    fields,
  };
}

/** A part of a key, as the service says it; the id of a connection. */
function keyPart(value: unknown): unknown {
  const shown = typeof value === 'object' && value !== null && 'id' in value ? value.id : value;
  return shown ?? '–';
}
