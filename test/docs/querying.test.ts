import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { docmirrorShell, type Shell } from '../support/docmirror-shell.ts';
import { type Row, sqlite, temporaryFolder } from '../support/run-cli.ts';
import { asStranger, programOf, rowsForStranger, whyNoStranger } from '../support/share.ts';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'querying.md'), 'utf8');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const hasSqliteCli = spawnSync('sqlite3', ['--version']).status === 0;
const folder = temporaryFolder();
const share = join(folder.path, 'docmirror-demo-share.sqlite');

let shell: Shell;
beforeAll(async () => {
  shell = docmirrorShell(folder.path);
  expect(await shell('docmirror demo')).toMatchObject({ code: 0 });
  chmodSync(folder.path, 0o755);
  const typed = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, script = '']) => script);
  expect(typed).toHaveLength(5);
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
  const rows = sqlite(share, sql);
  expect(rows.length).toBeGreaterThan(0);
  // If a column is empty in every row, its query asks for something that is not there.
  const names = Object.keys(rows[0] ?? {});
  expect(names.filter(name => rows.every(row => row[name] === null))).toEqual([]);
});

const zones = ['UTC', 'Europe/Zurich', 'America/New_York'];

/** The share with the same times in other words: with more digits, with an offset ahead of UTC or behind it. */
function shareInOtherWords(): string {
  const path = join(folder.path, 'other-words.sqlite');
  copyFileSync(share, path);
  const database = new Database(path);
  const offset = (hours: number, words: string) =>
    `strftime('%Y-%m-%dT%H:%M:%f', exported_at, '${hours} hours') || '${words}'`;
  database.exec(`UPDATE document_exports SET exported_at = CASE id % 4 WHEN 0 THEN replace(exported_at, 'Z', '000Z')
    WHEN 1 THEN ${offset(14, '+14:00')} WHEN 2 THEN ${offset(-9, '-09:00')} ELSE exported_at END
    WHERE _changed_run_id = _first_seen_run_id`);
  database.close();
  return path;
}

/** What a program in a time zone answers; times that are shown as they were sent are made equal. */
function answersIn(zone: string, path: string, asked: readonly string[]): Row[][] {
  const program = `
    const Database = require(process.argv[1]), database = new Database(process.argv[2], { readonly: true });
    const rows = JSON.parse(process.argv[3]).map(sql => database.prepare(sql).all());
    console.log(JSON.stringify(rows));`;
  const driver = join(root, 'node_modules', 'better-sqlite3');
  const stdout = execFileSync(process.execPath, ['-e', program, driver, path, JSON.stringify(asked)], {
    env: { TZ: zone },
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  return JSON.parse(stdout, (key, value) =>
    key === 'hours_old' ? null : key === 'exported_at' ? Date.parse(value) : value,
  );
}

test('answers do not depend on the clock of who asks, nor on the form of a time', () => {
  const isOfThisClock = (sql: string) => sql.includes("'localtime'");
  const asked = statements('sql').map(([, sql]) => sql);
  const same = asked.filter(sql => !isOfThisClock(sql));
  expect(same).toHaveLength(asked.length - 1);
  const wanted = answersIn('UTC', share, same);
  const path = shareInOtherWords();
  for (const zone of zones) expect([zone, answersIn(zone, path, same)]).toEqual([zone, wanted]);
  const here = new Set(zones.map(zone => JSON.stringify(answersIn(zone, path, asked.filter(isOfThisClock)))));
  expect(here.size).toBe(3);
});

/** The queries that a page runs from the command line, each with the file that it goes to. */
function typedQueries(text: string): (readonly [file: string, sql: string])[] {
  const typed = text.matchAll(/^ *sqlite3 (?:-\w+ )*(\S+\.sqlite) "(.*)"$/gm);
  return [...typed].map(([, file = '', sql = '']) => [file, sql] as const);
}

const skipped = whyNoStranger === null ? '' : ` (skipped: ${whyNoStranger})`;

describe.skipIf(whyNoStranger !== null)(`a user who can only read the share${skipped}`, () => {
  const typed = [...typedQueries(readme), ...typedQueries(page)];
  const asked = [...typed.map(([, sql]) => [sql, sql] as const), ...statements('sql')];
  // It grows while the programs are asked one after the other.
  const withoutAge = ({ age_seconds, ...row }: Row) => row;

  test('can write neither it nor its folder, and the pages ask no other file', () => {
    expect(statSync(share).mode & 0o777).toBe(0o644);
    for (const path of [share, folder.path])
      expect([path, asStranger('test', ['-w', path]).status]).toEqual([path, 1]);
    expect(typed.length).toBeGreaterThan(2);
    expect(typed.filter(([file]) => file !== basename(share))).toEqual([]);
  });

  test.for(['sqlite3', 'python3'] as const)('gets all answers with %s', (program, { skip }) => {
    if (asStranger(programOf(program), ['--version']).status !== 0) skip(`${program} is needed`);
    for (const [question, sql] of asked) {
      const rows = rowsForStranger(program, share, sql).map(withoutAge);
      expect([question, rows]).toEqual([question, sqlite(share, sql).map(withoutAge)]);
    }
    expect(readdirSync(folder.path).filter(name => name.startsWith(basename(share)))).toEqual([
      basename(share),
    ]);
  });
});

test('the lists as of a run are in SQL what export writes', async () => {
  const then = await shell(
    'docmirror export --as-of-run 1 --format ndjson --out then --database docmirror-demo-share.sqlite',
  );
  expect(then).toMatchObject({ code: 0 });
  const exported = (name: string) =>
    readFileSync(join(folder.path, 'then', `${name}.ndjson`), 'utf8')
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as Row);
  const answer = (question: string) =>
    sqlite(share, statements('sql').find(([asked]) => asked.startsWith(question))?.[1] ?? '');
  const inOrder = (rows: unknown[]) => rows.map(row => JSON.stringify(row)).sort();
  const exports = answer('Document exports as of run 1').map(row => [
    row.source_document_reference,
    row.source_document_title,
    row.destination_reference,
    row.exported_at,
  ]);
  const wanted = exported('document_exports').map(record => [
    record.sourceDocumentReference,
    record.sourceDocumentTitle,
    record.destinationReference,
    record.exportedAt,
  ]);
  expect(exports.length).toBeGreaterThan(1_000);
  expect(inOrder(exports)).toEqual(inOrder(wanted));
  const names = answer('The names of connections as of run 1').map(({ id, name }) => ({ id, name }));
  expect(names).not.toEqual(sqlite(share, 'SELECT id, name FROM connections ORDER BY 1'));
  const told = exported('connections').map(({ id, name }) => ({ id, name }));
  expect(inOrder(names)).toEqual(inOrder(told));
});

test('the page has statements', () => {
  expect(statements('sql').length).toBeGreaterThan(10);
});
