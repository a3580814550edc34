import { printable, printableInOneLine } from '../printable.ts';
import { count, counted } from './numbers.ts';
import type { OutputOf } from './outputs/outputs.ts';
import { linesOf, renderTable } from './table.ts';

/** A mirror that was audited, and compared with checkpoints. */
export type Audited = Omit<OutputOf['verify'], 'ok' | 'live'>;

/** The result of comparing the mirror with the service. */
export type LiveResult = NonNullable<OutputOf['verify']['live']>;

/** A record that differs between the mirror and the service. */
export type LiveDifference = LiveResult['differences'][number];

/** A checkpoint that a mirror was compared with. */
export type ShownCheckpoint = NonNullable<Audited['checkpoints']>[number];

/**
 * Whether a checkpoint is no evidence: its signature is false or by another key, or it is not a checkpoint. That counts
 * as a difference.
 */
export function isRefused({ signature }: ShownCheckpoint): boolean {
  return signature === 'forged' || signature === 'absent';
}

/** An audit for people: what was checked, then each difference on a line. */
export function verificationText(audited: Audited, width: number): string {
  const { path, lists, differences, differenceCount, checkpoints = [], otherObjects } = audited;
  const { prunedBefore, rebuiltAfterRunId, erasedCount } = audited;
  const rows = lists.map(({ resource, recordCount, runId, checksum }) => {
    return [resource, count(recordCount), String(runId ?? '–'), checksum];
  });
  const rest = `${counted(audited.connectionCount, 'connection')}, ${counted(audited.versionCount, 'version')} in the history, ${counted(audited.runCount, 'run')}`;
  const refusedCount = checkpoints.filter(isRefused).length;
  const notRecomputed = 'what runs changed up to then was not recomputed';
  const said = [
    differenceCount === 0 && `${path} is sound: ${rest}.`,
    differenceCount > refusedCount &&
      `${path} is NOT as docmirror wrote it: ${counted(differenceCount, 'difference')}.`,
    differenceCount > 0 &&
      differenceCount === refusedCount &&
      `No difference was found in ${path}, but not every checkpoint can be relied on: ${rest}.`,
    prunedBefore !== null && `Versions that ended before ${prunedBefore} were deleted: ${notRecomputed}.`,
    rebuiltAfterRunId !== null && `The mirror was rebuilt after run ${rebuiltAfterRunId}: ${notRecomputed}.`,
    erasedCount > 0 && `Erased, so that only the content is left: ${counted(erasedCount, 'text')}.`,
    otherObjects.length > 0 &&
      `Not made by docmirror, and left alone: ${otherObjects.map(({ type, name }) => `${type} ${name}`).join(', ')}.`,
    ...checkpoints.flatMap(each => each.notes),
  ];
  const lines = differences.map(({ table, id, what, severity }) => {
    const where = [table ?? 'file', ...(id === null ? [] : [id])].join(' ');
    return `  ${where}: ${printableInOneLine(what)} [${severity}]`;
  });
  const table = renderTable(['List', 'Records', 'Run', 'Checksum'], rows, width);
  return `${rows.length === 0 ? '' : `${table}\n`}${found(said, lines, differenceCount - differences.length)}`;
}

const kinds = { missing: 'missing from the mirror', extra: 'not at the service', different: 'different' };

/** A comparison with the service for people. */
export function liveText({ isProven, notes, differences, differenceCount }: LiveResult): string {
  const whole = isProven
    ? 'The mirror is what the service lists, record for record.'
    : 'No difference from the service was found, but not all of it could be compared.';
  const verdict =
    differenceCount > 0
      ? `The mirror is not what the service lists: ${counted(differenceCount, 'difference')}.`
      : whole;
  const lines = differences.flatMap(({ kind, resource, key, fields }) => [
    `  ${resource} ${key}: ${kinds[kind]}`,
    ...fields.map(({ field, mirror, service }) => {
      const [here, there] = [JSON.stringify(mirror), JSON.stringify(service)];
      const hidden = here === there ? ', in a part that is not shown' : '';
      return `    ${field}: ${here} in the mirror, ${there} at the service${hidden}`;
    }),
  ]);
  return found([verdict, ...notes], lines, differenceCount - differences.length);
}

function found(said: readonly (string | false)[], lines: readonly string[], hidden: number): string {
  const more = hidden > 0 && `  … and ${count(hidden)} more; --limit shows them`;
  return linesOf([...said, ...lines, more].map(line => line && printable(line)));
}

/** The output of `verify --json`. */
export function verifyOutputOf(audited: Audited, live: LiveResult | null): OutputOf['verify'] {
  const isLive = live === null || (live.differenceCount === 0 && live.isProven);
  return { ok: audited.differenceCount === 0 && isLive, ...audited, live };
}
