import { closeSync, existsSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { attempt, codeOf, exitCodes, MirrorFileError, RefusedFileError, UsageError } from '../../errors.ts';
import { readRestored, restoredBeside } from '../file/beside.ts';
import { lockPath, MirrorLock } from '../file/lock-file.ts';
import {
  assertNotLater,
  connect,
  fileBehind,
  isTooOld,
  isYetToMake,
  kindOf,
  mirrorToWrite,
  openMirrorForReading,
  openOfAnyShape,
  refusal,
  shapeAge,
} from '../file/open.ts';
import { privateFileMode, shareOwner } from '../file/rights.ts';
import { explainSqliteError } from '../file/sqlite-errors.ts';
import { ending, makeFolders, writing } from '../file/unfinished.ts';
import { DatabaseCopy, writeWhole } from '../file/whole-file.ts';
import { appendRestore, composeRestore } from '../receipts/left-behind.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { type Acceptance, acceptancesIn } from '../tables/accepted.ts';
import type { Sqlite } from '../tables/ask.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { type Verification, type VerifyOptions, verifyMirror } from '../verify/verify.ts';
import {
  checkpointBeside,
  type Manifest,
  manifestBeside,
  manifestOf,
  putWithManifest,
  readManifest,
  removeBackup,
  sha256Of,
  statedBy,
} from './manifest.ts';
import { type KeepRule, type Retention, rulesThatKeep } from './retention.ts';

/**
 * Copies one state of a mirror to a file, or into a folder where `keep` of its backups stay. It is audited, and only then gets its name
 * and manifest; `made` is null if there is a difference. Throws a UsageError, RefusedFileError or MirrorFileError; an existing file stays.
 */
export async function backUp(
  source: string,
  destination: string,
  keep: Retention | null,
  labels: Readonly<Record<string, string>>,
  options: VerifyOptions,
) {
  // A mirror that is refused leaves no folder behind.
  openMirrorForReading(source).close();
  const wanted = keep === null ? destinationFile(source, destination) : nameInFolder(destination, source);
  using copy = new DatabaseCopy(resolve(wanted));
  try {
    {
      using mirror = openMirrorForReading(source);
      copy.fill(mirror.sqlite);
    }
    options.signal.throwIfAborted();
    const verification = await verifyMirror(copy.unfinished, options);
    if (verification.differenceCount > 0)
      return { made: null, verification: { ...verification, path: `The copy of ${source}` } };
    const manifest = await manifestOf(copy.unfinished, labels, options.signal);
    const path = keep === null ? wanted : takeName(destination, source);
    // Until here, an older copy has its manifest and checkpoint.
    putWithManifest(path, manifest, () => {
      copy.putInPlace(path);
      rmSync(checkpointBeside(path), { force: true });
    });
    const removed = keep === null ? [] : rotate(destination, path, manifest.mirrorId, keep);
    return { made: { path, ...manifest, removed }, verification };
  } catch (error) {
    throw explainSqliteError(error, wanted);
  }
}

function destinationFile(source: string, destination: string): string {
  const path = fileBehind(destination, 'DEST');
  const refuse = (why: string) =>
    new RefusedFileError(`${destination} is ${why}. It was left as it is; name another file.`);
  const kind = kindOf(path);
  if (isTooOld(kind)) throw refusal(destination, kind);
  if (!['none', 'empty', 'mirror'].includes(kind)) throw refuse('not a backup of a mirror');
  assertOneMirror(path, source, 'name another file.');
  if (existsSync(lockPath(path)))
    throw refuse(`a mirror that runs write to: ${lockPath(path)} lies beside it`);
  if (existsSync(manifestBeside(path)) && readManifest(path) === null)
    throw refuse(`in the way: ${manifestBeside(path)} is not the manifest of a backup`);
  return path;
}

/** The most backups of one name in one second. */
const backupsPerSecondMax = 1_000;

/** The path of a new backup in a folder: the mirror's name, the time, and from the second one in a second on a number. */
function nameInFolder(folder: string, database: string, number = 1): string {
  if (existsSync(folder) && !statSync(folder).isDirectory())
    throw new UsageError(`${folder} is not a folder. With --keep the backups go into a folder.`);
  makeFolders(folder);
  const name = basename(database).replace(/\.(sqlite3?|db)$/i, '');
  const stamp = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  const suffix = number === 1 ? '' : `-${number}`;
  return join(folder, `${name}-${stamp.replaceAll(/[-:]/g, '')}${suffix}.sqlite`);
}

/** Takes a name for a new backup that no other one has, with an empty file, which the backup replaces. */
function takeName(folder: string, database: string): string {
  for (let number = 1; ; number++) {
    const path = nameInFolder(folder, database, number);
    // A name whose backup was removed is older than the others of its second.
    if (number < backupsPerSecondMax && existsSync(nameInFolder(folder, database, number + 1))) continue;
    try {
      writing(path, () => closeSync(openSync(path, 'wx', privateFileMode)));
      return path;
    } catch (error) {
      const isTaken = error instanceof Error && codeOf(error.cause) === 'EEXIST';
      if (!isTaken || number >= backupsPerSecondMax) throw error;
    }
  }
}

/** Removes the backups of a mirror from a folder that no rule keeps, but not the newest nor other files. Returns names. */
function rotate(folder: string, newest: string, mirrorId: string, keep: Retention): string[] {
  const isOwn = (path: string) => path === newest || statedBy(path).mirrorId === mirrorId;
  const own = backupsIn(folder).filter(name => isOwn(join(folder, name)));
  const rules = rulesThatKeep(own.map(timeInName), keep);
  const old = own.filter((name, at) => rules[at]?.length === 0 && join(folder, name) !== newest);
  for (const name of old) removeBackup(join(folder, name));
  return old;
}

const backupName = /-(\d{8}T\d{6}Z)(?:-([2-9]|[1-9]\d{1,3}))?\.sqlite$/;

/** The time in the name of a backup, in milliseconds since 1970. */
function timeInName(name: string): number {
  const [, stamp = ''] = backupName.exec(name) ?? [];
  return Date.parse(stamp.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

/** The rules that keep each backup in a folder, by its path; of mirrors whose backups have names as `--keep` gives them. */
export function rulesByPath(paths: readonly { path: string; mirrorId: string | null }[], keep: Retention) {
  const kept = new Map<string, readonly KeepRule[]>();
  for (const id of new Set(paths.map(({ mirrorId }) => mirrorId))) {
    const own = paths.filter(({ path, mirrorId }) => mirrorId === id && backupName.test(path));
    const sorted = own.map(({ path }) => path).sort((a, b) => timeInName(b) - timeInName(a));
    const rules = rulesThatKeep(sorted.map(timeInName), keep);
    for (const [at, path] of sorted.entries()) kept.set(path, rules[at] ?? []);
  }
  return kept;
}

/** The names of the backups in a folder, the newest first: files with names as `--keep` gives them. */
function backupsIn(folder: string): string[] {
  const timeOf = (name: string) => {
    const [, stamp = '', number = '1'] = backupName.exec(name) ?? [];
    return stamp + number.padStart(4, '0');
  };
  const names = readdirSync(folder).filter(name => backupName.test(name));
  return names.sort((a, b) => timeOf(b).localeCompare(timeOf(a)));
}

/** A backup in a folder. Without a manifest, `at` is the time of its file. */
type Found = Partial<Manifest> & Pick<Manifest, 'mirrorId' | 'at' | 'bytes'> & { readonly path: string };

/** The backups in a folder, and other copies with a manifest, by mirror, the newest first. For that one, `isSound` checks the SHA-256. */
export async function listBackups(folder: string, signal: AbortSignal) {
  const described = readdirSync(folder).flatMap(name => /^(.*)\.json$/.exec(name)?.[1] ?? []);
  const names = new Set([...backupsIn(folder), ...described]);
  const found = [...names].flatMap(name => look(join(folder, name)));
  found.sort((a, b) => b.at.localeCompare(a.at));
  const isSound = async ({ path, sha256 }: Found) => {
    if (sha256 === undefined) return null;
    const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
    return isFile && (await sha256Of(path, signal)) === sha256;
  };
  const listed: (Found & { readonly isNewest: boolean; readonly isSound: boolean | null })[] = [];
  for (const ofMirror of Map.groupBy(found, ({ mirrorId }) => mirrorId).values())
    for (const backup of ofMirror) {
      const isNewest = backup === ofMirror[0];
      listed.push({ ...backup, isNewest, isSound: isNewest ? await isSound(backup) : null });
    }
  return listed;
}

/** Nothing for a file that is no backup: another file with a name like that, or a mirror that runs write to. */
function look(path: string): Found[] {
  const manifest = readManifest(path);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (manifest !== null) return [{ ...manifest, path, bytes: stat?.size ?? manifest.bytes }];
  if (stat === undefined || existsSync(lockPath(path))) return [];
  const { mirrorId, baseUrl } = statedBy(path);
  if (mirrorId === null) return [];
  return [{ path, mirrorId, baseUrl, at: stat.mtime.toISOString(), bytes: stat.size }];
}

/** How long the copy of a mirror from before an upgrade is worth its room, in milliseconds. */
const copyKeptMs = 28 * 24 * 60 * 60 * 1000;

/** The copies that upgrades left beside a mirror, and from when they can go; none if its folder can't be read. */
export function copiesOfBefore(mirror: string) {
  const found = attempt(() => {
    const file = fileBehind(mirror);
    const isCopy = (name: string) => name.startsWith(`${basename(file)}.before-`) && !name.endsWith(ending);
    const names = readdirSync(dirname(file)).filter(isCopy);
    return names.map(name => {
      const path = join(dirname(file), name);
      const { size: bytes, mtime: at } = statSync(path);
      const canGoFrom = new Date(at.getTime() + copyKeptMs).toISOString();
      return { path, at: at.toISOString(), bytes, canGoFrom };
    });
  });
  return found ?? [];
}

interface RestoreOptions {
  verify(path: string): Promise<Verification>;
  /** The service in the settings: a backup of another one is not restored if there is no mirror yet. Null if there is none. */
  readonly baseUrl: string | null;
  readonly actor: string;
  readonly signal: AbortSignal;
}

/**
 * Puts a copy of a mirror in the mirror's place, while no run uses it, with a receipt. It is audited first, unless it has an older shape:
 * then there is no `verification`. If a difference is found, nothing changes. Throws `mirror_busy`, a UsageError, RefusedFileError or MirrorFileError.
 */
export async function restore(copy: string, target: string, options: RestoreOptions) {
  const { verify, baseUrl, actor, signal } = options;
  const path = mirrorToWrite(target);
  if (resolve(fileBehind(copy)) === resolve(path))
    throw new UsageError(`${copy} is the mirror itself. Name a backup of it.`);
  const kind = readingCopy(copy, () => kindOf(fileBehind(copy)));
  if (isTooOld(kind)) throw refusal(copy, kind);
  assertOneMirror(copy, path, 'move the mirror away first, if that is what you want.');
  const stated = statedBy(copy);
  // If there is no mirror yet, only the service shows that the backup is another tenant's.
  const other = `${copy} is a backup of the mirror of ${stated.baseUrl}, and the settings name ${baseUrl}. Nothing was restored; name another backup or, if the service has moved, set DOCMIRROR_BASE_URL to the old address for this command.`;
  if (isYetToMake(path) && baseUrl !== null && stated.baseUrl !== null && stated.baseUrl !== baseUrl)
    throw new RefusedFileError(other);
  using _lock = new MirrorLock(path);
  using file = new DatabaseCopy(path);
  try {
    const { isOlder, runId, receipts } = fill(file, copy);
    signal.throwIfAborted();
    const verification = isOlder ? null : { ...(await verify(file.unfinished)), path: copy };
    const { size: bytes } = statSync(file.unfinished);
    const restored = { path, runId, bytes, ...stated, verification, acceptances: null };
    if (verification !== null && verification.differenceCount > 0) return restored;
    const about = { at: new Date().toISOString(), actor, fromRunId: runId, isOlder };
    const { receipt, acceptances } = stateRestore(file.unfinished, path, about);
    const note = { receipts, ...(isOlder && { restore: receipt }) };
    writeWhole(restoredBeside(path), `${JSON.stringify(note)}\n`);
    shareOwner(restoredBeside(path), path);
    file.putInPlace();
    return { ...restored, acceptances };
  } catch (error) {
    throw explainSqliteError(error, path);
  }
}

/** Makes the receipt of a restore and, unless the backup is older, appends it there. `acceptances` is null if the mirror can't be read. */
function stateRestore(
  backup: string,
  mirror: string,
  { isOlder, ...about }: { at: string; actor: string; fromRunId: number; isOlder: boolean },
) {
  using file = connect(backup, {}, sqlite => {
    for (const setting of ['journal_mode = MEMORY', 'synchronous = OFF']) sqlite.pragma(setting);
  });
  const { sqlite } = file;
  const read = attempt(() => {
    using replaced = openOfAnyShape(mirror);
    const pending = readRestored(mirror)?.restore ?? null;
    const receipt = composeRestore(sqlite, { sqlite: replaced.sqlite, pending }, about);
    return { receipt, acceptances: acceptancesChanged(replaced.sqlite, sqlite) };
  });
  const stated = read ?? { receipt: composeRestore(sqlite, null, about), acceptances: null };
  if (!isOlder) appendRestore(sqlite, stated.receipt);
  return stated;
}

/** Acceptances that are in force and lost, and those that are withdrawn and come into force again. A mirror of 0.5 has none. */
function acceptancesChanged(replaced: Sqlite, backup: Sqlite): Acceptance[] {
  const [before, after] = [replaced, backup].map(sqlite => attempt(() => acceptancesIn(sqlite)) ?? []);
  return (before ?? []).filter(({ id, acceptedAt, withdrawnAt }) => {
    const same = after?.find(other => other.id === id && other.acceptedAt === acceptedAt);
    return same === undefined ? withdrawnAt === null : same.withdrawnAt !== withdrawnAt;
  });
}

function fill(file: DatabaseCopy, copy: string) {
  return readingCopy(copy, () => {
    using source = openOfAnyShape(copy);
    const { sqlite } = source;
    assertNotLater(sqlite, copy);
    file.fill(sqlite);
    const receipts = new ReceiptLog(sqlite).head()?.treeSize ?? 0;
    return { isOlder: shapeAge(sqlite) === 'older', runId: new EndedRuns(sqlite).newest() ?? 0, receipts };
  });
}

/** Does some work that reads a copy. Throws a MirrorFileError with exit code 4 if the copy is damaged. */
function readingCopy<T>(copy: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    const cause = error instanceof MirrorFileError ? error.cause : error;
    if (!codeOf(cause)?.startsWith('SQLITE_CORRUPT')) throw error;
    const message = `${copy} is damaged, so it was not restored. Name another backup.`;
    throw new MirrorFileError(message, { exitCode: exitCodes.difference });
  }
}

/** @throws RefusedFileError if a copy is of another mirror. A file that can't be read is no reason to refuse. */
export function assertOneMirror(
  copy: string,
  mirror: string,
  todo: string,
  code?: 'share_of_another_mirror',
) {
  const [one, other] = [statedBy(copy).mirrorId, statedBy(mirror).mirrorId];
  if (one === null || other === null || one === other) return;
  const why = `${copy} is of another mirror (${one}) than ${mirror} (${other})`;
  throw new RefusedFileError(`${why}. Nothing was changed; ${todo}`, { code: code ?? 'mirror_file' });
}
