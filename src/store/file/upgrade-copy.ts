import { existsSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { MirrorFileError } from '../../errors.ts';
import { kindOf } from './file-kind.ts';
import { makePrivateFile } from './private-file.ts';
import { explaining } from './sqlite-errors.ts';
import { putInPlace, removeLeftovers, removeUnfinished, unfinishedPath } from './unfinished.ts';

// All by hand: VACUUM, and tables of a mirror of any shape.

/** An upgrade can write every row, so it needs room for its copy and for a log of the same size. */
const sizesNeeded = 2;
const bytesPerMib = 1024 * 1024;

/**
 * Copies a mirror to `<mirror>.before-<version>`, a complete database that only its owner can read. If an upgrade was interrupted,
 * its copy of the same state is used again.
 *
 * @returns the path of the copy.
 * @throws MirrorFileError if there is no room; nothing was written.
 */
export function copyBeforeUpgrade(sqlite: Database.Database, path: string, version: string): string {
  removeLeftovers(dirname(resolve(path)));
  const copy = placeOfCopy(sqlite, `${path}.before-${/^[\w.+-]+$/.test(version) ? version : 'unknown'}`);
  if (existsSync(copy)) return copy;
  const unfinished = unfinishedPath(path);
  explaining(copy, () => {
    try {
      makePrivateFile(unfinished);
      sqlite.prepare('VACUUM INTO ?').run(unfinished);
      putInPlace(unfinished, copy);
    } finally {
      removeUnfinished(unfinished);
    }
  });
  return copy;
}

/** @throws MirrorFileError if there is no room for the copy, and for the log of the upgrade. */
export function assertRoomToCopy(sqlite: Database.Database, path: string): void {
  const pageBytes = Number(sqlite.pragma('page_size', { simple: true }));
  const needed = Number(sqlite.pragma('page_count', { simple: true })) * pageBytes * sizesNeeded;
  const { bavail, bsize } = statfsSync(dirname(resolve(path)));
  const free = bavail * bsize;
  if (free >= needed) return;
  const [takes, are] = [Math.ceil(needed / bytesPerMib), Math.floor(free / bytesPerMib)];
  throw new MirrorFileError(
    `${path} needs an upgrade, which takes ${takes} MiB beside it for a copy and a log; ${are} MiB are free. ` +
      'Nothing was changed; free some room and run again.',
    { code: 'disk_full' },
  );
}

/** The wanted name, or the first numbered one, that is free or has a copy of the same state. */
function placeOfCopy(sqlite: Database.Database, wanted: string): string {
  let name = wanted;
  for (let n = 2; existsSync(name) && !isCopyOf(sqlite, name); n++) name = `${wanted}-${n}`;
  return name;
}

const state = `SELECT json_array((SELECT mirror_id FROM _mirror),
  (SELECT leaf_hash FROM sync_receipts ORDER BY leaf_index DESC LIMIT 1), (SELECT max(id) FROM sync_runs))`;

function isCopyOf(sqlite: Database.Database, path: string): boolean {
  if (kindOf(path) !== 'mirror') return false;
  const copy = new Database(path, { readonly: true });
  try {
    const versions = [sqlite, copy].map(each => each.pragma('user_version', { simple: true }));
    const states = [sqlite, copy].map(each => each.prepare(state).pluck().get());
    return versions[0] === versions[1] && states[0] === states[1];
  } finally {
    copy.close();
  }
}
