import { statSync } from 'node:fs';
import type Database from 'better-sqlite3';

/** What a path leads to: nothing, a database without anything in it, one of docmirror's three, another program's, or no database. */
export type FileKind =
  | 'none'
  | 'empty'
  | 'mirror'
  | 'share'
  | 'staging'
  | 'another database'
  | 'damaged database'
  | 'no database';

/** A file as it was found. */
export interface FoundFile {
  readonly kind: FileKind;
  /** True where the database is written through a log beside it. */
  readonly usesLog: boolean;
}

interface Connection {
  readonly sqlite: Database.Database;
  readonly file: FoundFile;
}

/** Which files this process has open, by the file itself, whatever its name. */
const connections = new Map<string, Connection[]>();

/** Notes a connection to one of docmirror's files. It is forgotten once it is closed. */
export function noteConnection(path: string, sqlite: Database.Database, file: FoundFile): void {
  const key = fileKey(path);
  if (key !== null) connections.set(key, [...openOf(key), { sqlite, file }]);
}

/**
 * What is known of a file that this process has open; undefined where it has not.
 *
 * To be asked before a file is opened past SQLite: whoever closes it again takes all locks away that the process holds on it.
 */
export function knownFile(path: string): FoundFile | undefined {
  const key = fileKey(path);
  return key === null ? undefined : openOf(key)[0]?.file;
}

/** Says which file a name stands for now: its device and its number there; null where there is none. */
export function fileKey(path: string): string | null {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev}-${stat.ino}`;
}

function openOf(key: string): Connection[] {
  const open = connections.get(key)?.filter(({ sqlite }) => sqlite.open) ?? [];
  if (open.length === 0) connections.delete(key);
  return open;
}
