import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import Database from 'better-sqlite3';
import { marked } from 'marked';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Scene, setScene } from '../support/scene.ts';
import { serveScene } from '../support/served.ts';

/** Facts as a run could have left them, by list and name: the value, and what it rests on. */
const rows: Readonly<Record<string, readonly [value: unknown, evidence: object]>> = {
  'document-exports first_page': [1, { answers: 14 }],
  'document-exports default_page_size': [50, { answers: 3 }],
  'document-exports page_size': [1_000, { answers: 90 }],
  'document-exports larger_page_size': [{ asked: 5_000, how: 'cut', served: 1_000 }, { answers: 1 }],
  'collections larger_page_size': [{ asked: 5_000, how: 'refused', status: 400 }, { answers: 1 }],
  'collections beyond_end': ['404', { answers: 2 }],
  'collections numbers_as_text': [['pageSize'], { answers: 2 }],
  'document-exports order': [{ by: 'exportedAt', direction: 'down', isExact: false }, { records: 4_321 }],
  'collections order': [{ by: null }, { records: 7 }],
  'document-exports total': ['fits', { answers: 4 }],
  'document-exports failures': [{ 503: 4, timeout: 2 }, { answers: 200 }],
  'service etag': [true, { answers: 200 }],
  'document-exports field.sourceDocumentKind': [
    { types: ['null', 'string'], isInContract: true },
    { records: 4_321, missing: 0, null: 83, empty: 0, longest: 14 },
  ],
  'document-exports field.sourceConnection': [{ types: ['null', 'object'], isInContract: true }, {}],
  'document-exports field.exportedAt': [
    { types: ['string'], isInContract: true, times: ['0000-00-00T00:00:00Z'] },
    {},
  ],
  'document-exports field.a|`b*<i>': [{ types: ['missing', 'number'], isInContract: false }, {}],
  'document-exports kind.invoice': ['invoice', { records: 1_200 }],
  'document-exports kind.\u001b[31m<script>[x](https://x.example)|# www.x.example a@x.example': [
    'so',
    { records: 1 },
  ],
  'webhooks event.document.exported': ['document.exported', { records: 3 }],
  'webhooks event.collection.updated': ['collection.updated', { records: 2 }],
};

let scene: Scene;
beforeAll(async () => {
  scene = await setScene({}, { exports: 40 });
  await scene.sync();
  await scene.sync();
  write(scene.database);
  expect((await scene.run('share', 'share.sqlite')).code).toBe(0);
});
afterAll(() => scene[Symbol.asyncDispose]());

function write(path: string): void {
  const database = new Database(path);
  database.exec('DELETE FROM service_facts');
  const put = database.prepare('INSERT INTO service_facts VALUES (?, ?, ?, ?, ?, 1, 2, ?)');
  for (const [key, [value, evidence]] of Object.entries(rows)) {
    const [resource, fact] = key.split(/ (.*)/s);
    const isNew = fact === 'page_size';
    const [json, told] = [JSON.stringify(value), JSON.stringify(evidence)];
    put.run(resource, fact, json, isNew ? '500' : null, isNew ? 2 : null, told);
  }
  database.close();
}

const told = async (...args: string[]) => {
  const { code, stdout } = await scene.run('service', ...args);
  expect(code).toBe(0);
  return stdout;
};

