import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openForWriting } from '../../src/store/file/open-to-write.ts';
import { runCli, temporaryFolder } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { documentExport, type SampleItem, webhook } from '../support/stand-in.ts';

const evil = '<script>document.title = "owned"</script><img src=x onerror=alert(1)>"\'&';
const secrets = /endpoint-secret|hunter2|tellnoone|signed-with/;

/** A mirror with a history: changes of each kind, names that would be markup, secrets, and things that need a look. */
async function setReportScene(): Promise<Scene> {
  const scene = await setScene({}, { exports: 230 });
  const { lists, options } = scene.service;
  const evilConnection = { id: 900, name: evil };
  lists.webhooks.push(
    webhook(50, { endpoint: 'https://user:hunter2@hooks.example.com/in?key=tellnoone#tellnoone' }),
    webhook(51, { endpoint: '//user:hunter2@hooks.example.com/p?a=tellnoone', signingSecret: 'signed-with' }),
  );
  await scene.sync();
  const exports = lists['document-exports'] as SampleItem[];
  exports[0] = { ...exports[0], sourceDocumentTitle: evil };
  exports.splice(5, 1);
  for (let n = 300; n < 310; n++) {
    exports.push(
      documentExport(n, {
        sourceConnection: evilConnection,
        sourceDocumentKind: evil,
        sourceDocumentTitle: evil,
        exportedAt: '2024-02-20T10:00:00Z',
      }),
    );
  }
  lists.webhooks[0] = webhook(1, { endpoint: 'https://hooks.example.com/1?key=endpoint-secret-new' });
  lists.webhooks[3] = webhook(50, { description: evil });
  await scene.sync('--full');
  options.status = { collections: 500 };
  lists.webhooks.push('{"id":"not a number"}');
  exports.splice(0, 200);
  await scene.sync('--give-up-after', '0', '--max-removals', '10%');
  return scene;
}

let scene: Scene;
let file: string;
let html: string;

beforeAll(async () => {
  scene = await setReportScene();
  file = join(scene.folder, 'report.html');
  const result = await scene.run('report', '--out', file, '--since', '2024-01-01');
  expect(result).toMatchObject({ code: 0, stderr: '' });
  html = readFileSync(file, 'utf8');
});
afterAll(() => scene[Symbol.asyncDispose]());

describe('a report', () => {
  test('is one file, written beside and renamed, that replaces the one before', async () => {
    writeFileSync(join(scene.folder, 'other.html'), html.replace('<main>', '<main>old'));
    const result = await scene.run('report', '--out', join(scene.folder, 'other.html'));
    expect(result.stdout).toMatch(/^Wrote .*other\.html \([\d.]+ kB\)\.\n$/);
    expect(readFileSync(join(scene.folder, 'other.html'), 'utf8')).toMatch(
      /^<!doctype html>\n<html lang="en">/,
    );
    expect(readdirSync(scene.folder).filter(name => name.includes('.new'))).toEqual([]);
  });

  test('contains no script, no handler, no style attribute and no address to load from', () => {
    expect(html).not.toMatch(/<script|<img|<iframe|<object|<[^>]+\son\w+=|<[^>]+\sstyle=|@import|url\(/i);
    expect(html).not.toMatch(/\s(src|href)="(?!data:,")/);
    expect(html).toContain('&lt;script>document.title');
  });

  test('never shows the secret parts of an endpoint, nor what is called a secret', () => {
    expect(html).not.toMatch(secrets);
    expect(html).toContain('https://hooks.example.com/…');
    expect(html).toContain('(a part that is not shown has changed)');
  });

  test('says what needs a look, and what to do about it', () => {
    expect(html).toMatch(/Collections: failed: server_error<.*Run 3: GET .* \[server_error\]/);
    expect(html).toContain('There is nothing to do here: the mirror stays as it was');
    expect(html).toMatch(/Webhooks: records rejected: 1<.*1 record could not be read: /);
    expect(html).toContain('docmirror rejected');
    expect(html).toMatch(
      /Document exports: removals withheld: \d+<.*--resource document-exports --allow-mass-removal/s,
    );
  });

  test('shows the changes with what was before and after', () => {
    expect(html).toMatch(/<del>Document 1<\/del>.*<ins>&lt;script>/s);
    expect(html).toMatch(/<h3>Removed: Document exports, 1<\/h3>/);
    expect(html).toMatch(/<h3>New: Connections, 1<\/h3>/);
  });

  test('points out lists that are older than the age that is set', async () => {
    const old = join(scene.folder, 'old.html');
    await scene.run('report', '--out', old, '--max-age', '1ms');
    expect(readFileSync(old, 'utf8')).toMatch(/Document exports: too old.*Last completed .* ago\. /);
    expect(html).not.toContain('too old');
  });

  test('is made of an empty mirror, too', async () => {
    await using folder = temporaryFolder();
    const database = join(folder.path, 'empty.sqlite');
    openForWriting(database).close();
    const out = join(folder.path, 'report.html');
    expect((await runCli(['report', '--database', database, '--out', out])).code).toBe(0);
    const empty = readFileSync(out, 'utf8');
    expect(empty).toContain('Not everything has been synced yet');
    expect(empty).toContain('0 exports from');
  });

  test('of many records, kinds and flows is small and soon made', async () => {
    await using folder = temporaryFolder();
    const database = join(folder.path, 'many.sqlite');
    fill(database, Number(process.env.REPORT_RECORDS ?? 60_000));
    const out = join(folder.path, 'report.html');
    const startedAtMs = performance.now();
    const result = await runCli(['report', '--database', database, '--out', out, '--since', '1998-01-01']);
    const tookMs = performance.now() - startedAtMs;
    expect(result).toMatchObject({ code: 0, stderr: '' });
    const many = readFileSync(out, 'utf8');
    expect(many.length).toBeLessThan(1024 * 1024);
    expect(many).toContain('Exports per month');
    expect(many).toMatch(/Without a date that can be read, .*: \d/);
    expect(many).toMatch(/All others together<.*>9\d\.\d/);
    expect(tookMs).toBeLessThan(6_000);
  });
});

/** Many records in little time, with hostile kinds and times among them; long spans, long names. */
function fill(database: string, count: number): void {
  const { sqlite, close } = openForWriting(database);
  sqlite.exec(`
    INSERT INTO sync_runs (id, status, "trigger", started_at, completed_at, docmirror_version, base_url)
    VALUES (1, 'completed', 'manual', '2026-11-20T10:00:00.000Z', '2026-11-20T10:00:20.000Z', '0', 'https://a.example');
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
    INSERT INTO connections (id, name, _first_seen_run_id, _changed_run_id, _content)
    SELECT i, 'Connection ' || i || printf('%.*c', 500, 'x'), 1, 1, randomblob(16) FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO document_exports (source_connection_id, source_document_title, source_document_kind,
      destination_connection_id, exported_at, _first_seen_run_id, _changed_run_id, _content)
    SELECT 1 + i % 300, 'Title ' || i, 'kind ' || i % 15000 || printf('%.*c', 300, 'k'), 1 + i * 7 % 299,
      iif(i % 100 = 0, 'yesterday ' || i, strftime('%FT%TZ', 900000000 + i * 86400.0 * 9000 / ${count}, 'unixepoch')),
      1, 1, randomblob(16) FROM n;
    UPDATE document_exports SET exported_at_ms = unixepoch(exported_at) * 1000;`);
  close();
}
