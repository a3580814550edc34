import type { Difference, Verification } from '../contract/results.ts';
import { printable, printableInOneLine } from '../printable.ts';
import { shownEndpoint, withoutAddressSecrets } from './endpoint.ts';
import { count, counted } from './numbers.ts';
import type { OutputOf } from './outputs/outputs.ts';
import { renderTable } from './table.ts';

/** A record that differs between the mirror and the service. */
export type LiveDifference = NonNullable<OutputOf['verify']['live']>['differences'][number];

/** The result of comparing the mirror with the service; `isProven` if every list was proven. */
export interface LiveResult extends NonNullable<OutputOf['verify']['live']> {
  /** False if no list could be read. */
  readonly isCompared: boolean;
}

/** A checkpoint that a mirror was compared with. */
export type ShownCheckpoint = NonNullable<OutputOf['verify']['checkpoints']>[number];

type Shown = Verification & { readonly checkpoints?: readonly ShownCheckpoint[] };

/**
 * Whether a checkpoint is no evidence: its signature is false or by another key, or it is not a checkpoint. That counts
 * as a difference.
 */
export function isRefused({ signature }: ShownCheckpoint): boolean {
  return signature === 'forged' || signature === 'absent';
}

/** An audit for people: what was checked, then each difference on a line. */
export function verificationText(verification: Shown, width = Number.POSITIVE_INFINITY): string {
  const { path, lists, connectionCount, versionCount, runCount, prunedBefore, otherObjects } = verification;
  const { differences, differenceCount, checkpoints = [], rebuiltAfterRunId, erasedCount } = verification;
  const rows = lists.map(({ resource, recordCount, runId, checksum }) => {
    return [resource, count(recordCount), String(runId ?? '–'), checksum];
  });
  const columns = ['List', 'Records', 'Run', 'Checksum'];
  const table = rows.length === 0 ? '' : `${renderTable(columns, rows, width)}\n`;
  const rest = `${counted(connectionCount, 'connection')}, ${counted(versionCount, 'version')} in the history, ${counted(runCount, 'run')}`;
  const notRecomputed = 'what runs changed up to then was not recomputed';
  const notes: string[] = [];
  if (prunedBefore !== null)
    notes.push(`Versions that ended before ${prunedBefore} were deleted: ${notRecomputed}.`);
  if (rebuiltAfterRunId !== null)
    notes.push(`The mirror was rebuilt after run ${rebuiltAfterRunId}: ${notRecomputed}.`);
  if (erasedCount > 0)
    notes.push(`Erased, so that only the content is left: ${counted(erasedCount, 'text')}.`);
  const others = otherObjects.map(({ type, name }) => `${type} ${name}`).join(', ');
  if (others !== '') notes.push(`Not made by docmirror, and left alone: ${others}.`);
  notes.push(...checkpoints.flatMap(each => each.notes));
  const verdict =
    differenceCount === 0
      ? `${path} is sound: ${rest}.`
      : differenceCount === checkpoints.filter(isRefused).length
        ? `No difference was found in ${path}, but not every checkpoint can be relied on: ${rest}.`
        : `${path} is NOT as docmirror wrote it: ${counted(differenceCount, 'difference')}.`;
  return linesOf(
    [verdict, ...notes].map(printable),
    differences.map(differenceLine),
    differenceCount - differences.length,
    table,
  );
}

/** A comparison with the service for people. */
export function liveText({ isProven, isCompared, notes, differences, differenceCount }: LiveResult): string {
  const verdict =
    differenceCount > 0
      ? `The mirror is not what the service lists: ${counted(differenceCount, 'difference')}.`
      : isProven
        ? 'The mirror is what the service lists, record for record.'
        : isCompared
          ? 'No difference from the service was found, but not all of it could be compared.'
          : 'Nothing could be compared with the service.';
  const said = [verdict, ...notes.map(printable)];
  return linesOf(said, differences.flatMap(liveLines), differenceCount - differences.length);
}

/** The output of `verify --json`. */
export function verifyOutputOf(verification: Shown, live: LiveResult | null): OutputOf['verify'] {
  const ok =
    verification.differenceCount === 0 && (live === null || (live.differenceCount === 0 && live.isProven));
  if (live === null) return { ok, ...verification, live };
  const { isProven, notes, differenceCount, differences } = live;
  return { ok, ...verification, live: { isProven, notes, differenceCount, differences } };
}

function differenceLine({ table, id, what, severity }: Difference): string {
  const where = [table ?? 'file', ...(id === null ? [] : [id])].join(' ');
  const kind = severity === 'shortcut' ? 'shortcut: it only saves work' : severity;
  return `  ${printableInOneLine(`${where}: ${what} [${kind}]`)}`;
}

const kinds = { missing: 'missing from the mirror', extra: 'not at the service', different: 'different' };

function liveLines({ kind, resource, key, fields }: LiveDifference): string[] {
  const lines = fields.map(({ field, mirror, service }) => {
    const [here, there] = [JSON.stringify(mirror), JSON.stringify(service)];
    const hidden = here === there ? ', in a part that is not shown' : '';
    return `    ${field}: ${here} in the mirror, ${there} at the service${hidden}`;
  });
  return [`  ${resource} ${key}: ${kinds[kind]}`, ...lines].map(printable);
}

/** A difference that people and programs can see. */
export function withoutSecretsIn(difference: LiveDifference): LiveDifference {
  const fields = difference.fields.map(({ field, mirror, service }) => {
    const clean = (value: unknown) => {
      if (typeof value !== 'string') return value;
      return field === 'endpoint' ? shownEndpoint(value) : withoutAddressSecrets(value);
    };
    return { field, mirror: clean(mirror), service: clean(service) };
  });
  return { ...difference, fields };
}

function linesOf(
  said: readonly string[],
  differences: readonly string[],
  hidden: number,
  table = '',
): string {
  const more = hidden > 0 ? [`  … and ${count(hidden)} more; --limit shows them`] : [];
  return `${table}${[...said, ...differences, ...more].join('\n')}\n`;
}
