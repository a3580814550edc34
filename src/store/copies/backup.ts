import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { lists } from '../../contract/lists.ts';
import { RefusedFileError, UsageError } from '../../errors.ts';
import { version } from '../../version.ts';
import { DatabaseCopy, makeFolders, writeWhole } from '../file/atomic-file.ts';
import { lockPath } from '../file/lock-file.ts';
import { fileBehind, kindOf } from '../file/mirror-path.ts';
import { openMirrorForReading } from '../file/open.ts';
import { explaining, explainSqliteError } from '../file/sqlite-errors.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { EndedRuns } from '../tables/ended-runs.ts';
import { type Verification, type VerifyOptions, verifyMirror } from '../verify/verify.ts';
import { differentMirrors, identityOf } from './identity.ts';

/** How a backup is made and checked. */
interface BackupOptions extends VerifyOptions {
  /** Gives another name if the destination is taken meanwhile. If it is left out, an older backup there is replaced. */
  readonly nextName?: (() => string) | undefined;
}

/** The result of a backup. The copy has its name only if its verification found no difference. Otherwise it was removed. */
interface Backup {
  readonly path: string;
  /** The newest run that had ended; 0 if none had. */
  readonly runId: number;
  readonly verification: Verification;
}

/**
 * Copies a mirror, even if runs write to it meanwhile. The copy is one state of the mirror. It is written beside its final name and
 * audited against its own run records. Only then is it given its name.
 *
 * @throws UsageError, RefusedFileError if the destination can't be one; an existing file is not changed.
 * @throws MirrorFileError if there is no mirror, or the copy can't be written.
 */
export async function backUp(source: string, destination: string, options: BackupOptions): Promise<Backup> {
  const { nextName, signal } = options;
  let path = destinationFile(source, destination);
  using copy = new DatabaseCopy(resolve(path));
  try {
    {
      using mirror = openMirrorForReading(source);
      copy.fill(mirror.sqlite);
    }
    signal.throwIfAborted();
    const verification = await verifyMirror(copy.unfinished, options);
    const isSound = verification.differenceCount === 0;
    const runId = isSound ? newestRunIn(copy.unfinished) : 0;
    if (isSound) {
      while (nextName !== undefined && existsSync(path)) path = nextName();
      // An older manifest is not that of the new copy.
      rmSync(manifestBeside(path), { force: true });
      copy.putInPlace(path);
    }
    return { path, runId, verification: { ...verification, path: isSound ? path : `The copy of ${source}` } };
  } catch (error) {
    throw explainSqliteError(error, path);
  }
}

function newestRunIn(path: string): number {
  using copy = openMirrorForReading(path);
  return new EndedRuns(copy.sqlite).newest() ?? 0;
}

/** The file to write: one that does not exist yet, or an older backup. */
function destinationFile(source: string, destination: string): string {
  const path = fileBehind(destination, 'DEST');
  const refuse = (why: string) =>
    new RefusedFileError(`${destination} is ${why}. It was left as it is; name another file.`);
  const kind = explaining(path, () => kindOf(path));
  if (!['none', 'empty', 'mirror'].includes(kind)) throw refuse('not a backup of a mirror');
  const different = differentMirrors(path, source);
  if (different !== null)
    throw refuse(
      `another mirror (${different[0]}), or a backup of it, and no backup of ${source} (${different[1]})`,
    );
  if (existsSync(lockPath(path)))
    throw refuse(`a mirror that runs write to: ${lockPath(path)} lies beside it`);
  if (existsSync(manifestBeside(path)) && readManifest(path) === null)
    throw new RefusedFileError(
      `${manifestBeside(path)} is not the manifest of a backup, but that of ${path} needs this name. It was left as it is; name another file.`,
    );
  return path;
}

/**
 * The path of a new backup in a folder of backups: the mirror's name and the first free time from now on. The folder is made if
 * there is none.
 *
 * @throws UsageError if something else than a folder is there.
 */
export function nameInFolder(folder: string, database: string, now: Date): string {
  if (existsSync(folder) && !statSync(folder).isDirectory())
    throw new UsageError(`${folder} is not a folder. With --keep the backups go into a folder.`);
  makeFolders(folder);
  const name = basename(database).replace(/\.(sqlite3?|db)$/i, '');
  for (let atMs = now.getTime(); ; atMs += 1_000) {
    const stamp = new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');
    const path = join(folder, `${name}-${stamp.replaceAll(/[-:]/g, '')}.sqlite`);
    if (!existsSync(path)) return path;
  }
}

/**
 * Removes the oldest backups of a mirror from a folder until `keep` are left. It never removes the newest one made. Other files in
 * the folder, including backups of other mirrors, are not touched.
 *
 * @returns the names that were removed.
 */
export function rotate(folder: string, newest: string, keep: number): string[] {
  const { mirrorId } = identityOf(newest);
  const old = backupsIn(folder)
    .filter(name => join(folder, name) !== newest && identityOf(join(folder, name)).mirrorId === mirrorId)
    .slice(keep - 1);
  for (const name of old) {
    const path = join(folder, name);
    for (const file of [path, checkpointBeside(path), manifestBeside(path)]) rmSync(file, { force: true });
  }
  return old;
}

