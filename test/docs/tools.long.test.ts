import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { docmirrorShell } from '../support/docmirror-shell.ts';
import { sqlite, temporaryFolder } from '../support/run-cli.ts';
import { sheetIn, valuesIn } from '../support/spreadsheet.ts';

// The samples of docs/tools.md, in the tools that are installed. Debian has them all:
// python3-pandas python3-openpyxl python3-sqlalchemy python3-pyodbc libsqliteodbc r-cran-rsqlite r-cran-readxl libreoffice-calc
// openjdk-17-jdk-headless libxerial-sqlite-jdbc-java

const page = readFileSync(join(import.meta.dirname, '../../docs/tools.md'), 'utf8');
const folder = temporaryFolder();
const share = join(folder.path, 'docmirror-demo-share.sqlite');
// Another Python on the path does not have Debian's packages.
const python = existsSync('/usr/bin/python3') ? '/usr/bin/python3' : 'python3';
const jdbc = '/usr/share/java/sqlite-jdbc.jar';

const samplesOf = (language: string) =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, sample = '']) => sample);

beforeAll(async () => {
  const shell = docmirrorShell(folder.path);
  expect(await shell('docmirror demo')).toMatchObject({ code: 0 });
  const typed = [
    ...samplesOf('sh'),
    'docmirror changes --since-run 0 --format xlsx --out changes.xlsx --database docmirror-demo-share.sqlite\n',
  ];
  expect(typed).toHaveLength(3);
  for (const script of typed) expect(await shell(script), script).toMatchObject({ code: 0 });
});
afterAll(() => folder[Symbol.asyncDispose]());

const works = (program: string, ...args: string[]) => spawnSync(program, args).status === 0;
const hasModules = (modules: string) => works(python, '-c', `import ${modules}`);

/** What the only sample of a language prints. */
function printed(language: string, name: string, program: string, ...args: string[]): string {
  const [sample = '', ...others] = samplesOf(language);
  expect(others).toEqual([]);
  writeFileSync(join(folder.path, name), sample);
  return execFileSync(program, [...args, name], { cwd: folder.path, encoding: 'utf8' });
}

const lines = (sql: string) => sqlite(share, sql).map(row => Object.values(row).join(' '));
const newest = (columns: string) =>
  lines(`SELECT ${columns} FROM document_exports_named ORDER BY exported_at_ms DESC LIMIT 3`);

test('pandas counts what SQLite counts, from the share and from a spreadsheet', ({ skip }) => {
  if (!hasModules('pandas, openpyxl')) skip('python3-pandas and python3-openpyxl are needed');
  const output = printed('python-pandas', 'pandas-sample.py', python);
  expect(output).toContain(`(${lines('SELECT count(*) FROM document_exports').join()},)\n`);
  const days = lines(
    'SELECT date(exported_at), count(*) FROM document_exports GROUP BY 1 ORDER BY 1 DESC LIMIT 3',
  );
  expect(output.replaceAll(/ +/g, ' ')).toContain(`\n${days.reverse().join('\n')}\nLength: `);
});

test('SQLAlchemy counts what SQLite counts', ({ skip }) => {
  if (!hasModules('sqlalchemy')) skip('python3-sqlalchemy is needed');
  const counts = 'SELECT source_connection_name, count(*) FROM document_exports_named GROUP BY 1';
  const output = printed('python-sqlalchemy', 'sqlalchemy-sample.py', python);
  expect(output.trimEnd().split('\n').sort()).toEqual(lines(counts).sort());
});

test('R has the clock of each time, from the share and from a spreadsheet', ({ skip }) => {
  if (!works('Rscript', '-e', 'library(DBI); library(RSQLite); library(readxl)'))
    skip('r-cran-rsqlite and r-cran-readxl are needed');
  const output = printed('r', 'sample.R', 'Rscript');
  const [, ofShare, , ofSheet] = output.split('\n').filter(line => line.trim() !== '');
  const months = lines(
    "SELECT count(*) FROM document_exports GROUP BY strftime('%Y-%m', exported_at) ORDER BY min(exported_at)",
  );
  expect(ofSheet?.trim().split(/\s+/)).toEqual(months);
  // By the clock of Zurich, some are of the next month.
  expect(ofShare?.trim().split(/\s+/)).toHaveLength(months.length);
  expect(ofShare).not.toBe(ofSheet);
});

