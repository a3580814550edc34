import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { type Served, serveScene } from '../support/served.ts';
import { collection, documentExport, type SampleItem, webhook } from '../support/stand-in.ts';

const evil = '<script>document.title = "owned"</script>"\'&';

let scene: Scene;
let served: Served;
let ids: { source: number; destination: number };
beforeAll(async () => {
  scene = await setScene({}, { exports: 130, collections: 60 });
  const { lists } = scene.service;
  const exports = lists['document-exports'] as SampleItem[];
  exports.push(
    documentExport(900, { sourceDocumentTitle: 'Straße in Zürich', sourceDocumentKind: 'map' }),
    documentExport(901, { sourceDocumentTitle: null, exportedAt: null }),
    documentExport(902, { exportedAt: '2031-01-31T23:59:59.500Z' }),
    documentExport(903, {
      sourceDocumentTitle: evil,
      sourceDocumentReference: evil,
      sourceDocumentVersion: evil,
      sourceDocumentKind: evil,
      destinationReference: evil,
      sourceConnection: { id: 950, name: evil },
      exportedAt: evil,
    }),
    documentExport(904, { sourceDocumentTitle: '=1+1', _id: 'its own' }),
    documentExport(905, { sourceConnection: { id: 951, name: 'Großarchiv' }, sourceDocumentTitle: 'first' }),
    documentExport(906, {
      sourceConnection: { id: 951, name: 'Großarchiv' },
      sourceDocumentReference: 'DOC-905',
      sourceDocumentTitle: 'second',
    }),
  );
  lists.collections.push(collection(950, { name: evil, sourceConnection: { id: 950, name: evil } }));
  lists.webhooks.push(webhook(951, { connections: [{ id: 951, name: 'Großarchiv' }] }));
  lists.webhooks.push(webhook(950, { description: evil, endpoint: evil, events: [evil] }));
  await scene.sync();
  lists.collections[0] = collection(1, { name: 'renamed' });
  lists.collections.splice(3, 1);
  exports.splice(2, 1);
  await scene.sync();
  served = await serveScene(scene);
  const [first] = sqlite(
    scene.database,
    'SELECT source_connection_id AS source, destination_connection_id AS destination FROM document_exports',
  );
  ids = first as typeof ids;
});
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  await scene[Symbol.asyncDispose]();
});

async function page(path: string): Promise<string> {
  const answer = await served.get(path);
  expect(answer.status, path).toBe(200);
  return answer.text();
}

interface Listed {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly pagination: { readonly totalRecordCount: number };
  readonly cursor: string;
  readonly isComplete: boolean;
}

async function listed(path: string): Promise<Listed> {
  return JSON.parse(await page(path)) as Listed;
}

/** The ids of the records that a page links, in their order. */
function idsOn(html: string): number[] {
  return [...html.matchAll(/<th scope="row"[^>]*><a href="\.\/(?:records\/)?[\w-]+\/(\d+)"/g)].map(([, id]) =>
    Number(id),
  );
}

/** Follows the links of one kind, and returns the ids of each page. */
async function follow(path: string, rel: 'next' | 'prev'): Promise<{ pages: number[][]; last: string }> {
  const pages: number[][] = [];
  for (let at = path; ; ) {
    const html = await page(at);
    pages.push(idsOn(html));
    const [, link] = new RegExp(`<a rel="${rel}" href="([^"]+)"`).exec(html) ?? [];
    if (link === undefined || pages.length > 9) return { pages, last: at };
    at = `${path.split('?')[0]}${link.replaceAll('&amp;', '&')}`;
  }
}

const sql = (query: string): number[] => sqlite(scene.database, query).map(({ id }) => Number(id));

