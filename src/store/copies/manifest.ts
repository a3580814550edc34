import { createHash } from 'node:crypto';
import { closeSync, createReadStream, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs';
import { lists } from '../../contract/lists.ts';
import { anyObject, object, optional, orNull, text, type ValueOf, whole } from '../../contract/shapes.ts';
import { attempt, codeOf } from '../../errors.ts';
import { version } from '../../version.ts';
import { readBeside } from '../file/beside.ts';
import { openMirrorForReading, openOfAnyShape } from '../file/open.ts';
import { writing } from '../file/unfinished.ts';
import { writeWhole } from '../file/whole-file.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';
import { firstValue, type Sqlite } from '../tables/ask.ts';
import { EndedRuns, wroteListSql } from '../tables/ended-runs.ts';

/** The path of the manifest that lies beside a backup. */
export const manifestBeside = (path: string) => `${path}.json`;

/** The path of a backup's checkpoint. */
export const checkpointBeside = (path: string) => `${path}.checkpoint`;

/** The manifest of a backup. Those of older versions lack some members. */
export type Manifest = ValueOf<typeof manifestShape>;

const manifestShape = object({
  mirrorId: text(),
  sha256: text(),
  at: text(),
  baseUrl: optional(orNull(text())),
  runId: optional(whole()),
  bytes: whole(),
  labels: optional(anyObject<Record<string, string>>()),
  rootHash: optional(text()),
  recordCounts: optional(anyObject<Record<string, number>>()),
  docmirrorVersion: optional(text()),
});

/** A manifest that waits for its backup to take the place of an older one. */
const nextBeside = (path: string) => `${manifestBeside(path)}.next`;

/**
 * Puts a backup in its place with its manifest. If this process is killed between the two, the manifest that waits is that of the backup:
 * its SHA-256 says so. Until then the older one is.
 */
export function putWithManifest(path: string, manifest: Manifest, put: () => void): void {
  writeWhole(nextBeside(path), `${JSON.stringify(manifest)}\n`);
  put();
  writing(path, () => renameSync(nextBeside(path), manifestBeside(path)));
}

/** Removes a backup with all that lies beside it. */
export function removeBackup(path: string): void {
  for (const file of [path, checkpointBeside(path), manifestBeside(path), nextBeside(path)])
    rmSync(file, { force: true });
}

/** The manifest of a backup; null if there is none that can be read. */
export function readManifest(backup: string): Manifest | null {
  const next = readBeside(manifestShape, nextBeside(backup));
  const isNext = next !== null && attempt(() => next.sha256 === sha256Now(backup)) === true;
  const manifest = isNext ? next : readBeside(manifestShape, manifestBeside(backup));
  return Number.isFinite(Date.parse(manifest?.at ?? '')) ? manifest : null;
}

/** The manifest of a new backup. */
export async function manifestOf(
  path: string,
  labels: Readonly<Record<string, string>>,
  signal: AbortSignal,
) {
  using file = openMirrorForReading(path);
  const { sqlite } = file;
  const count = (table: string) => firstValue<number>(sqlite, `SELECT count(*) FROM ${table}`) ?? 0;
  return {
    ...statedIn(sqlite),
    labels,
    runId: new EndedRuns(sqlite).newest() ?? 0,
    rootHash: Buffer.from(new ReceiptLog(sqlite).checkpoint().root).toString('hex'),
    recordCounts: Object.fromEntries(lists.map(({ resource, table }) => [resource, count(table)])),
    bytes: statSync(path).size,
    sha256: await sha256Of(path, signal),
    docmirrorVersion: version,
    at: new Date().toISOString(),
  };
}

/** The SHA-256 of a backup, at once: only if a manifest waits for one, after a kill. */
function sha256Now(path: string): string {
  const hash = createHash('sha256');
  const chunk = Buffer.alloc(chunkBytes);
  const file = openSync(path, 'r');
  try {
    for (let size = readSync(file, chunk); size > 0; size = readSync(file, chunk))
      hash.update(chunk.subarray(0, size));
  } finally {
    closeSync(file);
  }
  return hash.digest('hex');
}

const chunkBytes = 1024 * 1024;

/** The SHA-256 of a file, in hexadecimal digits. It is read in pieces, so that signals get their turn. */
export async function sha256Of(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { signal })) hash.update(chunk);
  return hash.digest('hex');
}

const newestWritten = `FROM sync_run_resources l JOIN sync_runs r ON r.id = l.run_id
  WHERE l.${wroteListSql} ORDER BY l.run_id DESC LIMIT 1`;

/** What the newest run that wrote a list added to each address; null if nothing, or if the file can't be read or has no such column yet. */
export function queryOf(path: string): string | null {
  return attempt(() => {
    using file = openOfAnyShape(path, ['mirror', 'share']);
    return firstValue<string>(file.sqlite, `SELECT r.query ${newestWritten}`);
  });
}

/** What a mirror, or a copy or share of one, states of itself: its id, and the service of the newest run that wrote a list. */
function statedIn(sqlite: Sqlite) {
  const baseUrl = firstValue<string>(sqlite, `SELECT r.base_url ${newestWritten}`);
  return { mirrorId: new ReceiptLog(sqlite).mirrorId(), baseUrl };
}

/** The same of a file or, if it is too old to be read, of its manifest; all is null if it can't be read. */
export function statedBy(path: string) {
  try {
    using file = openOfAnyShape(path, ['mirror', 'share']);
    return statedIn(file.sqlite);
  } catch (error) {
    const manifest = codeOf(error) === 'mirror_too_old' ? readManifest(path) : null;
    return { mirrorId: manifest?.mirrorId ?? null, baseUrl: manifest?.baseUrl ?? null };
  }
}

/** What the logs of a mirror and of its share have in common; null if one can't be read, for example because there is no file. */
export function sharedHistory(database: string, path: string) {
  return attempt(() => {
    using mirror = openOfAnyShape(database);
    using share = openOfAnyShape(path, ['share']);
    return new ReceiptLog(mirror.sqlite).sharedWith(new ReceiptLog(share.sqlite));
  });
}
