import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { growDocmirror } from '../support/grown-docmirror.ts';
import { runNode } from '../support/program-copy.ts';
import { sqlite, type TemporaryFolder, temporaryFolder } from '../support/run-cli.ts';

const root = join(import.meta.dirname, '..', '..');
const support = join(root, 'test', 'support');
const kept = readdirSync(support).filter(name => /^mirror-[\d.]+\.sqlite\.gz$/.test(name));

let folder: TemporaryFolder;
let grown: string;

beforeAll(async () => {
  folder = temporaryFolder();
  grown = join(folder.path, 'docmirror');
  await growDocmirror(grown);
}, 60_000);

afterAll(() => folder[Symbol.asyncDispose]());

function unpack(name: string, as: string): string {
  const path = join(folder.path, as);
  writeFileSync(path, gunzipSync(readFileSync(join(support, name))), { mode: 0o600 });
  return path;
}

/** Opens a mirror to write in a process of its own, which is killed after so long; undefined lets it end. */
async function open(program: string, path: string, afterMs?: number): Promise<number> {
  const script = `
    import { openForWriting } from './src/store/file/open-to-write.ts';
    process.stdout.write('begun');
    openForWriting(process.argv[1]).close();`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script, path], {
    cwd: program,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  await once(child.stdout, 'data');
  const begunAtMs = performance.now();
  if (afterMs !== undefined) {
    await Promise.race([wait(afterMs), ended]);
    child.kill('SIGKILL');
  }
  await ended;
  return performance.now() - begunAtMs;
}

test('the mirror of each release from 0.3.0 on is kept', () => {
  expect(kept).toContain('mirror-0.3.0.sqlite.gz');
});

describe.each(kept)('%s', name => {
  test.each(['this', 'a later'])('is brought up to date by %s version and passes its verify', async which => {
    const program = which === 'this' ? root : grown;
    const path = unpack(name, `${which}.sqlite`);
    await open(program, path);
    const verified = await runNode(program, ['src/cli.ts', 'verify', '--database', path]);
    expect(verified, verified.stdout).toMatchObject({ code: 0, stderr: '' });
  });
});

test('a process that is killed while it brings a mirror up to date leaves one that the next mends', async () => {
  const large = unpack('mirror-0.3.0.sqlite.gz', 'large.sqlite');
  new Database(large)
    .exec(
      `INSERT INTO document_exports (source_document_reference, exported_at, _first_seen_run_id, _changed_run_id, _content)
       WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 20000)
       SELECT 'MANY-' || n, '2024-01-01T00:00:00Z', 1, 1, randomblob(16) FROM n`,
    )
    .close();
  const path = join(folder.path, 'killed.sqlite');
  const begin = () => {
    for (const beside of ['', '-wal', '-shm']) rmSync(`${path}${beside}`, { force: true });
    copyFileSync(large, path);
  };
  const shape = () => sqlite(path, 'PRAGMA user_version')[0]?.user_version;
  begin();
  const takesMs = await open(root, path);
  const seen = new Set<unknown>();
  for (let kill = 0; kill < 4; kill++) {
    begin();
    await open(root, path, takesMs * (0.3 + 0.15 * kill));
    seen.add(shape());
    await open(root, path);
    expect(shape()).toBe(7);
    expect(sqlite(path, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    expect(sqlite(path, 'SELECT count(*) AS n FROM docmirror_upgrades')).toEqual([{ n: 1 }]);
    expect(
      sqlite(
        path,
        "SELECT count(*) AS n FROM document_exports WHERE exported_at_ms IS NULL AND exported_at LIKE '20%'",
      ),
    ).toEqual([{ n: 0 }]);
  }
  expect(seen).toContain(6);
  expect(existsSync(`${path}.before-test`)).toBe(true);
}, 120_000);
