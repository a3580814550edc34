import { existsSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type Database from 'better-sqlite3';
import { MirrorFileError } from '../../errors.ts';
import { assertNameFits } from './mirror-path.ts';
import { makePrivateFile } from './private-file.ts';
import { explaining } from './sqlite-errors.ts';
import {
  putInPlace,
  removeLeftovers,
  removeUnfinished,
  unfinishedEnding,
  unfinishedPath,
} from './unfinished.ts';

/** An upgrade needs room for its copy, and for as much again in the log: it may write every row. */
const sizesNeeded = 2;
const bytesPerKib = 1024;
/** From this need on it is told in MiB, in bytes. */
const bytesInMibMin = 10 * bytesPerKib * bytesPerKib;

/**
 * Copies a mirror to `<mirror>.before-<version>`, or the first such name with a number that is free: a whole database in
 * one file, which only its owner can read.
 *
 * @returns where the copy lies.
 * @throws MirrorFileError where there is no room; nothing was written.
 */
export function copyBeforeUpgrade(sqlite: Database.Database, path: string, version: string): string {
  assertRoomToCopy(sqlite, path);
  removeLeftovers(dirname(resolve(path)));
  const copy = freeName(`${path}.before-${/^[\w.+-]+$/.test(version) ? version : 'unknown'}`);
  const unfinished = unfinishedPath(path);
  return explaining(copy, () => {
    try {
      makePrivateFile(unfinished);
      sqlite.prepare('VACUUM INTO ?').run(unfinished);
      putInPlace(unfinished, copy);
      return copy;
    } finally {
      removeUnfinished(unfinished);
    }
  });
}

/** @throws UsageError, MirrorFileError where there is no room for the copy and its name, and for the log of the upgrade. */
export function assertRoomToCopy(sqlite: Database.Database, path: string): void {
  assertNameFits('DOCMIRROR_DATABASE', path, unfinishedEnding);
  const pageBytes = Number(sqlite.pragma('page_size', { simple: true }));
  const needed = Number(sqlite.pragma('page_count', { simple: true })) * pageBytes * sizesNeeded;
  const { bavail, bsize } = statfsSync(dirname(resolve(path)));
  const free = bavail * bsize;
  if (free >= needed) return;
  const [unit, unitBytes] = needed < bytesInMibMin ? ['KiB', bytesPerKib] : ['MiB', bytesPerKib ** 2];
  // The one is rounded up and the other down, so the figures differ as the sizes do.
  const [takes, are] = [Math.ceil(needed / unitBytes), Math.floor(free / unitBytes)];
  throw new MirrorFileError(
    `${path} is to be upgraded, which takes ${takes} ${unit} beside it for a copy and a log; ${are} ${unit} are free. ` +
      'Nothing was changed; free some room and run again.',
    { code: 'disk_full' },
  );
}

function freeName(wanted: string): string {
  let name = wanted;
  for (let n = 2; existsSync(name); n++) name = `${wanted}-${n}`;
  return name;
}