describe('docmirror service', () => {
  test('tells each fact in words, with its list, its evidence and its runs', async () => {
    const text = await told();
    const cells = text.split('\n').map(line => line.trim().split(/ {2,}/));
    const today = new Date().toISOString().slice(0, 10);
    const since = `1 to 2, since ${today}`;
    for (const row of [
      ['records on a page without pageSize', 'document-exports', '50', 'answers: 3', since],
      [
        'greatest page size that was served',
        'document-exports',
        '1,000',
        'answers: 90',
        `2 to 2, since ${today}; before: 500`,
      ],
      [
        'what a larger page size got',
        'document-exports',
        'asked: 5,000, how: cut, served: 1,000',
        'answers: 1',
        since,
      ],
      [
        'what a larger page size got',
        'collections',
        'asked: 5,000, how: refused, status: 400',
        'answers: 1',
        since,
      ],
      [
        'order of the list',
        'document-exports',
        'by: exportedAt, direction: down, is exact: no',
        'records: 4,321',
        since,
      ],
      ['order of the list', 'collections', 'by: –', 'records: 7', since],
      ['whether answers have an ETag', 'service', 'yes', 'answers: 200', since],
      [
        'sourceDocumentKind',
        'document-exports',
        'types: null, string',
        'records: 4,321, null: 83, longest: 14',
        since,
      ],
      ['an event that webhooks have', 'webhooks', 'document.exported', 'records: 3', since],
    ])
      expect(cells).toContainEqual(row);
    expect(text).not.toContain('\u001b');
  });

  test('writes a page in Markdown, in which no name of the service is markup', async () => {
    const page = await told('--format', 'markdown');
    const html = await marked(page);
    expect(html.match(/<table>/g)).toHaveLength(5);
    expect(html).not.toMatch(/<script|<i>|<a |<em>|<code>/);
    expect(html).toContain('<td>a|`b*&lt;i&gt;</td>');
    const columns = page.split('\n').filter(line => line.startsWith('| ') && !line.includes('---'));
    for (const line of columns) expect([5, 6]).toContain(line.match(/(?<!\\)\|/g)?.length);
  });

  test('prints an object for programs', async () => {
    const { facts, runId, baseUrl } = JSON.parse(await told('--format', 'json'));
    expect([runId, baseUrl, facts.length]).toEqual([2, scene.service.url, Object.keys(rows).length]);
    expect(facts).toContainEqual({
      section: 'pages',
      resource: 'document-exports',
      fact: 'page_size',
      value: 1_000,
      previousValue: 500,
      changedRunId: 2,
      firstSeenRunId: 1,
      lastSeenRunId: 2,
      evidence: { answers: 90 },
      since: expect.stringMatching(/^\d{4}-.*Z$/),
    });
  });

  test('writes a valid OpenAPI document that has what was seen, and made-up examples', async () => {
    expect(await told('--format', 'openapi', '--out', 'openapi.json')).toMatch(/^Wrote openapi\.json \(/);
    const text = readFileSync(join(scene.folder, 'openapi.json'), 'utf8');
    const document = JSON.parse(text);
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true });
    const { get } = document.paths['/v2/document-exports'];
    expect(get.parameters).toEqual([
      { name: 'pageNo', in: 'query', schema: { type: 'integer', default: 1, minimum: 1 } },
      { name: 'pageSize', in: 'query', schema: { type: 'integer', default: 50, maximum: 1_000 } },
    ]);
    expect(Object.keys(get.responses)).toEqual(['200', '401', '503']);
    const ofCollections = document.paths['/v2/collections'].get.responses;
    expect(Object.keys(ofCollections)).toEqual(['200', '401', '404']);
    const { pagination } = ofCollections[200].content['application/json'].schema.properties;
    expect(pagination.properties).toMatchObject({
      pageNo: { type: 'integer' },
      pageSize: { type: 'string' },
    });
    const { schemas } = document.components;
    const { properties, required } = schemas['document-exports'];
    const kind = expect.stringContaining('<script>');
    expect(properties.sourceDocumentKind).toMatchObject({
      type: ['string', 'null'],
      enum: [kind, 'invoice', null],
    });
    expect(properties.sourceConnection.anyOf).toHaveLength(2);
    expect(properties['a|`b*<i>']).toEqual({ type: 'number' });
    expect(required).toHaveLength(8);
    expect(schemas.webhooks.properties.events.items.enum).toEqual([
      'collection.updated',
      'document.exported',
    ]);
    const { lists } = scene.service;
    for (const words of Object.values(lists).flat().flatMap(textsIn))
      if (/[A-Z]/.test(words)) expect(text).not.toContain(words);
  });

  test('writes an OpenAPI document that the records of the service fit, and its own examples', async () => {
    const document = JSON.parse(await told('--format', 'openapi'));
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema(document, 'document');
    for (const [name, items] of Object.entries(scene.service.lists)) {
      const fits = ajv.compile({ $ref: `document#/components/schemas/${name}` });
      const sent = (items as object[]).map(item => ({ ...item, sourceDocumentKind: 'invoice' }));
      for (const item of sent) expect([fits(item), fits.errors]).toEqual([true, null]);
      const { properties } = document.components.schemas[name];
      for (const { example, ...schema } of Object.values<{ example?: unknown }>(properties))
        if (example !== undefined) expect(ajv.validate(schema, example)).toBe(true);
    }
  });

  test.each(['share.sqlite', 'mirror.sqlite'])('reads %s, and its server has the page', async name => {
    const database = join(scene.folder, name);
    expect(await told('--database', database)).toContain('document.exported');
    await using served = await serveScene({ ...scene, database });
    const answer = await served.get('/service');
    const html = await answer.text();
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(html).toContain('href="./service" aria-current="page"');
    expect(html).toMatch(/>records on a page without pageSize<.*>50<.*>answers: 3</);
    expect(html).not.toContain('<script');
    const head = await fetch(`${served.url}/service`, {
      method: 'HEAD',
      headers: { authorization: 'Bearer a-token-of-the-server' },
    });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await fetch(`${served.url}/service`)).status).toBe(401);
  });

  test('says what to do with a mirror that no run of this version has kept yet', async () => {
    await using other = await setScene({}, { exports: 3 });
    await other.sync();
    const database = new Database(other.database);
    database.exec('DELETE FROM service_facts');
    database.close();
    for (const format of ['text', 'markdown']) {
      const { code, stdout } = await other.run('service', '--format', format);
      expect([code, stdout]).toEqual([0, expect.stringContaining('Run "docmirror sync".')]);
    }
    const { stdout } = await other.run('service', '--format', 'openapi');
    expect(await new Validator().validate(JSON.parse(stdout))).toEqual({ valid: true });
    expect(await other.run('service', '--database', 'none.sqlite')).toMatchObject({ code: 1 });
    expect(await other.run('service', '--format', 'xml')).toMatchObject({ code: 2 });
  });
});