/** The path of a backup's manifest. */
const manifestBeside = (path: string) => `${path}.json`;

/** The path of a backup's checkpoint. */
export function checkpointBeside(path: string): string {
  return `${path}.checkpoint`;
}

/** Describes a backup that was just made, in its manifest. */
export async function writeManifest(
  path: string,
  runId: number,
  labels: Readonly<Record<string, string>>,
  signal: AbortSignal,
) {
  const { mirrorId, baseUrl } = identityOf(path);
  using file = openMirrorForReading(path);
  const count = (table: string) =>
    file.sqlite.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0;
  const manifest = {
    mirrorId: mirrorId ?? '',
    baseUrl,
    labels,
    runId,
    rootHash: Buffer.from(new ReceiptLog(file.sqlite).checkpoint().root).toString('hex'),
    recordCounts: Object.fromEntries(lists.map(({ resource, table }) => [resource, count(table)])),
    bytes: statSync(path).size,
    sha256: await sha256Of(path, signal),
    docmirrorVersion: version,
    at: new Date().toISOString(),
  };
  writeWhole(manifestBeside(path), `${JSON.stringify(manifest)}\n`);
  return manifest;
}

type Manifest = Awaited<ReturnType<typeof writeManifest>>;

/** The manifest of a backup; null if there is none that can be read. */
function readManifest(backup: string): Manifest | null {
  try {
    const value: Partial<Manifest> = JSON.parse(readFileSync(manifestBeside(backup), 'utf8'));
    const { mirrorId, sha256, at = '', bytes, runId } = value;
    const areTexts = [mirrorId, sha256].every(text => typeof text === 'string');
    const areNumbers = [bytes, runId, Date.parse(at)].every(Number.isFinite);
    return areTexts && areNumbers ? (value as Manifest) : null;
  } catch {
    return null;
  }
}

const backupName = /-(\d{8}T\d{6}Z)\.sqlite$/;

/** The names of the backups in a folder, the newest first: files with names as `--keep` gives them. */
function backupsIn(folder: string): string[] {
  const timeOf = (name: string) => backupName.exec(name)?.[1] ?? '';
  return readdirSync(folder)
    .filter(name => backupName.test(name))
    .sort((a, b) => timeOf(b).localeCompare(timeOf(a)) || a.localeCompare(b));
}

/** A backup in a folder. Without a manifest, `at` is the time of its file. */
export interface ListedBackup extends Pick<Manifest, 'bytes' | 'baseUrl' | 'at'> {
  readonly path: string;
  readonly mirrorId: string;
  /** Null if there is none that can be read. */
  readonly manifest: Manifest | null;
  /** True for the newest one of its mirror. */
  readonly isNewest: boolean;
  /** Whether its SHA-256 is that of its manifest; null if that was not checked. Only the newest backup of each mirror is checked. */
  readonly isSound: boolean | null;
}

/**
 * Lists the backups in a folder, and other copies that have a manifest: mirror by mirror, the newest first. The newest one of each
 * is checked against its manifest.
 */
export async function listBackups(folder: string, signal: AbortSignal): Promise<ListedBackup[]> {
  const described = readdirSync(folder).flatMap(name => /^(.*)\.json$/.exec(name)?.[1] ?? []);
  const found = [...new Set([...backupsIn(folder), ...described])].flatMap(name => look(join(folder, name)));
  const byMirror = Map.groupBy(found, ({ mirrorId }) => mirrorId);
  const listed: ListedBackup[] = [];
  for (const backups of byMirror.values()) {
    const [newest, ...older] = backups.toSorted((a, b) => b.at.localeCompare(a.at)) as [Found, ...Found[]];
    listed.push({ ...newest, isNewest: true, isSound: await isSound(newest, signal) });
    listed.push(...older.map(backup => ({ ...backup, isNewest: false, isSound: null })));
  }
  return listed;
}

type Found = Omit<ListedBackup, 'isNewest' | 'isSound'>;

/** Nothing for a file that is no backup: another file with a name like that, or a mirror that runs write to. */
function look(path: string): Found[] {
  const manifest = readManifest(path);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (manifest !== null) {
    const { mirrorId, baseUrl, at, bytes } = manifest;
    return [{ path, mirrorId, baseUrl, at, bytes: stat?.size ?? bytes, manifest }];
  }
  if (stat === undefined || existsSync(lockPath(path))) return [];
  const { mirrorId, baseUrl } = identityOf(path);
  if (mirrorId === null) return [];
  return [{ path, mirrorId, baseUrl, at: stat.mtime.toISOString(), bytes: stat.size, manifest }];
}

async function isSound({ path, manifest }: Found, signal: AbortSignal): Promise<boolean | null> {
  if (manifest === null) return null;
  return existsSync(path) && (await sha256Of(path, signal)) === manifest.sha256;
}

/** The SHA-256 of a file, in hexadecimal digits. It is read in pieces, so that signals get their turn. */
async function sha256Of(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { signal })) hash.update(chunk);
  return hash.digest('hex');
}
