import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deliver, Tally } from '../../src/commands/stream-out.ts';
import { statusLineOn } from '../../src/commands/terminal.ts';
import { spawnCli } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { shareOf } from '../support/share.ts';

const refused = 2;

/** A query that takes SQLite minutes and gives no row. */
const endless =
  'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000000000) SELECT count(*) FROM n';
/** A query that takes it minutes and gives many rows. */
const rowsWithoutEnd = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n';

let scene: Scene;
beforeAll(async () => {
  scene = await setScene();
  await scene.sync();
});
afterAll(() => scene[Symbol.asyncDispose]());

describe.concurrent('query prints the rows of a statement', () => {
  test('as a table, which is a block a row if it is wider than the terminal', async () => {
    const { code, stdout, stderr } = await scene.run('query', 'SELECT id, name FROM collections LIMIT 2');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^id {2}name\n 1 {2}.+\n 2 {2}.+\n$/);
    const none = await scene.run('query', 'SELECT id, name FROM collections WHERE false');
    expect(none.stdout).toBe('id  name\n');
  });

  test('as CSV, JSON and lines of JSON, with whole numbers exact and BLOBs in hexadecimal', async () => {
    const sql = `SELECT 9223372036854775807 AS big, 0.5 AS half, 'a "b"' AS text, x'AB0F' AS bytes, NULL AS none
      UNION ALL SELECT -9007199254740993, 9e999, '', x'', NULL`;
    const [csv, json, ndjson] = await Promise.all(
      ['csv', 'json', 'ndjson'].map(format => scene.run('query', sql, '--format', format)),
    );
    expect(csv?.stdout).toBe(
      'big,half,text,bytes,none\n9223372036854775807,0.5,"a ""b""",ab0f,\n-9007199254740993,Infinity,"","",\n',
    );
    const lines = [
      '{"big":9223372036854775807,"half":0.5,"text":"a \\"b\\"","bytes":"ab0f","none":null}',
      '{"big":-9007199254740993,"half":"Infinity","text":"","bytes":"","none":null}',
    ];
    expect(json?.stdout).toBe(`[\n${lines.join(',\n')}\n]\n`);
    expect(ndjson?.stdout).toBe(`${lines.join('\n')}\n`);
    const none = await scene.run('query', 'SELECT 1 AS a WHERE false', '--format', 'json');
    expect(none.stdout).toBe('[]\n');
  });

  test('as Parquet, in which a column has the type that all its values fit', async () => {
    const out = join(scene.folder, 'result.parquet');
    const sql = `SELECT 9223372036854775807 AS big, 1 AS number, 'x' AS text, x'AB' AS bytes, NULL AS none, 9007199254740993 AS mixed
      UNION ALL SELECT 2, 0.5, 3, NULL, NULL, 0.5`;
    const { code, stdout } = await scene.run('query', sql, '--format', 'parquet', '--out', out);
    expect(code).toBe(0);
    expect(stdout).toMatch(/result\.parquet: 2 rows, /);
    const duck = await (await DuckDBInstance.create()).connect();
    const types = await duck.runAndReadAll(`DESCRIBE SELECT * FROM '${out}'`);
    expect(types.getRowsJson().map(([name, type]) => `${name} ${type}`)).toEqual([
      'big BIGINT',
      'number DOUBLE',
      'text VARCHAR',
      'bytes VARCHAR',
      'none VARCHAR',
      'mixed VARCHAR',
    ]);
    expect((await duck.runAndReadAll(`SELECT * FROM '${out}'`)).getRowsJson()).toEqual([
      ['9223372036854775807', 1, 'x', 'ab', null, '9007199254740993'],
      ['2', 0.5, '3', null, null, '0.5'],
    ]);
  });

  test('as Parquet, in which nights without rows or values have the types of the others', async () => {
    const duck = await (await DuckDBInstance.create()).connect();
    const described = async (condition: string) => {
      const out = join(scene.folder, 'night.parquet');
      const sql = `SELECT *, exported_at_ms + 0 AS later FROM document_exports_named WHERE ${condition}`;
      const { code } = await scene.run('query', sql, '--format', 'parquet', '--out', out);
      expect(code).toBe(0);
      const types = await duck.runAndReadAll(`DESCRIBE SELECT * EXCLUDE later FROM '${out}'`);
      return types.getRowsJson().map(([name, type]) => `${name} ${type}`);
    };
    const types = await described('true');
    expect(types).toContain('source_connection_id BIGINT');
    expect(types).toContain('exported_at_ms BIGINT');
    expect(await described('false')).toEqual(types);
    expect(await described('id = 1')).toEqual(types);
  });

  test('of a statement in a file, with parameters', async () => {
    const file = join(scene.folder, 'statement.sql');
    writeFileSync(file, '\ufeff-- Some.\nSELECT id FROM collections\nWHERE id > :after AND name <> $not;\n');
    const args = ['query', '--file', file, '--format', 'csv'];
    const { code, stdout } = await scene.run(...args, '--param', 'after=5', '--param', 'not=a=b');
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'id\n6\n7\n' });
    const ofShare = ['SELECT count(*) AS n FROM webhooks', '--database', await shareOf(scene)];
    expect((await scene.run('query', ...ofShare, '--format', 'csv')).stdout).toBe('n\n3\n');
  });

  test('into a file only if it is whole', async () => {
    const out = join(scene.folder, 'whole.csv');
    writeFileSync(out, 'as before');
    const broken = await scene.run(
      'query',
      `SELECT json(CASE WHEN i > 200000 THEN '{' ELSE '1' END) AS j FROM (${rowsWithoutEnd})`,
      '--format',
      'csv',
      '--out',
      out,
    );
    expect(broken).toMatchObject({ code: refused, stderr: 'docmirror: malformed JSON [settings]\n' });
    expect(readFileSync(out, 'utf8')).toBe('as before');
    const { code } = await scene.run('query', 'SELECT 1 AS one', '--format', 'csv', '--out', out);
    expect([code, readFileSync(out, 'utf8')]).toEqual([0, 'one\n1\n']);
    const mirror = await scene.run('query', 'SELECT 1', '--out', scene.database);
    expect(mirror).toMatchObject({ code: refused, stderr: expect.stringContaining('is a mirror') });
    expect(readdirSync(scene.folder).filter(name => name.startsWith('whole.csv'))).toEqual(['whole.csv']);
  });
});

