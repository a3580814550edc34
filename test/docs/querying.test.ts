import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { playsAll } from '../support/cases.ts';
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
  expect(typed).toHaveLength(7);
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

describe('a question of a manager has the answer that plain JavaScript counts', () => {
  const dayMs = 86_400_000;
  const path = join(folder.path, 'questions.sqlite');
  let exports: Row[];
  let connections: Map<unknown, unknown>;
  let runs: Row[];

  beforeAll(() => {
    copyFileSync(shareInOtherWords(), path);
    const database = new Database(path);
    database.exec(`INSERT INTO connections SELECT 999, 'Unused', 1, 1, NULL, _content FROM connections LIMIT 1;
      UPDATE document_exports SET destination_connection_id = NULL WHERE id % 50 = 0;
      UPDATE document_exports SET source_document_reference = NULL WHERE id % 70 = 0`);
    database.close();
    exports = sqlite(path, 'SELECT * FROM document_exports');
    connections = new Map(sqlite(path, 'SELECT id, name FROM connections').map(({ id, name }) => [id, name]));
    runs = sqlite(
      path,
      'SELECT l.*, r.completed_at AS ended FROM sync_run_resources l JOIN sync_runs r ON r.id = run_id',
    );
  });

  const answer = (question: string, change = (sql: string) => sql) =>
    sqlite(path, change(statements('sql').find(([asked]) => asked.startsWith(question))?.[1] ?? ''));
  const typed = async (part: string) => {
    const blocks = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, script = '']) => script);
    const script = blocks.find(block => block.includes(part)) ?? '';
    const { output } = await shell(
      script.replace('docmirror-demo-share', 'questions').replace(/--format xlsx --out \S+/, '--format csv'),
    );
    return output;
  };
  const lines = (rows: readonly (readonly unknown[])[]) => rows.map(row => row.join(' | ')).sort();
  const said = (rows: readonly Row[]) => lines(rows.map(row => Object.values(row)));
  const timeOf = (row: Row) => Date.parse(String(row.exported_at));
  const groups = (...columns: string[]) =>
    Map.groupBy(exports, row => JSON.stringify(columns.map(column => row[column])));
  const documents = (...further: string[]) =>
    [...groups('source_connection_id', 'source_document_reference', ...further).values()].filter(
      ([row]) => row?.source_document_reference !== null,
    );
  const rounded = (value: number) => Number(value.toFixed(1));
  const countOf = (rows: readonly Row[] = [], column: string) =>
    new Set(rows.map(row => row[column]).filter(value => value !== null)).size;
  /** The Monday of a time's week, by the clocks of a place. */
  const mondays = (timeZone: string) => {
    const days = new Intl.DateTimeFormat('sv-SE', { timeZone });
    return (ms: number) => {
      const day = Date.parse(days.format(ms));
      return new Date(day - ((new Date(day).getUTCDay() + 6) % 7) * dayMs).toISOString().slice(0, 10);
    };
  };

  test('exports a week by destination, 13 weeks, in Zurich', () => {
    const [, sql = ''] =
      statements('sql').find(([asked]) => asked.includes('whole weeks by destination')) ?? [];
    const monday = mondays('Europe/Zurich');
    const [status] = sqlite(path, "SELECT read_since FROM sync_status WHERE resource = 'document-exports'");
    const now = Date.parse(String(status?.read_since));
    const weeks = Array.from({ length: 13 }, (_, at) =>
      monday(Date.parse(monday(now)) - (7 * at + 6.5) * dayMs),
    );
    const counted = [...groups('destination_connection_id').values()].flatMap(rows =>
      weeks.flatMap(week => {
        const count = rows.filter(row => monday(timeOf(row)) === week).length;
        return count === 0 ? [] : [[week, connections.get(rows[0]?.destination_connection_id), count]];
      }),
    );
    const [answered = []] = answersIn('Europe/Zurich', path, [sql]);
    expect(counted.length).toBeGreaterThan(39);
    expect(said(answered)).toEqual(lines(counted));
  });

  test('the last 13 whole weeks beside the four before each', () => {
    const monday = mondays('UTC');
    const counts = Map.groupBy(exports, row => monday(timeOf(row)));
    const [newest = '', ...before] = [...counts.keys()].sort().reverse();
    const weeks =
      monday(Date.parse(String(runs.at(-1)?.read_since))) === newest ? before : [newest, ...before];
    const rows = weeks.slice(0, 13).map((week, at) => {
      const earlier = weeks.slice(at + 1, at + 5).map(each => counts.get(each)?.length ?? 0);
      const usual = earlier.reduce((sum, count) => sum + count, 0) / earlier.length;
      return { week, exports: counts.get(week)?.length, usual: rounded(usual) };
    });
    expect(answer('The last 13 whole weeks')).toEqual(rows);
  });

  test('what was exported twice in one version', () => {
    const twice = documents('source_document_version').filter(({ length }) => length > 1);
    const rows = twice.map(all => [
      connections.get(all[0]?.source_connection_id),
      all[0]?.source_document_reference,
      all[0]?.source_document_version,
      all.length,
      countOf(all, 'destination_connection_id'),
    ]);
    expect(rows.length).toBeGreaterThan(20);
    expect(said(answer('Documents of which one version'))).toEqual(lines(rows));
  });

  test('what has several versions', () => {
    const counts = documents().map(all => countOf(all, 'source_document_version'));
    const several = counts.filter(count => count > 1).sort((a, b) => b - a);
    const answered = answer('Documents with several versions');
    expect(answered[0]?.documents).toBe(several.length);
    expect(answered.map(({ versions }) => versions)).toEqual(several.slice(0, 20));
  });

  test('what changed since Monday', () => {
    const since = mondays('UTC')(Date.parse(String(runs.at(-1)?.ended)));
    const rows = runs.flatMap(({ run_id, resource, inserted, updated, removed, ended }) =>
      Object.entries({ insert: inserted, update: updated, removal: removed })
        .filter(([, count]) => count !== 0 && String(ended) >= since)
        .map(([operation, count]) => [run_id, resource, operation, count]),
    );
    const answered = answer('What each run did since').filter(({ resource }) => resource !== 'connections');
    expect(said(answered)).toEqual(lines(rows));
  });

  test('the list at the end of a period', () => {
    const seventh = String(runs.find(({ run_id }) => run_id === 8)?.ended);
    const rows = answer('Document exports as of run 1', sql => {
      const [, byDate = ''] = /: (\(SELECT .*\) AS run)\.$/m.exec(sql) ?? [];
      return sql.replace('SELECT 1 AS run', `SELECT ${byDate.replace('2026-10-01', seventh)}`);
    });
    const inserted = runs
      .filter(({ run_id, resource }) => Number(run_id) <= 7 && resource === 'document-exports')
      .reduce((sum, run) => sum + Number(run.inserted) - Number(run.removed), 0);
    expect(rows).toHaveLength(inserted);
    expect(inserted).toBeLessThan(exports.length);
  });

  test('which connections are unused or quiet', () => {
    const newest = Math.max(...exports.map(timeOf));
    const roles = ['source', 'destination'].flatMap(role =>
      [...groups(`${role}_connection_id`).values()].map(all => {
        const id = all[0]?.[`${role}_connection_id`];
        const days = (newest - Math.max(...all.map(timeOf))) / dayMs;
        return [id, connections.get(id), role, all.length, rounded(days)];
      }),
    );
    const [unused, ...used] = answer('Which connections no export uses');
    expect(unused).toMatchObject({ id: 999, name: 'Unused', role: 'unused', exports: null, newest: null });
    expect(lines(used.map(({ newest, ...row }) => Object.values(row)))).toEqual(
      lines(roles.filter(([id]) => id !== null)),
    );
  });

  test('the median between versions', async () => {
    const gaps = documents().flatMap(all => {
      const firsts = [...Map.groupBy(all, row => row.source_document_version).values()];
      const times = firsts.map(rows => Math.min(...rows.map(timeOf))).sort((a, b) => a - b);
      return times.slice(1).map((time, at) => (time - (times[at] ?? 0)) / dayMs);
    });
    gaps.sort((a, b) => a - b);
    const median =
      ((gaps[Math.floor((gaps.length - 1) / 2)] ?? 0) + (gaps[Math.floor(gaps.length / 2)] ?? 0)) / 2;
    expect(Number.parseFloat((await typed('median(')).replace('days', ''))).toBe(Number(median.toFixed(1)));
  });

  test('the documents of a customer', async () => {
    const titles = exports.filter(row => /contoso/i.test(String(row.source_document_title)));
    const csv = await typed('customer=Contoso');
    expect(titles.length).toBeGreaterThan(100);
    expect(csv.trimEnd().split('\n')).toHaveLength(1 + titles.length);
  });

  test('the share of each destination', () => {
    const rows = [...groups('destination_connection_id').values()].map(all => ({
      destination: connections.get(all[0]?.destination_connection_id) ?? null,
      exports: all.length,
      percent: rounded((100 * all.length) / exports.length),
    }));
    expect(answer('The share of each')).toEqual(rows.sort((a, b) => b.exports - a.exports));
  });

  test('what a field without a column says, and how many references are empty', () => {
    const extra = exports.map(({ _extra }) => JSON.parse(String(_extra))?.language ?? null);
    const counts = [...Map.groupBy(extra, value => value)].map(([language, all]) => ({
      language,
      exports: all.length,
    }));
    expect(answer('What a field without')).toEqual(counts.sort((a, b) => b.exports - a.exports));
    const without = JSON.parse(String(answer('Fields that are empty')[0]?.without));
    expect(without.reference).toBe(exports.filter(row => row.source_document_reference === null).length);
  });
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
    // Each statement is asked by one of the programs at least.
    const own = asked.filter((_, at) => playsAll || at % 2 === (program === 'python3' ? 0 : 1));
    for (const [question, sql] of own) {
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
