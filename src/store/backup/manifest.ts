import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { RefusedFileError } from '../../errors.ts';
import { writeWhole } from '../file/atomic-file.ts';

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

/** In bytes, far more than a manifest has. */
const manifestBytesMax = 64 * 1024;

/** The path of a backup's manifest. */
export function manifestBeside(path: string): string {
  return `${path}.json`;
}

/** The manifest of a backup; null if there is none that can be read. */
export function readManifest(backup: string): Manifest | null {
  const path = manifestBeside(backup);
  try {
    if (!statSync(path).isFile() || statSync(path).size > manifestBytesMax) return null;
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isManifest(value) ? value : null;
  } catch {
    return null;
  }
}

/**
 * Makes sure, before anything is copied, that the manifest can be written.
 *
 * @throws RefusedFileError if another file is at its path; it is not changed.
 */
export function assertManifestFits(backup: string): void {
  const path = manifestBeside(backup);
  if (!existsSync(path) || readManifest(backup) !== null) return;
  throw new RefusedFileError(
    `${path} is not the manifest of a backup, but the manifest of ${backup} needs this name. It was left as it is; name another file.`,
  );
}

/** Writes the manifest of a backup, completely or not at all. */
export function writeManifest(backup: string, manifest: Manifest): void {
  writeWhole(manifestBeside(backup), `${JSON.stringify(manifest)}\n`);
}

/** The SHA-256 of a file, in hexadecimal digits. It is read in pieces, and ends early if the signal is aborted. */
export async function sha256Of(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { signal })) hash.update(chunk);
  return hash.digest('hex');
}

function isManifest(value: unknown): value is Manifest {
  if (typeof value !== 'object' || value === null) return false;
  const { mirrorId, sha256, at, bytes, runId } = value as Record<string, unknown>;
  const areTexts = [mirrorId, sha256, at].every(text => typeof text === 'string');
  const areNumbers = [bytes, runId].every(number => typeof number === 'number');
  return areTexts && areNumbers && !Number.isNaN(Date.parse(at as string));
}