describe('a list page', () => {
  test.each([
    [
      '/document-exports',
      'SELECT id FROM document_exports ORDER BY exported_at_ms DESC, hex(_content) DESC, id DESC',
    ],
    [
      '/document-exports?order=asc',
      'SELECT id FROM document_exports ORDER BY exported_at_ms, hex(_content), id',
    ],
    [
      '/document-exports?sort=sourceDocumentTitle&order=asc',
      'SELECT id FROM document_exports ORDER BY lower(source_document_title), id',
    ],
    [
      '/document-exports?sort=sourceDocumentTitle&order=desc',
      'SELECT id FROM document_exports ORDER BY lower(source_document_title) DESC, id DESC',
    ],
    ['/document-exports?sort=_id&order=desc', 'SELECT id FROM document_exports ORDER BY id DESC'],
    [
      '/document-exports?q=document',
      "SELECT id FROM document_exports WHERE source_document_title LIKE '%document%' ORDER BY exported_at_ms DESC, hex(_content) DESC, id DESC",
    ],
    ['/collections', 'SELECT id FROM collections ORDER BY lower(name), id'],
  ])('shows each record once, page by page, there and back: %s', async (path, query) => {
    const { pages, last } = await follow(path, 'next');
    expect(pages.length).toBeGreaterThan(1);
    expect(pages.flat()).toEqual(sql(query));
    const back = await follow(last, 'prev');
    expect(back.pages.toReversed().flat()).toEqual(sql(query));
  });

  test('filters by source, destination, kind, time and words, and says how many there are', async () => {
    for (const [query, where] of [
      [`source=${ids.source}`, `source_connection_id = ${ids.source}`],
      [
        `destination=${ids.destination}&kind=invoice`,
        `destination_connection_id = ${ids.destination} AND source_document_kind = 'invoice'`,
      ],
      ['source=gro%C3%9FARCHIV', 'source_connection_id = 951'],
      ['source=nobody', '0'],
      ['kind=map', "source_document_kind = 'map'"],
      ['from=2031-01-31&to=2031-01-31', "exported_at LIKE '2031-01-31%'"],
      ['from=2031-01-31T23:59:59Z', "exported_at LIKE '2031-01-31%'"],
      ['q=STRASSE+z%C3%BCRICH', "source_document_title LIKE 'Stra%'"],
      ['q=GROSSARCHIV+doc-905', 'source_connection_id = 951'],
    ]) {
      const wanted = sql(`SELECT id FROM document_exports WHERE ${where} ORDER BY id`);
      const html = await page(`/document-exports?${query}`);
      expect(
        idsOn(html).toSorted((a, b) => a - b),
        query,
      ).toEqual(wanted.slice(0, 50));
      const told = `${wanted.length} record${wanted.length === 1 ? '' : 's'}`;
      expect(html).toContain(`<p>${told}</p>`);
      const { items, pagination } = await listed(`/v2/document-exports?${query}&pageSize=1000`);
      expect(items.map(({ _id }) => (_id === 'its own' ? 135 : _id))).toEqual(wanted);
      expect(pagination.totalRecordCount).toBe(wanted.length);
    }
  });

  test('offers what can be chosen with its number of records, and says on paper what was chosen', async () => {
    const [{ count } = {}] = sqlite(
      scene.database,
      "SELECT count(*) AS count FROM document_exports WHERE source_document_kind = 'invoice'",
    );
    const html = await page(`/document-exports?kind=invoice&source=951&q=first&page=2`);
    expect(html).toContain(`<option value="invoice" selected>invoice (${count})</option>`);
    expect(html).toContain('<option value="951" selected>Großarchiv (2)</option>');
    expect(html).toContain('<p>Filtered by source: Großarchiv, kind: invoice, Words: first</p><p>Page 2</p>');
    expect(await page('/document-exports?kind=none')).toContain(
      '<option value="none" selected>none</option>',
    );
    expect(await page('/document-exports')).not.toContain('Filtered by');
    const ofCollections = await page('/collections');
    expect(ofCollections).toMatch(/<option value="950">[^<]* \(1\)<\/option>/);
    expect(await page('/changes')).toContain('<option value="951">Großarchiv</option>');
  });

  test('takes a part of a name for a connection if none is so called, and the lists for programs do not', async () => {
    expect(idsOn(await page('/document-exports?source=ARCHIV'))).toEqual(
      idsOn(await page('/document-exports?source=951')),
    );
    expect(await page('/document-exports.csv?source=archiv')).toContain('second');
    expect(await page('/changes?source=archiv')).toContain('second');
    const { pagination } = await listed('/v2/document-exports?source=archiv');
    expect(pagination.totalRecordCount).toBe(0);
    const exact = sql(
      "SELECT id FROM document_exports WHERE source_connection_id = (SELECT id FROM connections WHERE name = 'Connection 1')",
    );
    expect(await page('/document-exports?source=connection+1')).toContain(`<p>${exact.length} record`);
  });

  test.each([
    '/document-exports?sourceConnectionId=7',
    '/collections?kind=x',
    '/connections?from=2020-01-01',
    '/document-exports.csv?nonsense=1',
    '/search?nonsense=1',
    `/search?q=${'x'.repeat(201)}`,
    '/document-exports?from=yesterday',
    '/document-exports.csv?from=yesterday',
    '/document-exports?sort=colour',
    '/document-exports?order=up',
    '/document-exports?kind=a&kind=b',
    '/changes?operation=delete',
    '/changes?page=0',
    '/changes?page=501',
  ])('is refused in words, with the name of the parameter: %s', async path => {
    const answer = await served.get(path);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const [, name = ''] = /\?(\w+)=/.exec(path) ?? [];
    expect(await answer.text()).toMatch(new RegExp(`<p class="empty">[^<]*\\b${name}\\b`));
  });

  test('leaves empty fields of its form out of the address', async () => {
    const answer = await fetch(`${served.url}/document-exports?source=&kind=map&q=`, {
      headers: { authorization: `Bearer a-token-of-the-server` },
      redirect: 'manual',
    });
    expect(answer.status).toBe(302);
    expect(answer.headers.get('location')).toBe('./document-exports?kind=map');
  });

  test('gives all that is filtered as a file for a spreadsheet', async () => {
    const html = await page('/document-exports?q=document');
    const [, link = ''] = /<a href="([^"]+)" download>Download CSV</.exec(html) ?? [];
    const answer = await served.get(`/${link.replaceAll('&amp;', '&')}`);
    const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await answer.arrayBuffer());
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="document-exports.csv"');
    expect(text.startsWith('\ufeff')).toBe(true);
    const rows = parse(text, { columns: true, bom: true }) as Record<string, string>[];
    const wanted = sql("SELECT id FROM document_exports WHERE source_document_title LIKE '%document%'");
    expect(rows.map(row => Number(row._id)).toSorted((a, b) => a - b)).toEqual(wanted);
    expect(rows[1]?.source_connection_name).toMatch(/^Connection/);
    expect(await page('/document-exports.csv?q=%3D1%2B1')).toContain("'=1+1");
    for (const name of ['webhooks', 'changes']) {
      const file = await page(`/${name}.csv`);
      expect(file).toContain('https://hooks.example.com/…');
      expect(file).not.toMatch(/endpoint-secret|_extra/);
    }
  });

  test('shows what is hostile as text, in every field', async () => {
    const paths = [
      '/document-exports',
      '/collections',
      '/webhooks',
      '/connections',
      '/changes',
      '/connections/950',
    ];
    for (const path of paths) {
      const query = path.includes('950') ? '' : `?q=${encodeURIComponent('owned')}`;
      const html = await page(path + query);
      expect(html, path).toContain('&lt;script>');
      expect(html, path).not.toMatch(/<script|<[^>]+\son\w+=|<[^>]+\sstyle=/i);
    }
  });
});

