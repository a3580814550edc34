import { describe, expect, test } from 'vitest';
import { breakOff, setLongList, syncLong, takeRequests } from '../support/ended-early.ts';
import { syncScene } from '../support/in-process.ts';
import { expectExactMirror } from '../support/oracle.ts';
import { make, type Scene, setScene } from '../support/scene.ts';
import { documentExport, type StandInOptions } from '../support/stand-in.ts';

// A service can refuse page sizes that are too large for it, in place of cutting them.

const day = 24 * 3_600_000;
const night = (n: number) => new Date(Date.UTC(2030, 0, 1) + n * day);
const refusing = (maxPageSize: number, complaint = 'pageSize too large'): Partial<StandInOptions> => ({
  clamp: 'refuse',
  maxPageSize,
  defaultPageSize: Math.min(50, maxPageSize),
  complaint,
});

/** The sizes of the requests for the exports since the last call: the first ones. */
function sizesAsked({ service }: Scene, count: number): (number | null)[] {
  const sizes = service.requests.filter(({ resource }) => resource === 'document-exports');
  service.requests = [];
  return sizes.slice(0, count).map(({ pageSize }) => pageSize);
}

const syncExports = (scene: Scene, options: Parameters<typeof syncScene>[1] = {}) =>
  syncScene(scene, { resources: ['document-exports'], ...options });

/** Lets the service refuse each page that is asked for with a size. */
function refuseSizes({ service }: Scene): void {
  service.options.faults = ({ pageSize }) =>
    pageSize === null ? undefined : { kind: 'status', status: 400 };
}

describe('a service that refuses large pages', () => {
  test.each([
    [500, '{"max":500}', [1000, 500]],
    [250, '', [1000, 250]],
    [230, 'pageSize must be less than or equal to 230', [1000, 250, 230]],
    [200, '', [1000, 250, 200]],
    [120, 'pageSize must not be greater than 120', [1000, 250, 200, 120]],
    [100, '', [1000, 250, 200, 100]],
    [60, '', [1000, 250, 200, 100, 50]],
    [30, 'at most 30', [1000, 250, 200, 100, 50, null, 30]],
    [30, 'page 1 of error 12', [1000, 250, 200, 100, 50, null, 30]],
    [30, '', [1000, 250, 200, 100, 50, null]],
    // Numbers that are no sizes cost a request each, and no more than a few.
    [100, 'error 997', [1000, 997, 250, 200, 100]],
    [100, 'error 7', [1000, 250, 200, 100]],
    [100, '999 998 997 996 995 994 993 992', [1000, 999, 998, 997, 250, 200, 100]],
  ])(
    'larger than %i, and says "%s", is asked for the largest that it serves',
    async (max, complaint, sizes) => {
      await using scene = await setScene(refusing(max, complaint), { exports: 1_200 });
      const { code, of } = await syncExports(scene);
      expect(code).toBe(0);
      const pageSize = sizes.at(-1) ?? 30;
      expect(of('document-exports')).toMatchObject({ pageSize, completeness: 'proven', recordsSeen: 1_200 });
      expect(sizesAsked(scene, sizes.length)).toEqual(sizes);
      expectExactMirror(scene.database, scene.service, ['document-exports']);
      // What was refused is not asked for again in the next nights.
      const usual = await syncExports(scene);
      expect(usual.of('document-exports')).toMatchObject({ pageSize, completeness: 'proven', updated: 0 });
      expect(sizesAsked(scene, 1)).toEqual([pageSize]);
    },
  );

  test.each<[which: string, refuse: (scene: Scene) => unknown, requests: readonly [number, number]]>([
    ['larger than 100', (scene: Scene) => Object.assign(scene.service.options, refusing(100)), [2, 3]],
    ['larger than 30', (scene: Scene) => Object.assign(scene.service.options, refusing(30)), [2, 3]],
    // Without another size, the page behind the end is the witness, and the same page once more.
    ['of any size that is sent', refuseSizes, [3, 5]],
  ])('%s costs a list on one page nothing in later nights', async (_which, refuse, [ifNew, ifGone]) => {
    await using scene = await setScene({}, { exports: 12 });
    refuse(scene);
    const exports = scene.service.lists['document-exports'];
    expect(await syncExports(scene)).toMatchObject({ code: 0 });
    const requests = async (n: number) => {
      const { code, of } = await syncExports(scene, { now: night(n), allowMassRemoval: true });
      expect({ code, ...of('document-exports') }).toMatchObject({ code: 0, completeness: 'proven' });
      expectExactMirror(scene.database, scene.service, ['document-exports']);
      return of('document-exports').requests;
    };
    // Not even when larger sizes could be tried again: it needs none.
    for (const n of [0, 1, 7, 8, 30]) expect(await requests(n)).toBe(1);
    exports.push(documentExport(900));
    expect(await requests(31)).toBe(ifNew);
    exports.splice(3, 1);
    expect(await requests(32)).toBe(ifGone);
    expect(await requests(33)).toBe(1);
  });

  test('are tried if a row goes from a page with one record less, and no address shows that twice', async () => {
    await using scene = await setScene(refusing(50), { exports: 50 });
    await syncExports(scene);
    scene.service.lists['document-exports'].splice(3, 1);
    sizesAsked(scene, 0);
    const { code, of } = await syncExports(scene);
    expect({ code, ...of('document-exports') }).toMatchObject({ code: 0, removed: 1, requests: 5 });
    expect(new Set(sizesAsked(scene, 5)).size).toBe(4);
  });

  test('and serves larger ones later is read by these after a week', async () => {
    await using scene = await setScene(refusing(100), { exports: 700 });
    await syncExports(scene, { now: night(0) });
    scene.service.options.maxPageSize = 500;
    scene.service.options.complaint = 'at most 500';
    sizesAsked(scene, 0);
    const sizesOf = async (n: number) => {
      await syncExports(scene, { now: night(n) });
      return sizesAsked(scene, 2);
    };
    expect((await sizesOf(6))[0]).toBe(100);
    expect(await sizesOf(7)).toEqual([1000, 500]);
    expect((await sizesOf(8))[0]).toBe(500);
    // A clock that was put back is no reason to wait for years.
    expect(await sizesOf(1)).toEqual([1000, 500]);
    expectExactMirror(scene.database, scene.service, ['document-exports']);
  });

  test('and refuses more later is asked for less in the same run', async () => {
    await using scene = await setScene(refusing(200), { exports: 700 });
    await syncExports(scene);
    Object.assign(scene.service.options, refusing(60, 'at most 60'));
    sizesAsked(scene, 0);
    expect((await syncExports(scene)).of('document-exports')).toMatchObject({
      pageSize: 60,
      completeness: 'proven',
    });
    expect(sizesAsked(scene, 3)).toEqual([200, 100, 60]);
    await syncExports(scene);
    expect(sizesAsked(scene, 1)).toEqual([60]);
  });

  test('and refuses more before an incremental sync is read in full by smaller ones', async () => {
    await using scene = await setScene(refusing(50), { exports: 700 });
    await syncExports(scene);
    expect((await syncExports(scene, { fullEveryMs: day })).of('document-exports')).toMatchObject({
      mode: 'incremental',
      requests: 1,
    });
    Object.assign(scene.service.options, refusing(40, 'at most 40'));
    const { code, of } = await syncExports(scene, { fullEveryMs: day });
    expect({ code, ...of('document-exports') }).toMatchObject({
      ...{ code: 0, mode: 'full', pageSize: 40 },
      completeness: 'proven',
    });
  });

  test('even of the size that it serves itself is asked for that once', async () => {
    await using scene = await setScene({}, { exports: 200 });
    refuseSizes(scene);
    const first = await syncExports(scene);
    expect(first.of('document-exports')).toMatchObject({ pageSize: 50, completeness: 'proven' });
    expect(sizesAsked(scene, 6)).toEqual([1000, 250, 200, 100, 50, null]);
    await syncExports(scene);
    expect(sizesAsked(scene, 1)).toEqual([null]);
  });

  test('is remembered by a reading that ended early, too', async () => {
    await using scene = await setLongList(30, { size: 20 });
    Object.assign(scene.service.options, refusing(20));
    await breakOff(scene, 26);
    takeRequests(scene);
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    const asked = takeRequests(scene).map(({ pageSize }) => pageSize);
    expect(asked.filter(size => size !== null && size > 20)).toEqual([]);
    expect(asked.length).toBeLessThan(30);
  });
});

