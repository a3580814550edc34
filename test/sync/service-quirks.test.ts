import { describe, expect, test } from 'vitest';
import { casesOf } from '../support/cases.ts';
import { syncScene } from '../support/in-process.ts';
import { expectExactMirror } from '../support/oracle.ts';
import { setScene } from '../support/scene.ts';
import { collection, documentExport, type StandInOptions, webhook } from '../support/stand-in.ts';

/** Behaviour of a service that CONTRACT leaves open, and that changes nothing for the mirror. */
const quirks: [name: string, options: Partial<StandInOptions>, pageSize: number][] = [
  ['the first page is 0', { firstPage: 0, maxPageSize: 20 }, 20],
  ['the first page is 1', { firstPage: 1, maxPageSize: 20 }, 20],
  ['answers count pages from 0, requests from 1', { pageNo: { answersAhead: -1 }, maxPageSize: 20 }, 20],
  ['answers count pages from 2, requests from 1', { pageNo: { answersAhead: 1 }, maxPageSize: 20 }, 20],
  [
    'answers count pages from 1, requests from 0',
    { firstPage: 0, pageNo: { answersAhead: 1 }, maxPageSize: 20 },
    20,
  ],
  ['the page size is clamped, and the answer says so', { maxPageSize: 20 }, 20],
  ['the page size is clamped in silence', { maxPageSize: 20, clamp: 'silent' }, 20],
  [
    'the page size is clamped in silence, and the pages are counted by the size asked for',
    { maxPageSize: 20, clamp: 'silent', silentPageCount: 'asked' },
    20,
  ],
  ['a large page size is refused', { maxPageSize: 60, clamp: 'refuse' }, 50],
  [
    'pages past the end are empty, and there is one more than there should be',
    { maxPageSize: 20, extraPageCount: 1 },
    20,
  ],
  ['pages past the end are 404', { maxPageSize: 20, extraPageCount: 1, beyond: '404' }, 20],
  ['pages past the end are refused', { maxPageSize: 20, extraPageCount: 1, beyond: '400' }, 20],
  ['pages past the end are empty, and count no records', { maxPageSize: 20, beyond: 'zeroed' }, 20],
  ['pages past the end are empty, and do not say where they stand', { maxPageSize: 20, beyond: 'bare' }, 20],
  ['pages past the end have no content', { maxPageSize: 20, extraPageCount: 1, beyond: '204' }, 20],
  ['past the end the last page comes again', { maxPageSize: 20, extraPageCount: 1, beyond: 'last' }, 20],
  [
    'past the end the last page comes again, in other bytes and another order',
    { maxPageSize: 20, beyond: 'last-otherwise' },
    20,
  ],
  ['answers are compressed', { gzip: true, maxPageSize: 20 }, 20],
  ['the base address has a path', { basePath: '/api/v9/export', maxPageSize: 20 }, 20],
  ['the order is another one in each walk', { order: 'shuffled-per-walk', maxPageSize: 20 }, 20],
];