describe('the page of a connection', () => {
  test('has its newest exports, its collections and webhooks, and its names', async () => {
    const html = await page(`/connections/${ids.source}`);
    expect(html).toMatch(/<h1>Connection \d+<\/h1>/);
    for (const part of ['Document exports from here', 'Collections from here', 'Webhooks', 'Names over time'])
      expect(html).toContain(part);
    const [{ count } = {}] = sqlite(
      scene.database,
      `SELECT count(*) AS count FROM document_exports WHERE source_connection_id = ${ids.source}`,
    );
    expect(html).toContain(`<a href="../document-exports?source=${ids.source}">All ${count}</a>`);
    expect((await served.get('/connections/4711')).status).toBe(404);
  });
});

describe('changes', () => {
  test.each(['desc', 'asc'])('are gone through once, page by page and as a file: %s', async order => {
    const rows = parse(await page(`/changes.csv?order=${order}`), { columns: true, bom: true }) as Record<
      string,
      string
    >[];
    const told = rows.map(row => [row.run_id, row.resource, row.record_id, row.operation].join(' '));
    const all = sqlite(scene.database, 'SELECT run_id, resource, record_id, operation FROM changes');
    expect(told.toSorted()).toEqual(all.map(row => Object.values(row).join(' ')).sort());
    const runs = rows.map(row => Number(row.run_id));
    expect(runs).toEqual(runs.toSorted((a, b) => (order === 'asc' ? a - b : b - a)));
    let path = `/changes?order=${order}`;
    let seen = 0;
    for (;;) {
      const html = await page(path);
      seen += html.match(/class="what"/g)?.length ?? 0;
      const [, link] = /<a rel="next" href="([^"]+)"/.exec(html) ?? [];
      if (link === undefined) break;
      path = `/changes${link.replaceAll('&amp;', '&')}`;
    }
    expect(seen).toBe(told.length);
    const html = await page(path);
    expect(html).toContain('rel="prev"');
  });

  test('are filtered, and a cursor goes on with its own filter alone', async () => {
    const first = await listed('/v2/changes?resource=collections&operation=insert&limit=40');
    expect(first).toMatchObject({ isComplete: false });
    const query = `resource=collections&operation=insert&cursor=${first.cursor}`;
    const second = await listed(`/v2/changes?${query}`);
    const told = [...first.items, ...second.items].map(each => Number(each.recordId));
    expect(told).toEqual(
      sql(
        "SELECT record_id AS id FROM changes WHERE resource = 'collections' AND operation = 'insert' ORDER BY run_id, record_id",
      ),
    );
    expect(second.isComplete).toBe(true);
    for (const wrong of [`cursor=${first.cursor}`, `resource=webhooks&cursor=${first.cursor}`])
      expect((await served.get(`/v2/changes?${wrong}`)).status).toBe(400);
    const ofRun = await listed('/v2/changes?run=2&order=desc');
    expect(new Set(ofRun.items.map(each => each.runId))).toEqual(new Set([2]));
    const bySource = await listed(`/v2/changes?source=${ids.source}&limit=1000`);
    expect(bySource.items.length).toBeGreaterThan(0);
    for (const each of bySource.items)
      expect(each.record).toMatchObject({ sourceConnection: { id: ids.source } });
    const removed = await listed('/v2/changes?q=collection+4&operation=removal');
    expect(removed.items).toMatchObject([{ resource: 'collections', recordId: 4, operation: 'removal' }]);
  });
});

