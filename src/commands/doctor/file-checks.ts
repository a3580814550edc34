import { accessSync, constants, existsSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { codeOf, DocmirrorError, exitCodes } from '../../errors.ts';
import { bytesText, counted, duration } from '../../render/numbers.ts';
import { assertLockOrNone, isHeld, lockPath } from '../../store/file/lock-file.ts';
import { fileBehind } from '../../store/file/mirror-path.ts';
import { privateFileMode } from '../../store/file/private-file.ts';
import { readersOf } from '../../store/file/readers-of.ts';
import { explainSqliteError } from '../../store/file/sqlite-errors.ts';
import { unfinishedIn } from '../../store/file/unfinished.ts';
import { assertNotAltered, lookAtMirror } from './mirror-probes.ts';
import { failed, ok, skipped, type Verdict, warning } from './verdict.ts';

/** With less free space than this no run gets through, in bytes. */
const freeBytesMin = 256 * 1024;
/** The space that a run leaves free, in bytes. */
const freeBytesLow = 1024 * 1024 * 1024;

/** In this order. */
export const fileChecks = ['folder', 'rights', 'readers', 'free space', 'leftovers', 'lock', 'mirror'];

/** Looks at the mirror's place, and at the mirror itself. */
export async function* checkFiles(database: string, signal: AbortSignal): AsyncGenerator<Verdict> {
  let path: string;
  try {
    path = resolve(fileBehind(database));
  } catch (error) {
    yield failedBy('folder', explainSqliteError(error, database));
    yield* fileChecks.slice(1).map(check => skipped(check, 'there is no place for the mirror'));
    return;
  }
  const folder = dirname(path);
  yield ok('folder', folder);
  yield checkRights(path, folder);
  yield checkReaders(path);
  yield checkSpace(folder);
  yield checkLeftovers(path, folder);
  yield checkLock(path);
  yield await checkMirror(path, signal);
}

function checkRights(path: string, folder: string): Verdict {
  const { R_OK, W_OK, X_OK } = constants;
  const wanted: [path: string, mode: number][] = [
    [folder, W_OK | X_OK],
    ...[path, `${path}.lock`]
      .flatMap(each => [each, `${each}-wal`, `${each}-shm`])
      .filter(existsSync)
      .map((each): [string, number] => [each, R_OK | W_OK]),
  ];
  const denied = wanted.flatMap(([each, mode]) => {
    const code = denial(each, mode);
    return code === null ? [] : [`${each} (${code})`];
  });
  if (denied.length === 0) return ok('rights', 'the folder and the files can be read and written');
  const todo = 'Give the user who runs docmirror the right to read and write there, or name another place.';
  return failed('rights', `can't be read and written: ${denied.join(', ')}`, todo, exitCodes.failed);
}

/** The system's code if this user is not allowed to use a file or a folder in that way; null if they are. */
export function denial(path: string, mode: number): string | null {
  try {
    accessSync(path, mode);
    return null;
  } catch (error) {
    return codeOf(error) ?? 'no reason given';
  }
}

/** The records in a mirror are for its owner: others have the share. */
function checkReaders(path: string): Verdict {
  if (!existsSync(path)) return ok('readers', 'a new mirror can be read by its owner alone (0600)');
  const { readers, mode, closedFolder } = readersOf(path, privateFileMode);
  if (readers === 'its owner alone') {
    const why = closedFolder === null ? '' : `; ${closedFolder} keeps others out`;
    return ok('readers', `its owner alone can read the mirror (${mode}${why})`);
  }
  const whom = readers === 'everybody' ? 'every user of this machine' : 'its group';
  const todo = `chmod 600 ${path}. To let others read the records, make a share: docmirror share FILE`;
  return warning('readers', `${whom} can read the mirror (${mode})`, todo);
}

/** Files that a killed backup, share or export left, and the copies from before an upgrade, which docmirror never removes. */
function checkLeftovers(path: string, folder: string): Verdict {
  if (denial(folder, constants.R_OK) !== null) return skipped('leftovers', `${folder} can't be listed`);
  const left = unfinishedIn(folder);
  if (left.length > 0) {
    const names = left.map(
      each => `${each.path} (${bytesText(each.bytes)}, ${duration(Math.max(0, each.ageMs))} old)`,
    );
    const todo = 'If no backup, share or export is running, remove it. docmirror removes it after a day.';
    return warning('leftovers', `not finished: ${names.join(', ')}`, todo);
  }
  const copies = readdirSync(folder).filter(name => name.startsWith(`${basename(path)}.before-`));
  if (copies.length === 0) return ok('leftovers', 'none');
  const bytes = copies.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  return ok('leftovers', `none but ${copies.join(', ')} (${bytesText(bytes)}), from before an upgrade`);
}

function checkSpace(folder: string): Verdict {
  const { bavail, bsize } = statfsSync(folder);
  const found = `${bytesText(bavail * bsize)} free`;
  const todo = 'Free some room, or name another place by DOCMIRROR_DATABASE.';
  if (bavail * bsize < freeBytesMin) return failed('free space', found, todo, exitCodes.failed);
  return bavail * bsize < freeBytesLow ? warning('free space', found, todo) : ok('free space', found);
}

function checkLock(path: string): Verdict {
  try {
    assertLockOrNone(lockPath(path));
    if (!isHeld(path)) return ok('lock', 'no run is using the mirror');
  } catch (error) {
    return failedBy('lock', error);
  }
  return failed('lock', 'a run is using the mirror', 'Wait until it is done, or stop it.', exitCodes.busy);
}

async function checkMirror(path: string, signal: AbortSignal): Promise<Verdict> {
  try {
    const mirror = await lookAtMirror(path, signal);
    if (mirror === null) return ok('mirror', `there is none at ${path} yet; the first run makes it`);
    if ('upgradesFrom' in mirror) {
      const found = `${path} was made by docmirror ${mirror.upgradesFrom}`;
      return warning(
        'mirror',
        found,
        '"docmirror upgrade" copies it, and then brings it up to date; so does the next run.',
      );
    }
    const { audit } = mirror;
    const damage = audit.differences.find(({ table, severity }) => table === null && severity === 'content');
    const first = damage ?? audit.differences[0];
    if (first === undefined) {
      const records = audit.lists.reduce((sum, { recordCount }) => sum + recordCount, 0);
      const holds = `${counted(records, 'record')}, ${counted(audit.runCount, 'run')}`;
      return ok('mirror', `${path} is sound: ${holds}`);
    }
    const found = `${path} is not as docmirror wrote it: ${first.what}`;
    if (damage === undefined) {
      await assertNotAltered(path, signal);
      // A run goes on with a history or a record of runs that someone has changed.
      return warning('mirror', found, '"docmirror verify" names all differences.');
    }
    const todo = 'Restore it from a backup, or move it away and sync again.';
    return failed('mirror', found, todo, exitCodes.failed);
  } catch (error) {
    signal.throwIfAborted();
    return failedBy('mirror', error);
  }
}

function failedBy(check: string, error: unknown): Verdict {
  const found = error instanceof Error ? error.message : String(error);
  if (!(error instanceof DocmirrorError)) return failed(check, found, null, exitCodes.failed, 'internal');
  return failed(check, found, null, error.exitCode, error.code);
}
