import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeShare, type ShareOptions } from '../../src/store/copies/share.ts';
import { programPath } from './program.ts';
import { type Row, sqlite } from './run-cli.ts';
import { type Scene, setScene } from './scene.ts';

/** A scene whose runs make a share. */
export async function setSharedScene(
  ...options: Parameters<typeof setScene>
): Promise<Scene & { path: string }> {
  const scene = await setScene(...options);
  const path = join(scene.folder, 'share.sqlite');
  scene.env.DOCMIRROR_SHARE = path;
  return { ...scene, path };
}

/** The rows of all tables and views of a file, each as text, sorted: what a reader can learn from it. */
export function readable(path: string): Record<string, string[]> {
  const names = sqlite(
    path,
    "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite%' ORDER BY name",
  );
  return Object.fromEntries(names.map(({ name }) => [name, rowsOf(path, String(name))]));
}

function rowsOf(path: string, table: string): string[] {
  return (
    sqlite(path, `SELECT * FROM "${table}"`)
      // The clock changes an age.
      .map(({ age_seconds, ...row }) =>
        JSON.stringify(
          Object.entries(row).map(([column, value]) => [
            column,
            Buffer.isBuffer(value) ? value.toString('hex') : value,
          ]),
        ),
      )
      .sort()
  );
}

/** The names of tables, views, or both, as they were made. */
export function namesOf(path: string, type: 'table' | 'view' | 'index' | 'trigger'): string[] {
  const where = `type = '${type}' AND name NOT LIKE 'sqlite%'`;
  return sqlite(path, `SELECT name FROM sqlite_schema WHERE ${where} ORDER BY name`).map(({ name }) =>
    String(name),
  );
}

/** The texts that a file's bytes contain, in UTF-8 or UTF-16. */
export function textsIn(path: string, texts: readonly string[]): string[] {
  const bytes = readFileSync(path);
  const utf16 = (text: string) => Buffer.from(text, 'utf16le');
  return texts.filter(
    text => bytes.includes(text) || bytes.includes(utf16(text)) || bytes.includes(utf16(text).swap16()),
  );
}

/** Somebody else on this machine, who owns nothing. */
const stranger = { uid: 65_534, gid: 65_534 };

/** Why tests can't be another user here; null if they can. */
export const whyNoStranger: string | null =
  process.platform !== 'linux' || process.getuid?.() !== 0
    ? 'only root on Linux can be another user'
    : asStranger('true', []).status === 0
      ? null
      : 'another user can not start programs here';

/** The reason why another user can't run docmirror from this checkout; null if they can. Its folder can be open to its owner only. */
export const whyNoStrangerHere: string | null =
  whyNoStranger ??
  (asStranger('test', ['-r', programPath]).status === 0 ? null : 'another user can not enter this folder');

/** Runs a program as another user, who cannot write what others own. */
export function asStranger(program: string, args: readonly string[], env: Record<string, string> = {}) {
  return spawnSync(program, args, {
    ...stranger,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: '/nonexistent', ...env },
    timeout: 60_000,
    maxBuffer: 64 * 1024 * 1024,
    cwd: '/',
  });
}

/** The path at which Debian puts a program. One below somebody's home is closed to others. */
export function programOf(name: string): string {
  return existsSync(`/usr/bin/${name}`) ? `/usr/bin/${name}` : name;
}

const readInPython = `
import json, sqlite3, sys
database = sqlite3.connect(sys.argv[1])
database.row_factory = sqlite3.Row
print(json.dumps([dict(row) for row in database.execute(sys.argv[2])]))`;

/** How another user asks a file with what Debian has; each program prints the rows as JSON. */
const askers = {
  sqlite3: ['-json'],
  python3: ['-c', readInPython],
} as const;

/** The rows of a query, asked by another user with SQLite's own program or with Python. */
export function rowsForStranger(program: keyof typeof askers, path: string, sql: string): Row[] {
  // As an argument, a statement that begins with a comment is taken for a flag.
  const args = [...askers[program], path, `\n${sql}`];
  const { status, stdout, stderr } = asStranger(programOf(program), args);
  if (status !== 0 || stderr !== '') throw new Error(`${program} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}

/** How another user starts a program of their own, with `spawn`. */
export const strangerOptions = { ...stranger, cwd: '/' };

/** Makes the share of a scene's mirror in this process, and returns where it lies. */
export async function shareOf(
  { folder, database }: Pick<Scene, 'folder' | 'database'>,
  { sql, ...order }: Partial<Omit<ShareOptions, 'sql'>> & { readonly sql?: string } = {},
): Promise<string> {
  const { signal } = new AbortController();
  const usual = {
    database,
    path: join(folder, 'share.sqlite'),
    without: [],
    withHistory: true,
    signal,
  };
  const { path } = await makeShare({
    ...usual,
    ...order,
    sql: sql === undefined ? null : { path: 'own.sql', text: sql },
  });
  return path;
}
