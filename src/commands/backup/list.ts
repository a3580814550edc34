import { existsSync, statSync } from 'node:fs';
import { exitCodes, UsageError } from '../../errors.ts';
import { ageMs, isFresh } from '../../freshness.ts';
import { printable } from '../../printable.ts';
import { bytesText, duration } from '../../render/numbers.ts';
import { renderTable } from '../../render/table.ts';
import { type ListedBackup, listBackups } from '../../store/backup/backup-list.ts';
import type { Context, Shown } from '../command.ts';

/**
 * Lists the backups in a folder. The exit code is 4 if the newest of a mirror is too old or not what its manifest says.
 *
 * @param maxAgeMs the greatest age that the newest backup of a mirror can have, in milliseconds; null for any age.
 */
export async function listFolder(folder: string, maxAgeMs: number | null, context: Context): Promise<Shown> {
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw new UsageError(`--list: there is no folder ${folder}.`);
  const backups = await listBackups(folder, context.signal);
  const nowMs = context.clock().getTime();
  const stateOf = ({ isNewest, isSound, at, manifest }: ListedBackup): string => {
    if (!isNewest) return '';
    if (isSound === false) return 'altered';
    if (maxAgeMs !== null && !isFresh(at, nowMs, maxAgeMs)) return 'too old';
    return manifest === null ? 'no manifest' : 'ok';
  };
  const isBad = backups.some(backup => ['altered', 'too old'].includes(stateOf(backup)));
  if (isBad || (maxAgeMs !== null && backups.length === 0)) context.exitCode = exitCodes.difference;
  const shown = backups.map(({ manifest, ...backup }) => ({
    ...manifest,
    ...backup,
    ageMs: ageMs(backup.at, nowMs),
    state: stateOf({ manifest, ...backup }) || null,
  }));
  return { output: { backups: shown }, text: width => listText(backups, stateOf, nowMs, width) };
}

function listText(
  backups: readonly ListedBackup[],
  stateOf: (backup: ListedBackup) => string,
  nowMs: number,
  width: number,
): string {
  if (backups.length === 0) return 'There is no backup here.\n';
  return renderTable(
    ['Backup', 'Service', { right: 'Run' }, { right: 'Age' }, { right: 'Size' }, 'Newest'],
    backups.map(backup => [
      printable(backup.path),
      printable(backup.baseUrl ?? '–'),
      backup.manifest === null ? '–' : String(backup.manifest.runId),
      ageText(backup.at, nowMs),
      bytesText(backup.bytes),
      stateOf(backup),
    ]),
    width,
  );
}

function ageText(at: string, nowMs: number): string {
  const age = ageMs(at, nowMs);
  return age === null ? 'in the future' : duration(age);
}