describe('a page size', () => {
  test('that a person wants is asked for as it is, whatever was refused', async () => {
    await using scene = await setScene(refusing(100, 'at most 100'), { exports: 700 });
    await syncExports(scene);
    sizesAsked(scene, 0);
    expect((await syncExports(scene, { pageSize: 40 })).of('document-exports')).toMatchObject({
      pageSize: 40,
    });
    expect(sizesAsked(scene, 1)).toEqual([40]);
    expect((await syncExports(scene, { pageSize: 400 })).of('document-exports')).toMatchObject({
      pageSize: 100,
    });
    expect(sizesAsked(scene, 2)).toEqual([400, 100]);
    await syncExports(scene);
    expect(sizesAsked(scene, 1)).toEqual([100]);
  });

  test('that failed for a moment is asked for again in the next night', async () => {
    await using scene = await setScene({}, { exports: 700 });
    scene.service.options.faults = ({ pageSize }) =>
      (pageSize ?? 0) > 300 ? { kind: 'status', status: 500 } : undefined;
    expect((await syncExports(scene)).of('document-exports')).toMatchObject({ pageSize: 250 });
    scene.service.options.faults = undefined;
    expect((await syncExports(scene)).of('document-exports')).toMatchObject({ pageSize: 1000 });
  });

  test('that was refused by another service is asked for at this one', async () => {
    await using scene = await setScene(refusing(100), { exports: 700 });
    await syncExports(scene);
    await using other = await setScene({}, { exports: 700 });
    const { of } = await syncScene({ service: other.service, database: scene.database });
    expect(of('document-exports')).toMatchObject({ pageSize: 1000 });
  });
});

describe('pages that have fewer records than they say', () => {
  test('are read by the size that they say', async () => {
    await using scene = await setScene({}, { exports: 0, collections: 0, webhooks: 0 });
    // LIMIT on the rows of a join: each webhook is three rows.
    const items = make(300, n => JSON.stringify({ id: n, events: ['a', 'b', 'c'], connections: [] }));
    scene.service.options.rawBody = (resource, pageNo, asked) => {
      if (resource !== 'webhooks') return undefined;
      const size = Math.min(60, asked);
      const [from, to] = [(pageNo - 1) * size, pageNo * size].map(row => Math.floor(row / 3));
      const pagination = { pageCount: 15, pageNo, pageSize: size, totalRecordCount: 300 };
      return `{"items":[${items.slice(from, to)}],"pagination":${JSON.stringify(pagination)}}`;
    };
    const { of } = await syncScene(scene, { resources: ['webhooks'] });
    expect(of('webhooks')).toMatchObject({ pageSize: 60, recordsSeen: 300 });
    expect(of('webhooks').requests).toBeLessThan(80);
  });
});
