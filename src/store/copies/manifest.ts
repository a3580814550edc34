import { createHash } from 'node:crypto';
import { createReadStream, existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { lists } from '../../contract/lists.ts';
import { version } from '../../version.ts';
import { writeWhole } from '../file/atomic-file.ts';
import { lockPath } from '../file/lock-file.ts';
import { identityOf } from '../file/mirror-identity.ts';
import { openMirrorForReading } from '../file/open.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';

/** A description of a backup, in a JSON file beside it, so that nobody has to open the backup itself. */
export interface Manifest {
  readonly mirrorId: string;
  readonly baseUrl: string | null;
  readonly labels: Readonly<Record<string, string>>;
  /** The newest run that had ended; 0 if none had. */
  readonly runId: number;
  /** 64 hexadecimal digits: the root hash of the log of receipts. */
  readonly rootHash: string;
  readonly recordCounts: Readonly<Record<string, number>>;
  readonly bytes: number;
  /** 64 hexadecimal digits: the hash of the copy's file. */
  readonly sha256: string;
  readonly docmirrorVersion: string;
  /** When it was made, ISO 8601, in UTC. */
  readonly at: string;
}

/** A backup in a folder. */
export interface ListedBackup extends Pick<Manifest, 'bytes'> {
  readonly path: string;
  readonly mirrorId: string | null;
  readonly baseUrl: string | null;
  /** When the backup was made, by its manifest or, without one, by its file: ISO 8601, in UTC. */
  readonly at: string;
  /** Null if there is none that can be read. */
  readonly manifest: Manifest | null;
  /** True for the newest one of its mirror. */
  readonly isNewest: boolean;
  /** Whether its SHA-256 is that of its manifest; null if that was not checked. Only the newest backup of each mirror is checked. */
  readonly isSound: boolean | null;
}

/** The path of a backup's manifest. */
export function manifestBeside(path: string): string {
  return `${path}.json`;
}

/** The path of a backup's checkpoint. */
export function checkpointBeside(path: string): string {
  return `${path}.checkpoint`;
}

/** Describes a backup that was just made, in its manifest. */
export async function writeManifest(
  path: string,
  { runId, labels, signal }: Pick<Manifest, 'runId' | 'labels'> & { readonly signal: AbortSignal },
): Promise<Manifest> {
  const { mirrorId, baseUrl } = identityOf(path);
  using file = openMirrorForReading(path);
  const count = (table: string) =>
    file.sqlite.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0;
  const manifest: Manifest = {
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

/** The manifest of a backup; null if there is none that can be read. */
export function readManifest(backup: string): Manifest | null {
  try {
    const value: Partial<Manifest> = JSON.parse(readFileSync(manifestBeside(backup), 'utf8'));
    const areTexts = [value.mirrorId, value.sha256, value.at].every(text => typeof text === 'string');
    const areNumbers = [value.bytes, value.runId].every(number => typeof number === 'number');
    const isManifest = areTexts && areNumbers && !Number.isNaN(Date.parse(value.at as string));
    return isManifest ? (value as Manifest) : null;
  } catch {
    return null;
  }
}

const backupName = /-(\d{8}T\d{6}Z)\.sqlite$/;

/** The names of the backups in a folder, the newest first: files with names as `--keep` gives them. */
export function backupsIn(folder: string): string[] {
  const timeOf = (name: string) => backupName.exec(name)?.[1] ?? '';
  return readdirSync(folder)
    .filter(name => backupName.test(name))
    .sort((a, b) => timeOf(b).localeCompare(timeOf(a)) || a.localeCompare(b));
}

/**
 * Lists the backups in a folder, and other copies that have a manifest: mirror by mirror, the newest first. The newest one of each
 * is checked against its manifest.
 */
export async function listBackups(folder: string, signal: AbortSignal): Promise<ListedBackup[]> {
  const described = readdirSync(folder).flatMap(name => /^(.*)\.json$/.exec(name)?.[1] ?? []);
  const found = [...new Set([...backupsIn(folder), ...described])].flatMap(name => look(join(folder, name)));
  const byMirror = Map.groupBy(found, ({ mirrorId, baseUrl }) => mirrorId ?? baseUrl);
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
  if (stat === undefined || lstatSync(lockPath(path), { throwIfNoEntry: false }) !== undefined) return [];
  const { mirrorId, baseUrl } = identityOf(path);
  if (mirrorId === null && baseUrl === null) return [];
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