test('rates are medians of days, whatever the distance of runs, and leave out the first copy', async () => {
  await using other = await setScene({}, { exports: 30 });
  const ratesAfter = async (hours: readonly number[]) => {
    const database = new Database(other.database);
    const put = database.prepare(
      'UPDATE sync_run_resources SET completed_at = ?, inserted = ?, updated = 6, removed = 0 WHERE run_id = ?',
    );
    for (const [at, hour] of hours.entries())
      put.run(new Date(Date.UTC(2026, 0, 1) + hour * 3_600_000).toISOString(), at === 0 ? 30 : 24, at + 1);
    database.close();
    const { stdout } = await other.run('service', '--format', 'json');
    return JSON.parse(stdout).rates[0];
  };
  for (let run = 0; run < 4; run++) await other.sync();
  const rate = { resource: 'document-exports', removed: 0 };
  expect(await ratesAfter([0, 24, 48, 72])).toEqual({ ...rate, days: 3, new: 24, changed: 6 });
  // A week has the records of its run in equal parts.
  expect(await ratesAfter([0, 168, 336, 504])).toEqual({ ...rate, days: 21, new: 3.4, changed: 0.9 });
  expect(await ratesAfter([0, 6, 12, 48])).toEqual({ ...rate, days: 2, new: 36, changed: 9 });
  expect(await ratesAfter([0, 5, 10, 15])).toEqual({
    ...rate,
    days: 0,
    new: null,
    changed: null,
    removed: null,
  });
});

/** All texts in a value. */
function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}
