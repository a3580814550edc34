import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { docmirrorShell } from '../support/docmirror-shell.ts';
import { sqlite, temporaryFolder } from '../support/run-cli.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'querying.md'), 'utf8');
const hasSqliteCli = spawnSync('sqlite3', ['--version']).status === 0;
const folder = temporaryFolder();
const database = join(folder.path, 'docmirror-demo.sqlite');

beforeAll(async () => {
  const shell = docmirrorShell(folder.path);
  expect(await shell('docmirror demo')).toMatchObject({ code: 0 });
  const typed = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, script = '']) => script);
  expect(typed).toHaveLength(2);
  for (const script of typed) {
    if (script.startsWith('sqlite3 ') && !hasSqliteCli) continue;
    expect(await shell(script), script).toMatchObject({ code: 0 });
  }
});

afterAll(() => folder[Symbol.asyncDispose]());

/** The statements of a language, by the question that each begins with. */
function statements(language: string): (readonly [question: string, sql: string])[] {
  const blocks = [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))];
  return blocks.map(([, sql = '']) => [/^-- (.*)$/m.exec(sql)?.[1] ?? sql.slice(0, 60), sql] as const);
}

test.each(statements('sql'))('SQLite answers: %s', (_question, sql) => {
  expect(sql).toMatch(/^-- /);
  const rows = sqlite(database, sql);
  expect(rows.length).toBeGreaterThan(0);
  // A column that holds nothing at all asks for something that is not there.
  const names = Object.keys(rows[0] ?? {});
  expect(names.filter(name => rows.every(row => row[name] === null))).toEqual([]);
});

test.each(statements('sql-duckdb'))('DuckDB answers: %s', async (_question, sql) => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    const reader = await connection.runAndReadAll(sql.replaceAll("'lake/", `'${folder.path}/lake/`));
    expect(reader.getRowObjectsJson().length).toBeGreaterThan(0);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
});

test('the page has statements of both', () => {
  expect(statements('sql').length).toBeGreaterThan(10);
  expect(statements('sql-duckdb').length).toBeGreaterThan(1);
});