describe.concurrent('the mirror is exact if', () => {
  test.each(casesOf(quirks, 2))('%s', async (_name, options, pageSize) => {
    await using scene = await setScene(options);
    const first = await syncScene(scene);
    expect(first).toMatchObject({ code: 0, status: 'completed' });
    expect(first.of('document-exports')).toMatchObject({ pageSize, recordsSeen: 130, inserted: 130 });
    expectExactMirror(scene.database, scene.service);
    scene.service.lists['document-exports'].splice(40, 1);
    scene.service.lists['document-exports'].push(documentExport(900));
    // Lists on one page.
    for (const name of ['collections', 'webhooks'] as const) scene.service.lists[name].splice(1, 1);
    const second = await syncScene(scene);
    expect(second.code).toBe(0);
    expect(second.of('document-exports')).toMatchObject({
      completeness: 'proven',
      inserted: 1,
      removed: 1,
    });
    expectExactMirror(scene.database, scene.service);
  });

  test('a total is one too small, and past the end the last page comes in ever other bytes, in few requests', async () => {
    const items = Array.from({ length: 40 }, (_, at) => JSON.stringify(documentExport(at + 1)));
    let answers = 0;
    await using scene = await setScene({
      rawBody: (resource, pageNo) => {
        if (resource !== 'document-exports') return undefined;
        const from = 10 * (Math.min(pageNo, 4) - 1);
        const pagination = { pageCount: 4, pageNo, pageSize: 10, totalRecordCount: 39 };
        const page = items.slice(from, from + 10).join(`,${' '.repeat(answers++)}`);
        return `{"items":[${page}],"pagination":${JSON.stringify(pagination)}}`;
      },
    });
    const { code, of } = await scene.sync();
    expect([code, of('document-exports').completeness, of('document-exports').inserted]).toEqual([
      3,
      'unproven',
      40,
    ]);
    expect(answers).toBeLessThan(100);
  });

  test('a page past the end counts no records, in as few requests as elsewhere', async () => {
    const requests = async (beyond: 'empty' | 'zeroed') => {
      await using scene = await setScene({ maxPageSize: 20, beyond });
      await scene.sync();
      return scene.service.requests.length;
    };
    expect(await requests('zeroed')).toBe(await requests('empty'));
  });

  test.each(casesOf(['204', '400', '404', 'empty', 'zeroed', 'bare', 'last'] as const, 3))(
    'the list becomes shorter while it is read, and a page past the end is %s',
    async beyond => {
      await using scene = await setScene({ maxPageSize: 10, beyond }, { exports: 34 });
      scene.service.onRequest = ({ resource, pageNo }) => {
        if (resource === 'document-exports' && pageNo === 2) scene.service.lists[resource].splice(15);
      };
      const synced = await scene.sync('--concurrency', '1');
      expect(synced.of('document-exports')).toMatchObject({ status: 'completed', completeness: 'proven' });
      expectExactMirror(scene.database, scene.service);
    },
  );

  test('two exports are equal, and smaller pages than the list has would be more than are read', async () => {
    await using scene = await setScene({ maxPageSize: 10 }, { exports: 29 });
    scene.service.lists['document-exports'].push(documentExport(3));
    const refused = await scene.sync('--max-pages', '2');
    expect(refused.of('document-exports')).toMatchObject({ error: { code: 'too_many_pages' } });
    expect(await scene.sync('--max-pages', '3')).toMatchObject({ code: 0, status: 'completed' });
    expectExactMirror(scene.database, scene.service);
  });

  const ways: [name: string, write: (pagination: Record<string, number>) => object][] = [
    [
      'numbers of the query as texts',
      ({ pageNo, pageSize, ...others }) => ({ ...others, pageNo: `${pageNo}`, pageSize: `${pageSize}` }),
    ],
    [
      'all numbers as texts',
      all => Object.fromEntries(Object.entries(all).map(([name, n]) => [name, `${n}`])),
    ],
    ['a total that was never counted', all => ({ ...all, totalRecordCount: -1, pageCount: 0 })],
    [
      'a total that was never counted, and a page count',
      all => ({ ...all, totalRecordCount: -1, pageCount: -1 }),
    ],
    ['a total that was never counted, as text', all => ({ ...all, totalRecordCount: '-1', pageCount: '0' })],
  ];
  test.each(ways)('the service states %s', async (_name, write) => {
    await using scene = await setScene();
    const resources = ['document-exports'];
    scene.service.options.rawBody = (resource, pageNo, asked) => {
      const { lists } = scene.service;
      const all = lists[resource].map(item => JSON.stringify(item));
      const pageSize = Math.min(20, asked);
      const pageCount = Math.ceil(all.length / pageSize);
      const pagination = write({ pageCount, pageNo, pageSize, totalRecordCount: all.length });
      const page = all.slice((pageNo - 1) * pageSize, pageNo * pageSize);
      return `{"items":[${page}],"pagination":${JSON.stringify(pagination)}}`;
    };
    const first = await syncScene(scene, { resources });
    expect(first).toMatchObject({ code: 0, status: 'completed' });
    expectExactMirror(scene.database, scene.service, resources);
    scene.service.lists['document-exports'].splice(40, 1);
    scene.service.lists['document-exports'].push(documentExport(900));
    const second = await syncScene(scene, { resources });
    expect(second).toMatchObject({ code: 0 });
    expect(second.of('document-exports')).toMatchObject({ completeness: 'proven', inserted: 1, removed: 1 });
    expectExactMirror(scene.database, scene.service, resources);
  });

  test.each(['[]', 'null'])('the service is empty, and says so by %s', async items => {
    const pagination = { pageCount: 0, pageNo: 1, pageSize: 50, totalRecordCount: 0 };
    const rawBody = () => `{"items":${items},"pagination":${JSON.stringify(pagination)}}`;
    await using scene = await setScene({ rawBody }, { exports: 0, collections: 0, webhooks: 0 });
    expect(await scene.sync()).toMatchObject({ code: 0, status: 'completed' });
    expectExactMirror(scene.database, scene.service);
  });

  test.each(casesOf([20, 21, 19, 2, 1], 2))(
    'the list has %i records, a page 20, and past the end the last page comes again',
    async exports => {
      await using scene = await setScene({ maxPageSize: 20, extraPageCount: 1, beyond: 'last' }, { exports });
      for (const inserted of [exports, 0]) {
        const synced = await scene.sync();
        expect(synced.of('document-exports')).toMatchObject({ completeness: 'proven', inserted });
      }
      expectExactMirror(scene.database, scene.service);
    },
  );

  test('a list on one page that is not full takes two requests, and one if it is as a run has proven it', async () => {
    await using scene = await setScene();
    expect((await scene.sync()).of('document-exports')).toMatchObject({ walks: 1, requests: 2 });
    expect((await scene.sync()).of('document-exports')).toMatchObject({ walks: 1, requests: 1 });
    scene.service.lists['document-exports'].splice(3, 1);
    expect((await scene.sync()).of('document-exports')).toMatchObject({ requests: 3, removed: 1 });
    expectExactMirror(scene.database, scene.service);
  });

  test.each(casesOf([12, 48, 49, 50], 2))(
    'a row that goes from %i on pages of at most 50 takes three requests',
    async count => {
      await using scene = await setScene({ maxPageSize: 50 }, { exports: count });
      await scene.sync();
      scene.service.lists['document-exports'].splice(3, 1);
      expect((await scene.sync()).of('document-exports')).toMatchObject({ requests: 3, removed: 1 });
      expect((await scene.sync()).of('document-exports')).toMatchObject({ requests: 1, updated: 0 });
    },
  );

  test('connections, texts and arrays are null or missing', async () => {
    await using scene = await setScene();
    scene.service.lists['document-exports'].push(
      documentExport(501, { sourceConnection: null, destinationConnection: null }),
      { exportedAt: null, sourceDocumentTitle: null },
      {},
    );
    scene.service.lists.collections.push({ id: 90 }, collection(91, { name: null, sourceConnection: null }));
    scene.service.lists.webhooks.push({ id: 90 }, webhook(91, { events: null, connections: null }));
    expect(await scene.sync()).toMatchObject({ code: 0 });
    expectExactMirror(scene.database, scene.service);
  });

  test('a webhook repeats events and connections', async () => {
    await using scene = await setScene();
    const connections = [
      { id: 1, name: 'One' },
      { id: 2, name: 'Two' },
      { id: 1, name: 'One' },
    ];
    scene.service.lists.webhooks.push(webhook(50, { events: ['b', 'a', 'b', 'b'], connections }));
    expect(await scene.sync()).toMatchObject({ code: 0 });
    expectExactMirror(scene.database, scene.service);
  });

  test.each(['totalRecordCount', 'pageSize', 'pageNo', 'pageCount'])(
    'one list states a %s beyond all numbers, the others',
    async name => {
      await using scene = await setScene();
      scene.service.options.rawBody = resource =>
        resource === 'collections'
          ? `{"items":[],"pagination":${JSON.stringify({ pageCount: 1, pageNo: 1, pageSize: 50, totalRecordCount: 0, [name]: 7 }).replace('7', '1e19')}}`
          : undefined;
      const synced = await scene.sync('--give-up-after', '0');
      expect(synced).toMatchObject({ code: 3, status: 'partial' });
      expect(synced.of('collections')).toMatchObject({
        status: 'failed',
        error: { code: 'invalid_response' },
      });
      expect(synced.of('document-exports')).toMatchObject({ completeness: 'proven' });
      expect(synced.of('webhooks')).toMatchObject({ completeness: 'proven' });
    },
  );

  test.each(
    casesOf([{ success: false }, { error: 'index not ready' }, { timed_out: true }, { status: 'error' }], 2),
  )(
    'an answer says by %j that it failed or is partial: it is asked for again, and removes nothing',
    async member => {
      await using scene = await setScene();
      expect(await scene.sync()).toMatchObject({ code: 0 });
      const some = scene.service.lists.collections.slice(0, Object.hasOwn(member, 'timed_out') ? 4 : 0);
      const pagination = { pageCount: 1, pageNo: 1, pageSize: 50, totalRecordCount: some.length };
      scene.service.options.rawBody = resource =>
        resource === 'collections' ? JSON.stringify({ items: some, pagination, ...member }) : undefined;
      const failed = await syncScene(scene);
      expect(failed).toMatchObject({ code: 3, status: 'partial' });
      expect(failed.of('collections')).toMatchObject({
        status: 'failed',
        retries: 5,
        error: { code: 'invalid_response', message: expect.stringContaining(`"${Object.keys(member)}"`) },
      });
      expectExactMirror(scene.database, scene.service);
      scene.service.options.rawBody = undefined;
      expect(await scene.sync()).toMatchObject({ code: 0 });
    },
  );

  test.each(['bare', 'empty'])('past the end an answer reports an error and is %s', async kind => {
    await using scene = await setScene({ maxPageSize: 20 }, { exports: 40 });
    const pagination = { pageCount: 2, pageNo: 3, pageSize: 20, totalRecordCount: 40 };
    scene.service.options.rawBody = (resource, pageNo, pageSize) =>
      resource === 'document-exports' && (pageNo - 1) * Number(pageSize ?? 20) >= 40
        ? JSON.stringify({ items: [], ...(kind === 'empty' && { pagination }), error: 'no such page' })
        : undefined;
    const synced = await scene.sync('--page-size', '20');
    expect(synced.of('document-exports')).toMatchObject({ completeness: 'proven', recordsSeen: 40 });
    expectExactMirror(scene.database, scene.service);
  });

  test('identical twins are on one page, on two pages, come and go', async () => {
    await using scene = await setScene({ maxPageSize: 20 });
    const exports = scene.service.lists['document-exports'];
    exports.splice(5, 0, documentExport(6), documentExport(6));
    exports.push(documentExport(6), documentExport(7));
    expect(await scene.sync()).toMatchObject({ code: 0 });
    expectExactMirror(scene.database, scene.service);
    const again = (await scene.sync()).of('document-exports');
    expect(again).toMatchObject({ inserted: 0, removed: 0, updated: 0 });
    exports.splice(6, 1);
    expect(await scene.sync()).toMatchObject({ code: 0 });
    expectExactMirror(scene.database, scene.service);
    exports.push(documentExport(6), documentExport(6));
    expect(await scene.sync()).toMatchObject({ code: 0 });
    expectExactMirror(scene.database, scene.service);
  });
});
