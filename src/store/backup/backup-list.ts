import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { lockPath } from '../file/lock-file.ts';
import { identityOf } from '../file/mirror-identity.ts';
import { backupsIn } from './backup-rotation.ts';
import { type Manifest, readManifest, sha256Of } from './manifest.ts';

/** A backup in a folder. */
export interface ListedBackup {
  readonly path: string;
  readonly mirrorId: string | null;
  readonly baseUrl: string | null;
  /** When the backup was made, by its manifest or, without one, by its file: ISO 8601, in UTC. */
  readonly at: string;
  readonly bytes: number;
  /** Null if there is none that can be read. */
  readonly manifest: Manifest | null;
  /** True for the newest one of its mirror. */
  readonly isNewest: boolean;
  /** Whether its SHA-256 is that of its manifest; null if that was not checked. Only the newest backup of each mirror is checked. */
  readonly isSound: boolean | null;
}

type Found = Omit<ListedBackup, 'isNewest' | 'isSound'>;

/** Lists the backups in a folder, mirror by mirror, the newest first, and checks the newest of each against its manifest. */
export async function listBackups(folder: string, signal: AbortSignal): Promise<ListedBackup[]> {
  const found = namesIn(folder).flatMap(name => look(join(folder, name)) ?? []);
  const byMirror = Map.groupBy(found, ({ mirrorId, baseUrl }) => mirrorId ?? baseUrl);
  const listed: ListedBackup[] = [];
  for (const backups of byMirror.values()) {
    const ordered = backups.toSorted((a, b) => b.at.localeCompare(a.at));
    for (const [at, backup] of ordered.entries()) {
      const isNewest = at === 0;
      listed.push({ ...backup, isNewest, isSound: isNewest ? await isSound(backup, signal) : null });
    }
  }
  return listed;
}

/** Names of backups, and of other copies that have a manifest. */
function namesIn(folder: string): string[] {
  const byName = backupsIn(folder);
  const others = readdirSync(folder)
    .filter(name => name.endsWith('.json'))
    .map(name => name.slice(0, -'.json'.length))
    .filter(name => !byName.includes(name) && readManifest(join(folder, name)) !== null);
  return [...byName, ...others];
}

/** Null for a file that is no backup: another file with a name like that, or a mirror that runs write to. */
function look(path: string): Found | null {
  const manifest = readManifest(path);
  const stat = statSync(path, { throwIfNoEntry: false });
  if (manifest !== null) {
    const { mirrorId, baseUrl, at, bytes } = manifest;
    return { path, mirrorId, baseUrl, at, bytes: stat?.size ?? bytes, manifest };
  }
  if (stat === undefined || lstatSync(lockPath(path), { throwIfNoEntry: false }) !== undefined) return null;
  const { mirrorId, baseUrl } = identityOf(path);
  if (mirrorId === null && baseUrl === null) return null;
  return { path, mirrorId, baseUrl, at: stat.mtime.toISOString(), bytes: stat.size, manifest };
}

async function isSound({ path, manifest }: Found, signal: AbortSignal): Promise<boolean | null> {
  if (manifest === null) return null;
  return existsSync(path) && (await sha256Of(path, signal)) === manifest.sha256;
}