test('the lists for programs have the connections, and the id of each export', async () => {
  const { items } = await listed('/v2/connections?pageSize=1000');
  expect(items.map(({ id }) => id)).toEqual(sql('SELECT id FROM connections ORDER BY id'));
  const exports = await listed('/v2/document-exports?pageSize=1000');
  const [own] = sql("SELECT id FROM document_exports WHERE source_document_title = '=1+1'");
  expect(exports.items.map(({ _id }) => (_id === 'its own' ? own : _id))).toEqual(
    sql('SELECT id FROM document_exports ORDER BY id'),
  );
  expect((await listed('/v2/collections')).items[0]).not.toHaveProperty('_id');
});

test('a token file is read again when a token is refused, and refused tokens are logged and counted', async () => {
  const file = join(scene.folder, 'token');
  writeFileSync(file, 'first-token\n');
  await using own = await serveScene(scene, '--token-file', file, '--log-level', 'info');
  const ask = async (token: string) =>
    (await fetch(`${own.url}/v2/webhooks?pageSize=1`, { headers: { authorization: `Bearer ${token}` } }))
      .status;
  expect(await ask('first-token')).toBe(200);
  expect(await ask('second-token')).toBe(401);
  writeFileSync(file, 'second-token\n');
  expect(await ask('second-token')).toBe(200);
  expect(await ask('first-token')).toBe(401);
  expect(await (await fetch(`${own.url}/metrics`)).text()).toMatch(
    /^docmirror_serve_refused_tokens_total 2$/m,
  );
  await wait(100);
  const { stderr } = await own.end();
  const lines = stderr.split('\n').filter(line => line.startsWith('{'));
  const logged = lines.map(line => JSON.parse(line) as Record<string, unknown>);
  expect(logged.filter(({ msg }) => msg === 'A request gave a wrong token.')).toHaveLength(2);
  const answers = logged.filter(({ path }) => path === '/v2/webhooks');
  expect(answers.map(({ status, level }) => [status, level])).toEqual(
    [200, 401, 200, 401].map(status => [status, 'info']),
  );
  expect(stderr).not.toMatch(/first-token|second-token|pageSize=1/);
});

