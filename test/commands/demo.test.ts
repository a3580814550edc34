import { cpSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeSample, newExportCount, pageSizeMax } from '../../examples/sample-service/sample.ts';
import { type CliResult, runCli, sqlite, temporaryFolder } from '../support/run-cli.ts';

const folder = temporaryFolder();
const database = join(folder.path, 'docmirror-demo.sqlite');
let shown: CliResult;
beforeAll(async () => {
  shown = await runCli(['demo', '--records', '300'], { cwd: folder.path });
  expect(shown).toMatchObject({ code: 0, stderr: '' });
});
afterAll(() => folder[Symbol.asyncDispose]());

describe('the demo', () => {
  test('says first what it is, in words of everybody', () => {
    const [first = ''] = shown.stdout.split('\n\n');
    expect(first).toMatch(/^This is a demo of docmirror, which copies three lists of a web service/);
    expect(first).not.toMatch(/\bmirror|proven|receipt|sweep|checkpoint/);
  });

  test('makes a run a day for two weeks, up to now', () => {
    const runs = sqlite(database, 'SELECT id, started_at, status FROM sync_runs ORDER BY id');
    const days = runs.map(({ started_at }) => Date.parse(String(started_at)));
    expect(runs).toHaveLength(14);
    for (const [at, day] of days.slice(1).entries())
      expect(Math.abs(day - (days[at] ?? 0) - 86_400_000)).toBeLessThan(60_000);
    expect(Date.now() - (days.at(-1) ?? 0)).toBeLessThan(120_000);
    expect(runs.filter(({ status }) => status === 'partial')).toHaveLength(1);
  });

  test('has renames, removals, an unproven run and a new field', async () => {
    const changes = sqlite(
      database,
      "SELECT DISTINCT resource, operation FROM changes WHERE operation <> 'insert'",
    );
    expect(changes.map(({ resource, operation }) => `${resource} ${operation}`).sort()).toEqual([
      'collections update',
      'connections update',
      'document-exports removal',
      'document-exports update',
      'webhooks removal',
    ]);
    expect(sqlite(database, 'SELECT field, first_seen_run_id FROM unknown_fields')).toEqual([
      { field: 'language', first_seen_run_id: 11 },
    ]);
    expect(shown.stdout).toMatch(/run 9 partial.*\n +document-exports is unproven: /);
    expect(shown.stdout).toMatch(
      /run 11 completed.*\n +document-exports has a new field: language \(string\)/,
    );
  });

  test('leaves a mirror that verify finds sound, and lists that are complete', async () => {
    expect(await runCli(['verify', '--database', database])).toMatchObject({ code: 0 });
    const verdicts = sqlite(database, 'SELECT verdict FROM sync_status');
    expect(verdicts.every(({ verdict }) => verdict === 'complete: proven')).toBe(true);
  });

  test('is of as many records as --records says, and the same for one --until', async () => {
    await using other = temporaryFolder();
    const contents = async () => {
      const made = await runCli(['demo', '--records', '20', '--until', '2026-11-01'], { cwd: other.path });
      expect(made.code).toBe(0);
      const path = join(other.path, 'docmirror-demo.sqlite');
      return sqlite(path, 'SELECT run_id, checksum, inserted FROM sync_run_resources ORDER BY 1, resource');
    };
    const first = await contents();
    expect(first.map(({ inserted }) => inserted)).toContain(20);
    expect(await contents()).toEqual(first);
    expect(await runCli(['demo', '--records', 'x'], { cwd: other.path })).toMatchObject({ code: 2 });
    expect(await runCli(['demo', '--until', 'x'], { cwd: other.path })).toMatchObject({ code: 2 });
  });

  test('shows by docmirror service what the sample service is', async () => {
    await using other = temporaryFolder();
    const [until, records] = ['2026-11-01', 1_000];
    const made = await runCli(['demo', '--records', `${records}`, '--until', until], { cwd: other.path });
    expect(made.code).toBe(0);
    const database = join(other.path, 'docmirror-demo.sqlite');
    const { code, stdout } = await runCli(['service', '--database', database]);
    expect(code).toBe(0);
    const cells = stdout.split('\n').map(line => line.trim().split(/ {2,}/));
    const seen = new Map(cells.map(([what, list, seen]) => [`${list} ${what}`, seen]));
    const { lists } = makeSample(new Date(Date.parse(until) - 13 * 86_400_000), records);
    const named = (name: string) => cells.flatMap(([what, , seen]) => (what === name ? [seen] : []));
    for (const [list, order] of Object.entries({
      'document-exports': 'by: exportedAt, direction: down',
      collections: 'by: id, direction: up',
      webhooks: 'by: id, direction: up',
    })) {
      expect(seen.get(`${list} number of the first page`)).toBe('1');
      expect(seen.get(`${list} greatest page size that was served`)).toBe(pageSizeMax.toLocaleString('en'));
      expect(seen.get(`${list} order of the list`)).toBe(order);
      expect(seen.get(`${list} what totalRecordCount is`)).toBe('fits');
      expect(seen.get(`${list} compression`)).toBe('none');
      expect(seen.get(`${list} whether answers have an ETag`)).toBe('no');
      expect(seen.get(`${list} milliseconds to the last byte`)).toMatch(/^median: [\d.]+, /);
    }
    for (const [list, items] of Object.entries(lists))
      for (const name of Object.keys(items[0] ?? {}).filter(each => each !== 'id'))
        expect([name, seen.get(`${list} ${name}`)?.split(', times')[0]]).toEqual([
          name,
          `types: ${[...new Set(items.map(item => typeIn(item, name)))].sort().join(', ')}`,
        ]);
    expect(seen.get('document-exports language')).toBe('types: missing, string, is in contract: no');
    const words = (all: readonly (string | null)[]) => [...new Set(all)].filter(each => each !== null).sort();
    const kinds = lists['document-exports'].map(({ sourceDocumentKind }) => sourceDocumentKind);
    expect(named('a kind that documents have')).toEqual(words(kinds));
    expect(named('an event that webhooks have')).toEqual(words(lists.webhooks.flatMap(each => each.events)));
    expect(cells).toContainEqual(['document-exports', `${newExportCount}`, '0', '0', '13']);
    expect(cells).toContainEqual(['collections', '0', '0', '0', '13']);
  });

  test.each([4_000, 40_000])('has some four days between versions, with %i records', records => {
    const newest = new Map<string, number>();
    const gaps: number[] = [];
    for (const each of makeSample(new Date('2026-11-01'), records).lists['document-exports'].toReversed()) {
      const document = `${each.sourceConnection.name} ${each.sourceDocumentReference}`;
      const at = Date.parse(each.exportedAt);
      gaps.push((at - (newest.get(document) ?? Number.NaN)) / 86_400_000);
      newest.set(document, at);
    }
    const days = gaps.filter(gap => gap >= 0).sort((a, b) => a - b);
    expect(days[Math.floor(days.length / 2)]).toBeCloseTo(4, 0);
  });
});

test('a demo folder of an older release is made again', async () => {
  await using folder = temporaryFolder();
  const cwd = folder.path;
  cpSync(dirname(database), cwd, { recursive: true });
  for (const name of ['docmirror-demo.sqlite', 'docmirror-demo-share.sqlite'].filter(each =>
    existsSync(join(cwd, each)),
  ))
    new Database(join(cwd, name)).exec('PRAGMA user_version = 8').close();
  expect(await runCli(['demo', '--records', '50'], { cwd })).toMatchObject({ code: 0 });
}, 60_000);

/** The JSON type of a field of an item. */
function typeIn(item: object, name: string): string {
  const value: unknown = Object.entries(item).find(([each]) => each === name)?.[1];
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}
