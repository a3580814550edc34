import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sqlite } from '../support/run-cli.ts';
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

describe('the served report', () => {
  test('is about a period and a time zone that the reader chooses, without a script', async () => {
    const { html } = await page('/');
    expect(html).toContain('Exports per day');
    expect(html).toMatch(/<option value="30" selected>30 days<.*<option value="UTC" selected>/s);
    const chosen = (await page('/?days=90&timezone=Pacific/Auckland')).html;
    expect(chosen).toContain('Exports per week');
    expect(chosen).toContain('Times are in Pacific/Auckland.');
    expect(chosen).toMatch(/<option value="90" selected>.*<option value="Pacific\/Auckland" selected>/s);
    expect((await page('/')).html).toBe(html);
  });

  test.each([
    ['days=0', 'days'],
    ['days=4000', 'days'],
    ['timezone=Mars/Olympus', 'timezone'],
    ['since=7d', 'since'],
  ])('refuses %s in words', async (query, name) => {
    const { html, status } = await page(`/?${query}`);
    expect(status).toBe(400);
    expect(html).toMatch(new RegExp(`<p class="empty">[^<]*\\b${name}\\b`));
  });
});

test('lists show times to the minute and give the whole text on hovering; a text that is no time stays', async () => {
  const { html } = await page('/document-exports');
  expect(html).toContain(
    '<time datetime="2031-01-01T00:00:00.000Z" title="2031-01-01T00:00:00Z">2031-01-01 00:00</time>',
  );
  const tables = html.match(/<table [^>]*>/g) ?? [];
  expect(tables).toEqual(['<table class="list" aria-label="Document exports">']);
});

describe('the page of the connections', () => {
  const rows = (html: string) =>
    [...html.matchAll(/<tr><th scope="row".*?<\/tr>/g)].map(([row]) => ({
      id: Number(/connections\/(\d+)"/.exec(row)?.[1]),
      source: /data-label="As source"[^>]*>(?:<span[^>]*>)?(\d+)/.exec(row)?.[1],
      destination: /data-label="As destination"[^>]*>(?:<span[^>]*>)?(\d+)/.exec(row)?.[1],
      newest: /title="([^"]+)"/.exec(row)?.[1] ?? null,
    }));
  const used = () =>
    sqlite(
      scene.database,
      `SELECT id, (SELECT count(*) FROM document_exports WHERE source_connection_id = c.id) AS source,
         (SELECT count(*) FROM document_exports WHERE destination_connection_id = c.id) AS destination,
         (SELECT max(exported_at_ms) FROM document_exports WHERE c.id IN (source_connection_id, destination_connection_id)) AS newest
       FROM connections c`,
    ).map(({ id, source, destination, newest }) => {
      const at = newest === null ? null : new Date(Number(newest)).toISOString();
      return { id, source: String(source), destination: String(destination), newest: at };
    });

  test('says how many exports each is the source and the destination of, and when the newest was', async () => {
    const found = rows((await page('/connections')).html);
    const all = used();
    expect(found.length).toBeGreaterThan(3);
    for (const each of found) expect(all).toContainEqual(each);
  });

  test.each(['asSource', 'asDestination', 'newestExport'])('is sorted by them: %s', async sort => {
    const ids = async (order: string, more = '') =>
      rows((await page(`/connections?sort=${sort}&order=${order}${more}`)).html).map(({ id }) => id);
    const name = { asSource: 'source', asDestination: 'destination', newestExport: 'newest' }[sort];
    const useOf = (id: number) => used().find(each => each.id === id)?.[name as 'newest'];
    const values = (await ids('desc')).map(id => (name === 'newest' ? useOf(id) : Number(useOf(id))));
    const sorted = values.toSorted((a, b) => Number((a ?? '') < (b ?? '')) - Number((a ?? '') > (b ?? '')));
    expect(values).toEqual(sorted);
    expect(await ids('asc')).toEqual((await ids('desc')).toReversed());
    expect((await ids('asc', '&q=connection')).length).toBeGreaterThan(3);
    const file = await served.get(`/connections.csv?sort=${sort}&order=desc`);
    const inFile = (await file.text()).trim().split(/\r?\n/).slice(1);
    expect(inFile.map(line => Number(line.split(',')[0])).slice(0, 50)).toEqual(await ids('desc'));
  });
});

test('the page of the runs shows at a glance how they ended, and what each did', async () => {
  await using other = await setScene({}, { exports: 5 });
  await other.sync();
  const server = await serveScene(other);
  const seen = async (path: string) => (await server.get(path)).text();
  const before = await seen('/document-exports');
  const kinds = ['map', 'map', ...Array.from({ length: 50 }, (_, at) => `kind ${at}`)];
  other.service.lists['document-exports'].push(
    ...kinds.map((kind, at) => documentExport(900 + at, { sourceDocumentKind: kind })),
  );
  other.service.options.status = { webhooks: 500 };
  await other.sync('--give-up-after', '0');
  const html = await seen('/runs');
  const after = await seen('/document-exports');
  await server[Symbol.asyncDispose]();
  // What is kept between requests is made again after a run.
  expect([before.includes('>map (2)<'), after.includes('>map (2)<')]).toEqual([false, true]);
  // So many choices are suggestions for a field that takes any text.
  expect(before).toContain('<select name="kind">');
  expect(after).toMatch(/<datalist id="kind">.*<option value="map">map \(2\)<\/option>/);
  const [[since] = []] = sqlite(
    other.database,
    'SELECT min(read_since) FROM sync_run_resources WHERE run_id = 1',
  ).map(row => Object.values(row));
  expect(html).toMatch(
    new RegExp(`changes\\?run=1">Run 1</a>.*badge good">proven<.*title="${since}".*>15<.*>0<.*>0<.*>\\d+<`),
  );
  expect(html).toMatch(/changes\?run=2">Run 2<\/a>.*badge warn">partial<\/span> webhooks: server_error/);
  const bars = [
    ...html.matchAll(/<g><title>Run (\d), [^<]*<\/title>.*?\n<rect class="(\w+)".*? height="(\d+)%"/g),
  ];
  expect(bars.map(([, ...bar]) => bar)).toEqual([
    ['1', 'good', '100'],
    ['2', 'warn', '50'],
  ]);
  expect(html).toMatch(/ partial: 1\s.* proven: 1\s/);
  expect(html).toContain('href="./runs" aria-current="page"');
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
    const times = [...html.matchAll(/class="details">.*?<time [^>]*title="(2\d{3}-[^"]+)"/g)].map(
      ([, time]) => String(time),
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
    const quoted = await page(`/search?q=${encodeURIComponent('" autofocus x="')}`);
    expect(quoted.html).toContain('value="&quot; autofocus x=&quot;"');
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
