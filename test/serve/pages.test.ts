import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { recordPage } from '../../src/render/pages/record-page.ts';
import { Turns } from '../../src/serve/turns.ts';
import { openForWriting } from '../../src/store/file/open-to-write.ts';
import { BrowseReader } from '../../src/store/read/browse-reader.ts';
import type { SearchResult } from '../../src/store/read/search.ts';
import { temporaryFolder } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { type Served, servedToken, serveScene } from '../support/served.ts';
import { collection, documentExport, type SampleItem, webhook } from '../support/stand-in.ts';

const evil = '<script>document.title = "owned"</script>"\'&';

let scene: Scene;
let served: Served;
beforeAll(async () => {
  scene = await setScene({}, { exports: 60 });
  const { lists } = scene.service;
  (lists['document-exports'] as SampleItem[]).push(
    documentExport(900, { sourceDocumentTitle: 'Über 100% of_it', sourceDocumentReference: 'REF-900' }),
    documentExport(901, { sourceDocumentTitle: 'Undated document', exportedAt: null }),
  );
  lists.webhooks.push(webhook(50, { endpoint: 'https://u:hunter2@hooks.example.com/in?key=hunter2' }));
  (lists['document-exports'][9] as SampleItem).exportedAt = '2031-01-01T00:00:00Z';
  await scene.sync();
  lists.collections[0] = collection(1, { name: evil });
  lists.collections.splice(3, 1);
  lists.webhooks[3] = webhook(50, { endpoint: 'https://u:hunter2@hooks.example.com/in?key=hunter2-new' });
  await scene.sync();
  served = await serveScene(scene);
});
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  await scene[Symbol.asyncDispose]();
});

async function page(path: string): Promise<{ status: number; html: string; headers: Headers }> {
  const answer = await served.get(path);
  return { status: answer.status, html: await answer.text(), headers: answer.headers };
}

const pages = [
  '/',
  '/records/collections/1',
  '/search?q=document',
  '/records/collections/4711',
  '/document-exports',
  '/collections?source=1',
  '/webhooks',
  '/connections',
  '/changes',
  '/connections/1',
  '/connections/4711',
  '/changes?nonsense=1',
];

describe('the served pages', () => {
  test.each(pages)('need the token, as bearer token or password: %s', async path => {
    expect((await fetch(served.url + path)).status).toBe(401);
    expect((await served.get(path, { authorization: 'Bearer wrong' })).status).toBe(401);
    const refused = await fetch(served.url + path);
    expect(refused.headers.get('www-authenticate')).toMatch(/^Basic /);
    const basic = `Basic ${btoa(`me:${servedToken}`)}`;
    expect((await served.get(path, { authorization: basic })).status).not.toBe(401);
    expect((await served.get(path, { authorization: `Basic ${btoa(`${servedToken}:wrong`)}` })).status).toBe(
      401,
    );
  });

  test.each(pages)('run no script and load nothing, whatever the records say: %s', async path => {
    const { html, headers } = await page(path);
    const policy = headers.get('content-security-policy') ?? '';
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(html) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      `style-src 'sha256-${hash}'`,
      'img-src data:',
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
    ]);
    expect(html).not.toMatch(
      /<script|<img|<iframe|<object|<[^>]+\son\w+=|<[^>]+\sstyle=|@import|url\(|javascript:/i,
    );
    expect(html).not.toContain('hunter2');
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  });

  test('have a password, which a browser is never led into sending to the lists for programs', async () => {
    const authorization = `Basic ${btoa(`me:${servedToken}`)}`;
    expect((await served.get('/v2/webhooks', { authorization })).status).toBe(401);
  });

  test('are only read', async () => {
    for (const path of pages) {
      const authorization = `Bearer ${servedToken}`;
      const answer = await fetch(served.url + path, { method: 'POST', headers: { authorization } });
      expect(answer.status).toBe(405);
    }
  });
});