describe.concurrent('query refuses what does not only read and return rows', () => {
  test.each([
    ["UPDATE collections SET name = 'x'", 'would write'],
    ['DELETE FROM collections RETURNING id', 'would write'],
    ['CREATE TABLE mine (a)', 'would write'],
    ['CREATE TEMP TABLE mine (a)', 'would write'],
    ['VACUUM', 'would write'],
    ['PRAGMA journal_mode = DELETE', 'would write'],
    ['PRAGMA wal_checkpoint(TRUNCATE)', 'would write'],
    ['PRAGMA user_version = 9', 'would write'],
    ['PRAGMA query_only = OFF', 'returns no rows'],
    ["ATTACH 'other.sqlite' AS other", 'returns no rows'],
    ['BEGIN', 'returns no rows'],
    ['SELECT 1; DELETE FROM collections', 'more than one statement'],
    ['-- nothing', 'contains no statements'],
  ])('%s', async (sql, why) => {
    const before = readFileSync(scene.database);
    const { code, stdout, stderr } = await scene.run('query', '--', sql);
    expect({ code, stdout }).toEqual({ code: refused, stdout: '' });
    expect(stderr).toContain(why);
    expect(readFileSync(scene.database).equals(before)).toBe(true);
    expect(readdirSync(scene.folder).filter(name => name.startsWith('other'))).toEqual([]);
  });

  test.each([
    [['SELECT :a, ?2']],
    [['SELECT :a']],
    [['SELECT ?']],
    [['SELECT 1', '--param', 'a']],
    [['SELECT 1', '--file', 'x.sql']],
    [[]],
    [['SELECT 1 AS a, 2 AS a', '--format', 'json']],
    [['SELECT 1', '--file', 'no-such-file.sql']],
    [['SELECT 1', '--out', '']],
  ])('and a command that is incomplete: %j', async args => {
    const { code, stdout, stderr } = await scene.run('query', ...args);
    expect({ code, stdout }).toEqual({ code: refused, stdout: '' });
    expect(stderr).toMatch(/^docmirror: .+\n$/);
  });
});