test('connections without a name are offered by their ids, and an empty kind is not offered', async () => {
  await using other = await setScene({}, { exports: 5, collections: 50 });
  const { lists } = other.service;
  const from = (at: number, name: string | null) => ({ sourceConnection: { id: 800 + at, name } });
  const exportedAt = new Date(Date.now() - 60_000).toISOString();
  const names = [null, '', ' \t'];
  names.forEach((name, at) => {
    lists['document-exports'].push(
      documentExport(300 + at, { ...from(at, name), sourceDocumentKind: '', exportedAt }),
    );
  });
  // A list with so many connections has suggestions, and no choices.
  lists.collections = lists.collections.map((_, at) =>
    collection(at + 1, from(at, names[at] === undefined ? `name ${at}` : names[at])),
  );
  await other.sync();
  await using pages = await serveScene(other);
  const html = async (path: string) => (await pages.get(path)).text();
  const exports = await html('/document-exports');
  for (const at of [0, 1, 2])
    expect(exports).toContain(`<option value="80${at}">connection 80${at} (1)</option>`);
  expect(exports.match(/<option value=""/g)).toHaveLength(3);
  expect(await html('/collections')).toContain('<option value="connection 801">connection 801 (1)</option>');
  expect(idsOn(await html('/collections?source=connection+801'))).toEqual([2]);
  expect(await html('/changes')).toContain('<option value="connection 802">');
  expect(await html('/')).toContain('connection 801');
});

test('JSON for programs, in answers and in files, has no raw character that could control a terminal', async () => {
  await using other = await setScene({}, { exports: 0 });
  const title = 'a\u009b31m\u007fb\u202ec';
  other.service.lists['document-exports'].push(documentExport(1, { sourceDocumentTitle: title }));
  await other.sync();
  const out = join(other.folder, 'lists');
  expect(await other.run('export', '--out', out)).toMatchObject({ code: 0 });
  await using api = await serveScene(other);
  const texts = await Promise.all(
    ['/v2/document-exports', '/v2/changes'].map(async path => (await api.get(path)).text()),
  );
  for (const text of [...texts, readFileSync(join(out, 'document_exports.ndjson'), 'utf8')]) {
    expect(text).toContain('a\\u009b31m\\u007fb\\u202ec');
    expect(JSON.stringify(JSON.parse(text))).toContain(title);
  }
});
