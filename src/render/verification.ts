import { printable, printableInOneLine } from '../printable.ts';
import { count, counted } from './numbers.ts';
import type { OutputOf } from './outputs.ts';
import { linesOf, renderTable } from './table.ts';
import type { Toned } from './tones.ts';

/** A mirror that was audited and, if it was asked for, compared with checkpoints and with the service. */
export type Verified = OutputOf['verify'];

/** The result of comparing the mirror with the service. */
export type LiveResult = NonNullable<Verified['live']>;

/** Whether a checkpoint is no evidence, which counts as a difference: its signature is false or another's, or it is no checkpoint. */
export function isRefused({ signature }: NonNullable<Verified['checkpoints']>[number]): boolean {
  return signature === 'forged' || signature === 'absent';
}

/** An audit and its verdict. */
export function verifiedOf(audited: Omit<Verified, 'ok' | 'live'>, live: LiveResult | null): Verified {
  const isLive = live === null || (live.differenceCount === 0 && live.isProven);
  return { ok: audited.differenceCount === 0 && isLive, ...audited, live };
}

/** An audit for people: what was checked, then each difference on a line. */
export function verificationText(verified: Verified, width: number): string {
  const { path, lists, differences, differenceCount, checkpoints = [], otherObjects, live } = verified;
  const { prunedBefore, prunedKept, rebuiltAfterRunId, erasedCount, restored } = verified;
  const rows = lists.map(({ resource, recordCount, runId, checksum }) => {
    return [resource, count(recordCount), String(runId ?? '–'), checksum];
  });
  const rest = `${counted(verified.connectionCount, 'connection')}, ${counted(verified.versionCount, 'version')} in the history, ${counted(verified.runCount, 'run')}`;
  const isSound = differenceCount === 0;
  const isAltered = differenceCount > checkpoints.filter(isRefused).length;
  const notRecomputed = 'what runs changed up to then was not recomputed';
  const objects = otherObjects.map(({ type, name }) => `${type} ${name}`).join(', ');
  const said = [
    isSound && `${path} ${sound} ${rest}.`,
    isAltered && `${path} ${altered} ${counted(differenceCount, 'difference')}.`,
    !isSound &&
      !isAltered &&
      `No difference was found in ${path}, but not every checkpoint can be relied on: ${rest}.`,
    prunedBefore && `Versions that ended before ${prunedBefore} were deleted: ${notRecomputed}.`,
    (prunedKept === 'sum' || prunedKept === 'nothing') &&
      'An older docmirror deleted them. Its receipt is weaker: rows that were moved to another run since are not found.',
    rebuiltAfterRunId && `The mirror was rebuilt after run ${rebuiltAfterRunId}: ${notRecomputed}.`,
    erasedCount > 0 && `Erased, so that only the content is left: ${counted(erasedCount, 'text')}.`,
    objects && `Not made by docmirror, and left alone: ${objects}.`,
    ...checkpoints.flatMap(each => each.notes),
    ...restored.map(
      ({ file, at, actor, fromRunId }) =>
        `${file}: It is from before a restore, and fits receipts that this left behind: at ${at}, ${actor || 'somebody'} put a backup as of run ${fromRunId} in the mirror's place.`,
    ),
    ...differences.map(({ table, id, what, severity }) => {
      const where = [table ?? 'file', id ?? []].flat().join(' ');
      return `  ${where}: ${printableInOneLine(what)} [${severity}]`;
    }),
    moreText(differenceCount - differences.length),
  ];
  const table = rows.length > 0 && renderTable(['List', 'Records', 'Run', 'Checksum'], rows, width);
  const parts = [table, shownLines(said), live && shownLines(liveLines(live))];
  return parts.filter(Boolean).join('\n');
}

const sound = 'is sound:';
const altered = 'is NOT as docmirror wrote it:';

/** Its verdict, if it has one. */
export function verificationTones({ path }: Verified): Toned[] {
  const begin = printable(path);
  return [
    { words: `${begin} ${sound}`, tone: 'good' },
    { words: `${begin} ${altered}`, tone: 'bad' },
  ];
}

const kinds = { missing: 'missing from the mirror', extra: 'not at the service', different: 'different' };

function liveLines({ isProven, notes, differences, differenceCount }: LiveResult) {
  const isSame = differenceCount === 0;
  return [
    !isSame && `The mirror is not what the service lists: ${counted(differenceCount, 'difference')}.`,
    isSame && isProven && 'The mirror is what the service lists, record for record.',
    isSame && !isProven && 'No difference from the service was found, but not all of it could be compared.',
    ...notes,
    ...differences.flatMap(({ kind, resource, key, fields }) => [
      `  ${resource} ${key}: ${kinds[kind]}`,
      ...fields.map(({ field, mirror, service }) => {
        const [here, there] = [JSON.stringify(mirror), JSON.stringify(service)];
        const hidden = here === there ? ', in a part that is not shown' : '';
        return `    ${field}: ${here} in the mirror, ${there} at the service${hidden}`;
      }),
    ]),
    moreText(differenceCount - differences.length),
  ];
}

function moreText(hidden: number) {
  return hidden > 0 && `  … and ${count(hidden)} more; --limit shows them`;
}

function shownLines(lines: readonly (string | number | false | null)[]): string {
  return linesOf(lines.map(line => (line ? printable(`${line}`) : null)));
}