describe('the page of a record', () => {
  test('is linked from the latest changes of the served report, and not from the report in a file', async () => {
    const { html } = await page('/');
    const links = [...html.matchAll(/href="\.\/(records\/[^"]+)"/g)].map(([, path]) => String(path));
    expect(links).toContain('records/collections/1');
    for (const link of links) expect((await page(`/${link}`)).status).toBe(200);
    const out = join(scene.folder, 'report.html');
    await scene.run('report', '--out', out);
    const { readFileSync } = await import('node:fs');
    const file = readFileSync(out, 'utf8');
    expect(file).not.toMatch(/<a |<form/);
    expect(file).toContain("form-action 'none'");
  });

  test('shows what it says, each version, and what changed between two', async () => {
    const { html, status } = await page('/records/collections/1');
    expect(status).toBe(200);
    expect(html).toMatch(/<h1>&lt;script>.*<\/h1>/);
    expect(html).toContain('Collections 1.');
    expect(html).toMatch(/Listed<\/span> since <a href="..\/..\/changes\?run=2">run 2<\/a> \(<time/);
    expect(html).toMatch(/<del>Collection 1<\/del>.*<ins>&lt;script>/s);
    expect(html).toMatch(/From <a[^>]*>run 1<.*until <a[^>]*>run 2<.*replaced it/s);
  });

  test('links the connections that it names', async () => {
    const { html } = await page('/records/document-exports/1');
    const links = [...html.matchAll(/href="\.\.\/\.\.\/(connections\/\d+)"/g)].map(([, path]) => path);
    expect(links).toHaveLength(2);
    for (const link of links) expect((await page(`/${link}`)).status).toBe(200);
    const webhook = recordPage(
      {
        resource: 'webhooks',
        recordId: 1,
        firstSeen: { runId: 1, at: null },
        versionCount: 1,
        versions: [
          {
            from: { runId: 1, at: null },
            to: null,
            endedBy: null,
            isFirst: true,
            record: '{"id":1,"connections":[{"id":3,"name":"SAP"},{"id":4,"name":"<b>"}],"other":[{"id":5}]}',
            before: null,
          },
        ],
      },
      'Webhooks',
    ).html;
    expect(webhook).toContain('<a href="../../connections/3">SAP (3)</a>, <a href');
    expect(webhook).toContain('&lt;b> (4)</a>');
    expect(webhook).not.toContain('connections/5');
  });

  test('is there for a record that is gone', async () => {
    const { html, status } = await page('/records/collections/4');
    expect(status).toBe(200);
    expect(html).toMatch(/Gone<\/span> since <a[^>]*>run 2</);
    expect(html).toContain('What it last said');
  });

  test('need not be sent again while nothing has changed', async () => {
    const { headers } = await page('/records/collections/1');
    const known = { 'if-none-match': headers.get('etag') ?? '' };
    expect((await served.get('/records/collections/1', known)).status).toBe(304);
    expect((await served.get('/records/collections/4711', known)).status).toBe(404);
  });

  test.each([
    '/records/collections/4711',
    '/records/collections/x',
    '/records/collections/9007199254740993',
    '/records/sync_runs/1',
    '/records/__proto__/1',
  ])('says so if the record does not exist: %s', async path => {
    const { html, status } = await page(path);
    expect(status).toBe(404);
    expect(html).toContain('<h1>No such record</h1>');
  });

  test('is bounded: of many versions it shows the newest, and names the command for the others', () => {
    const version = (n: number) => ({
      from: { runId: n, at: null },
      to: { runId: n + 1, at: null },
      endedBy: 'update',
      isFirst: false,
      record: JSON.stringify({ id: 1, name: `v${n}` }),
      before: { record: JSON.stringify({ id: 1, name: `v${n - 1}` }) },
    });
    const versions = [version(9), version(8)];
    const { html } = recordPage(
      {
        resource: 'collections',
        recordId: 1,
        firstSeen: { runId: 1, at: null },
        versions,
        versionCount: 700,
      },
      'Collections',
    );
    expect(html).toContain('The 698 older ones: <code>docmirror show collections 1</code>');
  });
});

describe('the search', () => {
  const found = async (q: string) => {
    const { html, status } = await page(`/search?q=${encodeURIComponent(q)}`);
    expect(status).toBe(200);
    return [...html.matchAll(/class="what"><a href="\.\/(?:records\/)?([^"]+)"/g)].map(([, path]) =>
      String(path),
    );
  };

  test('finds records by words of their titles, names and references, in either case', async () => {
    expect(await found('ref-900')).toHaveLength(1);
    expect(await found('REF-900 über')).toHaveLength(1);
    expect(await found('REF-900 ÜBER')).toHaveLength(1);
    expect(await found('REF-900 U\u0308ber')).toHaveLength(1);
    expect(await found('collection 2')).toEqual(['collections/2']);
  });

  test('takes what SQL has signs for as it is', async () => {
    expect(await found('100%')).toHaveLength(1);
    expect(await found('of_it')).toHaveLength(1);
    expect(await found('ofXit')).toHaveLength(0);
    expect(await found('%')).toHaveLength(1);
    expect(await found("' OR 1=1 --")).toHaveLength(0);
  });

  test('does not look into endpoints, because parts of them are secret', async () => {
    expect(await found('hunter2')).toEqual([]);
    const { html } = await page('/search?q=Webhook');
    expect(html).not.toContain('hooks.example.com');
  });

  test('shows fifty at most, the exports made last first, and says how many there are', async () => {
    const { html } = await page('/search?q=document');
    const times = [...html.matchAll(/class="details">[^<]* (2\d{3}-[^ <]+)</g)].map(([, time]) =>
      String(time),
    );
    expect(await found('document')).toHaveLength(50);
    expect(times.length).toBeGreaterThan(40);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(times[0]).toBe('2031-01-01T00:00:00Z');
    expect(html).toMatch(/50 of 5\d records/);
    expect(html).toMatch(/<a rel="next" href="search\?q=document&amp;page=2">/);
    const second = (await page('/search?q=document&page=2')).html;
    expect(second).toMatch(/51 to 5\d of 5\d records/);
    expect(second).toContain('Previous page');
  });

  test('keeps what was asked for in the box, as text', async () => {
    const { html } = await page(`/search?q=${encodeURIComponent(evil)}`);
    expect(html).toMatch(/<input[^>]*value="&lt;script>[^>]*>?/);
    expect(html).toContain('/records/collections/1"');
    expect((await page('/search')).html).toContain('Find a record');
    expect((await page('/search?q=%20')).html).toContain('Find a record');
  });

  test('refuses what is too long, and what is asked twice', async () => {
    expect((await page(`/search?q=${'x'.repeat(201)}`)).status).toBe(400);
    expect((await page('/search?q=a&q=b')).status).toBe(400);
  });

  test('puts the record with exactly that reference first, in any case', async () => {
    expect((await found('doc-1'))[0]).toBe('document-exports/1');
    expect((await found('DOC-1')).length).toBeGreaterThan(5);
  });

  test('finds what was removed, and marks it', async () => {
    const { html } = await page('/search?q=collection+4');
    expect(html).toMatch(/records\/collections\/4">Collection 4<\/a> <span class="badge bad">Removed</);
    expect((await page('/search?q=collection+3')).html).not.toContain('Removed<');
  });

  test('lets four go on at once, lets others wait, and sends further ones away', async () => {
    const turns = new Turns();
    const going = await Promise.all([1, 2, 3, 4].map(() => turns.take()));
    const waiting = Array.from({ length: 60 }, () => turns.take());
    await expect(turns.take()).rejects.toMatchObject({ statusCode: 429, headers: { 'retry-after': '1' } });
    for (const turn of going) turn[Symbol.dispose]();
    for (const turn of waiting) (await turn)[Symbol.dispose]();
    (await turns.take())[Symbol.dispose]();
  });

  test('goes through many rows in slices, from the newest on, and ends when its time is over', async () => {
    await using folder = temporaryFolder();
    const database = join(folder.path, 'many.sqlite');
    const { sqlite, close } = openForWriting(database);
    sqlite.exec(`
      INSERT INTO sync_runs (id, status, "trigger", started_at, docmirror_version, base_url)
      VALUES (1, 'completed', 'manual', '2026-11-20T10:00:00.000Z', '0', 'https://a.example');
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 45000)
      INSERT INTO document_exports (source_document_title, _first_seen_run_id, _changed_run_id, _content)
      SELECT iif(i % 20000 = 0, 'needle ' || i, 'hay ' || i), 1, 1, randomblob(16) FROM n;`);
    close();
    const reader = new BrowseReader(database);
    try {
      const whole = drain(reader.search('needle', { hitsMax: 50, timeMsMax: 60_000 }));
      expect(whole.slices).toBeGreaterThanOrEqual(5);
      expect(whole.result.isWhole).toBe(true);
      expect(whole.result.hits.map(({ recordId }) => recordId)).toEqual([40_000, 20_000]);
      const cut = drain(reader.search('needle', { hitsMax: 50, timeMsMax: 0 }));
      expect(cut.result).toEqual({
        hits: [expect.objectContaining({ recordId: 40_000 })],
        hitCount: 1,
        isWhole: false,
      });
    } finally {
      reader[Symbol.dispose]();
    }
  });
});

function drain(search: Generator<void, SearchResult>): { slices: number; result: SearchResult } {
  for (let slices = 0; ; slices++) {
    const { done, value } = search.next();
    if (done) return { slices, result: value };
  }
}
