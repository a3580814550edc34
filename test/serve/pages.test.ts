import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
    documentExport(900, {
      sourceDocumentTitle: 'Second version',
      sourceDocumentReference: 'REF-900',
      sourceDocumentVersion: '7.0',
    }),
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
  '/changes',
  '/connections/1',
  '/changes?nonsense=1',
];

describe('the served pages', () => {
  test.each(pages)('need the token, as bearer token or password: %s', async path => {
    expect((await fetch(served.url + path)).status).toBe(401);
    expect((await served.get(path, { authorization: 'Bearer wrong' })).status).toBe(401);
    const refused = await fetch(served.url + path);
    expect(refused.headers.get('www-authenticate')).toMatch(/^Basic /);
    expect(await refused.json()).toMatchObject({ error: {} });
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
});

describe('the page of a record', () => {
  test('is linked from the latest changes of the served report, and not from the report in a file', async () => {
    const { html } = await page('/');
    const links = [...html.matchAll(/href="\.\/(records\/[^"]+)"/g)].map(([, path]) => String(path));
    expect(links).toContain('records/collections/1');
    for (const link of links) expect((await page(`/${link}`)).status).toBe(200);
    const out = join(scene.folder, 'report.html');
    await scene.run('report', '--out', out);
    const file = readFileSync(out, 'utf8');
    expect(file).not.toMatch(/<a |<form/);
    expect(file).toContain("form-action 'none'");
  });

  test('shows what it says, each version, and what changed between two', async () => {
    const { html, status } = await page('/records/collections/1');
    expect(status).toBe(200);
    expect(html).toMatch(/<h1>&lt;script>.*<\/h1>/);
    expect(html).toContain('Collections 1.');
    expect(html).toMatch(/Listed<\/span> since <a href="..\/..\/changes\?run=1">run 1<\/a> \(<time/);
    expect(html).toMatch(/<del>Collection 1<\/del>.*<ins>&lt;script>/s);
    expect(html).toMatch(/From <a[^>]*>run 1<.*until <a[^>]*>run 2<.*replaced it/s);
  });

  test('links the connections that it names', async () => {
    const { html } = await page('/records/document-exports/1');
    const links = [...html.matchAll(/href="\.\.\/\.\.\/(connections\/\d+)"/g)].map(([, path]) => path);
    expect(links).toHaveLength(2);
    for (const link of links) expect((await page(`/${link}`)).status).toBe(200);
    const webhook = (await page('/records/webhooks/1')).html;
    expect(webhook).toMatch(
      /<dt>connections<\/dt><dd>(<a href="..\/..\/connections\/\d+">[^<]+ \(\d+\)<\/a>(, )?)+</,
    );
  });

  test('lists the other versions of a document', async () => {
    const { html } = await page('/records/document-exports/61');
    expect(html).toMatch(/Other versions of this document.*records\/document-exports\/63".*Second version/s);
    expect((await page('/records/document-exports/1')).html).not.toContain('Other versions');
  });

  test('is there for a record that is gone', async () => {
    const { html, status } = await page('/records/collections/4');
    expect(status).toBe(200);
    expect(html).toMatch(/Gone<\/span> since <a[^>]*>run 2</);
    expect(html).toContain('What it last said');
  });

  test('need not be sent again while nothing has changed, and then has the same headers', async () => {
    for (const path of ['/', '/records/collections/1', '/document-exports', '/changes', '/search?q=a']) {
      const { headers } = await page(path);
      const again = await served.get(path, { 'if-none-match': headers.get('etag') ?? '' });
      expect(again.status, path).toBe(304);
      const of = (all: Headers) =>
        [...all].filter(([name]) => !['date', 'content-length', 'content-type'].includes(name));
      expect(of(again.headers)).toEqual(of(headers));
    }
    const { headers } = await page('/records/collections/1');
    const known = { 'if-none-match': headers.get('etag') ?? '' };
    expect((await served.get('/records/collections/4711', known)).status).toBe(404);
  });

  test.each(['/records/collections/4711', '/records/collections/9007199254740993', '/records/__proto__/1'])(
    'says so if the record does not exist: %s',
    async path => {
      const { html, status } = await page(path);
      expect(status).toBe(404);
      expect(html).toContain('<h1>No such record</h1>');
    },
  );
});

describe('the search', () => {
  const found = async (q: string) => {
    const { html, status } = await page(`/search?q=${encodeURIComponent(q)}`);
    expect(status).toBe(200);
    return [
      ...html.matchAll(/class="what">(?:<span[^>]*>Removed<\/span> )?<a href="\.\/(?:records\/)?([^"]+)"/g),
    ].map(([, path]) => String(path));
  };

  test('finds records by words of their titles, names and references, in either case', async () => {
    expect(await found('ref-900')).toHaveLength(2);
    expect(await found('REF-900 über')).toHaveLength(1);
    expect(await found('REF-900 ÜBER')).toHaveLength(1);
    expect(await found('REF-900 U\u0308ber')).toHaveLength(1);
    expect(await found('collection 2')).toContain('collections/2');
    // Of these, the name of a connection has the 2.
    expect((await found('collection 2')).length).toBeGreaterThan(1);
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
  });

  test('shows fifty at most, the exports made last first, and links the lists, which say how many there are', async () => {
    const { html } = await page('/search?q=document');
    const times = [...html.matchAll(/class="details">[^<]* (2\d{3}-[^ <]+)</g)].map(([, time]) =>
      String(time),
    );
    expect(await found('document')).toHaveLength(50);
    expect(times.length).toBeGreaterThan(40);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(times[0]).toBe('2031-01-01T00:00:00Z');
    expect(html).toMatch(/<a rel="next" href="\?q=document&amp;page=2">/);
    expect(html).toContain('href="./document-exports?q=document"');
    const second = (await page('/search?q=document&page=2')).html;
    expect(second).toContain('Page 2');
    expect(second).toContain('Previous page');
  });

  test('keeps what was asked for in the box, as text', async () => {
    const { html } = await page(`/search?q=${encodeURIComponent(evil)}`);
    expect(html).toMatch(/<input[^>]*value="&lt;script>[^>]*>?/);
    expect(html).toContain('/records/collections/1"');
    expect((await page('/search')).html).toContain('Find a record');
    expect((await page('/search?q=%20')).html).toContain('Find a record');
  });

  test('puts the record with exactly that reference first, in any case', async () => {
    expect((await found('doc-1'))[0]).toBe('document-exports/1');
    expect((await found('DOC-1')).length).toBeGreaterThan(5);
  });

  test('finds what was removed, and marks it', async () => {
    const { html } = await page('/search?q=collection+4');
    expect(html).toMatch(/Removed<\/span> <a href="[^"]*records\/collections\/4">Collection 4</);
    expect((await page('/search?q=collection+3')).html).not.toContain('Removed<');
  });
});