test('an error is said in the words of SQLite, and shows nothing that steers a terminal', async () => {
  const { code, stderr } = await scene.run('query', 'SELECT id\nFORM collections x');
  expect({ code, stderr }).toEqual({
    code: refused,
    stderr: 'docmirror: near "collections": syntax error [settings]\n',
  });
  const hostile = await scene.run('query', 'SELECT 1 \u001b]0;x\u0007 FROM');
  const name = await scene.run('query', `SELECT '\u001b[31m' AS "\u001b[1m"`);
  expect(hostile.stderr + name.stdout).not.toContain('\u001b');
});

test.concurrent.each([
  ['SIGINT', endless, [null]],
  // From its first row on, it is told of the signal.
  ['SIGTERM', rowsWithoutEnd, [null, 143]],
] as const)('%s ends it at once: %s', async (signal, sql, codes) => {
  const out = join(scene.folder, `${signal}.csv`);
  const args = ['query', sql, '--format', 'csv', '--out', out];
  await using running = spawnCli(args, { env: scene.env, cwd: scene.folder });
  await wait(1_000);
  running.child.kill(signal);
  expect(codes).toContain((await running.done).code);
  expect(existsSync(out)).toBe(false);
});

test.each(['json', 'ndjson'])('%s of a query has no character that steers a terminal', async format => {
  const { stdout } = await scene.run('query', "SELECT char(155, 8238) || 'x' AS text", '--format', format);
  expect([JSON.parse(stdout)].flat()).toEqual([{ text: '\u009b\u202ex' }]);
  expect(stdout).toMatch(/^[\n\x20-\x7e]+$/);
});

test('an infinite number is a text in JSON, because JSON has none', async () => {
  const sql = 'SELECT 9e999 AS more, -9e999 AS less, 1.5 AS other';
  const run = (format: string) => scene.run('query', sql, '--format', format);
  expect((await run('ndjson')).stdout).toBe('{"more":"Infinity","less":"-Infinity","other":1.5}\n');
  expect((await run('json')).stdout).toContain('"more":"Infinity"');
  expect((await run('csv')).stdout).toContain('Infinity,-Infinity,1.5');
});

test.each([
  '-- one\nSELECT 1 AS one',
  '--\nSELECT 1 AS one',
  '/* a=b */ SELECT 1 AS one',
  '-- a = b\nSELECT 1 AS one',
])('a statement can begin with a comment: %j', async sql => {
  for (const words of [[sql], ['--format', 'csv', sql], [sql, '--format', 'csv'], ['--', sql]])
    expect(await scene.run('query', ...words)).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^one\r?\n/),
    });
  expect(await scene.run('query', '--fromat', sql)).toMatchObject({ code: 2 });
});

test.each(['xlsx', 'parquet', 'csv'])('a terminal is sent no bytes that are not text: %s', async format => {
  const sent: string[] = [];
  const write = (chunk: unknown, _: string, done: () => void) => {
    sent.push(String(chunk));
    done();
  };
  const stdout = Object.assign(new Writable({ write }), { isTTY: true });
  const io = { stdout, signal: AbortSignal.timeout(60_000), line: statusLineOn(new Writable(), {}) };
  const done = deliver(['a piece'], new Tally(), { format, out: null }, io).catch(({ message }) => message);
  if (format === 'csv') expect(await done).toBe(true);
  else expect(await done).toBe(`--format ${format} is not for a terminal. Name a file with --out.`);
  expect(sent.join('')).toBe(format === 'csv' ? 'a piece' : '');
});

test('--out - is standard output, also of a report', async () => {
  const rows = await scene.run('query', 'SELECT 1 AS a', '--format', 'csv', '--out', '-');
  expect(rows).toMatchObject({ code: 0, stdout: 'a\n1\n' });
  expect((await scene.run('report', '--out', '-')).stdout).toMatch(/^<!doctype html>/i);
  expect(existsSync(join(scene.folder, '-'))).toBe(false);
});

test('export says that it needs a folder if --out is a file', async () => {
  const out = join(scene.folder, 'not-a-folder');
  writeFileSync(out, 'mine');
  const { code, stderr } = await scene.run('export', '--out', out);
  expect({ code, stderr }).toEqual({
    code: refused,
    stderr: `docmirror: --out: ${out} is a file. Name a folder. [settings]\n`,
  });
  expect(readFileSync(out, 'utf8')).toBe('mine');
});