test('ODBC has whole milliseconds with BigInt=1, and cuts them without', ({ skip }) => {
  if (!hasModules('pyodbc') || !existsSync('/etc/odbcinst.ini'))
    skip('python3-pyodbc and libsqliteodbc are needed');
  const rows = newest('exported_at_utc, exported_at_ms');
  expect(printed('python-odbc', 'odbc-sample.py', python).trimEnd().split('\n')).toEqual(rows);
  const without = readFileSync(join(folder.path, 'odbc-sample.py'), 'utf8').replace(';BigInt=1', '');
  const cut = execFileSync(python, ['-c', without], { cwd: folder.path, encoding: 'utf8' });
  expect(cut.trimEnd().split('\n')).not.toEqual(rows);
});

test('JDBC has whole milliseconds by getLong', ({ skip }) => {
  if (!works('javac', '--version') || !existsSync(jdbc))
    skip('a JDK and libxerial-sqlite-jdbc-java are needed');
  const output = printed('java', 'Exports.java', 'java', '-cp', jdbc);
  const rows = newest(
    "source_connection_name, strftime('%Y-%m-%dT%H:%M:%fZ', exported_at_ms / 1000.0, 'unixepoch')",
  );
  const exact = (line: string) => line.replace(/(?<!\.\d+)Z$/, '.000Z');
  expect(output.trimEnd().split('\n').map(exact)).toEqual(rows);
});

test('DuckDB answers, whatever the time zone of its session is', async () => {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    const [sample = ''] = samplesOf('sql-duckdb');
    const answers = new Set<string>();
    for (const zone of ['UTC', 'Europe/Zurich', 'America/New_York']) {
      await connection.run(`SET TimeZone = '${zone}'`);
      const reader = await connection.runAndReadAll(sample.replaceAll("'lake/", `'${folder.path}/lake/`));
      const rows = reader.getRowObjectsJson().map(row => JSON.stringify(row));
      expect(rows).toHaveLength(7);
      answers.add(rows.join());
    }
    expect(answers.size).toBe(1);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
});

describe.each([
  'sheets/document_exports.xlsx',
  'sheets/collections.xlsx',
  'sheets/webhooks.xlsx',
  'sheets/connections.xlsx',
  'latest.xlsx',
  'changes.xlsx',
])('%s has the same values', name => {
  /** All cells as texts, times to the second, as exceljs reads them. */
  const expected = async () =>
    valuesIn(await sheetIn(join(folder.path, name))).map(row =>
      row.map(value =>
        value instanceof Date ? value.toISOString().slice(0, 19).replace('T', ' ') : String(value ?? ''),
      ),
    );

  test('for openpyxl', async ({ skip }) => {
    if (!hasModules('openpyxl')) skip('python3-openpyxl is needed');
    const script = `import json, sys, openpyxl
sheet = openpyxl.load_workbook(sys.argv[1]).active
assert (sheet.freeze_panes, sheet.auto_filter.ref, sheet['A1'].font.b) == ('A2', sheet.dimensions, True)
text = lambda value: '' if value is None else str(value)[:19] if hasattr(value, 'year') else str(value)
print(json.dumps([[text(cell.value) for cell in row] for row in sheet.iter_rows()]))`;
    const output = execFileSync(python, ['-W', 'error', '-c', script, name], {
      cwd: folder.path,
      encoding: 'utf8',
      maxBuffer: 2 ** 27,
    });
    expect(JSON.parse(output)).toEqual(await expected());
  });

  test('for LibreOffice', async ({ skip }) => {
    if (!works('soffice', '--version')) skip('libreoffice-calc is needed');
    const utf8 = 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true';
    const profile = `-env:UserInstallation=file://${folder.path}/office`;
    const convert = [profile, '--headless', '--convert-to', utf8, '--outdir', 'office-csv', name];
    execFileSync('soffice', convert, { cwd: folder.path, stdio: 'ignore' });
    const csv = join(folder.path, 'office-csv', name.replace(/.*\//, '').replace('.xlsx', '.csv'));
    expect(parse(readFileSync(csv))).toEqual(await expected());
  });
});
