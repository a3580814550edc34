import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { CancelledError } from '../../src/errors.ts';
import {
  breakOff,
  differenceOf,
  endsOf,
  failAfter,
  type LongList,
  setLongList,
  syncLong,
  takeRequests,
} from '../support/ended-early.ts';
import { expectExactMirror } from '../support/oracle.ts';
import { titlesOf } from '../support/ordinary-night.ts';
import { type RecordedRequest, type SampleItem, startStandIn } from '../support/stand-in.ts';

// Each list has 30 pages of 20 records: more than 40 answers, because pages overlap. Its reading is broken off after 26 of them.
const [pages, answers] = [30, 26];
const day = 86_400_000;

/** A mirror of a list whose reading was broken off. */
async function setBrokenOff(options: Parameters<typeof breakOff>[2] = {}): Promise<LongList> {
  const scene = await setLongList(pages);
  await breakOff(scene, answers, options);
  expect(endsOf(scene)).toMatchObject([{ completeness: 'unproven' }]);
  takeRequests(scene);
  return scene;
}

/** How many requests a run took: the rest of the list, or all of it. */
function expectTheRest(scene: LongList): void {
  expect(takeRequests(scene).length).toBeLessThan(pages - 5);
}
function expectAll(scene: LongList): void {
  expect(takeRequests(scene).length).toBeGreaterThanOrEqual(pages);
}

/** The page and the page size of a request. */
const addressOf =
  ({ size }: LongList) =>
  ({ pageNo, pageSize }: RecordedRequest) =>
    `${pageNo} of ${Math.min(pageSize ?? size, size)}`;

const isSecondPage = ({ pageNo }: { pageNo: number | null }) => pageNo === 2;

describe('the next run', () => {
  test('asks for the first page, the end, and what was not read', async () => {
    await using scene = await setBrokenOff();
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    expectTheRest(scene);
    expectExactMirror(scene.database, scene.service);
  });

  test('goes on, too, if one that got no page was in between', async () => {
    await using scene = await setBrokenOff();
    await breakOff(scene, 0);
    expect(endsOf(scene)[1]).toMatchObject({ status: 'failed', completeness: null, since: null, seen: 0 });
    takeRequests(scene);
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    expectTheRest(scene);
    expectExactMirror(scene.database, scene.service);
  });

  test('of one that went on goes on with both of them', async () => {
    await using scene = await setBrokenOff();
    await breakOff(scene, 6);
    takeRequests(scene);
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    const asked = takeRequests(scene);
    expect(asked.length).toBeLessThan(pages - 10);
    expect(asked.some(isSecondPage)).toBe(false);
    expectExactMirror(scene.database, scene.service);
  });

  test('of one that was proven goes on with nothing', async () => {
    await using scene = await setBrokenOff();
    await syncLong(scene);
    takeRequests(scene);
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    expectAll(scene);
  });

  test('takes answers that are six days old', async () => {
    await using scene = await setBrokenOff({ now: new Date(Date.now() - 6.9 * day) });
    const next = await syncLong(scene);
    expect(next.of(scene.resource)).toMatchObject({ completeness: 'proven' });
    expectTheRest(scene);
  });
});

describe('the next run begins from the first page', () => {
  test.each(['--full', '--rebuild'])('with %s', async flag => {
    await using scene = await setBrokenOff();
    scene.items.splice(100, 1);
    expect(await scene.sync(flag)).toMatchObject({ code: 0 });
    expectAll(scene);
    expectExactMirror(scene.database, scene.service);
  });

  test('if the answers are more than seven days old', async () => {
    await using scene = await setBrokenOff({ now: new Date(Date.now() - 7.1 * day) });
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    expectAll(scene);
  });

  test('if the answers are of the future, because a clock was wrong', async () => {
    await using scene = await setBrokenOff({ now: new Date(Date.now() + day) });
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    expectAll(scene);
  });

  test('if pages have another size', async () => {
    await using scene = await setBrokenOff();
    await using clean = await setLongList(pages);
    for (const each of [scene, clean])
      expect(await syncLong(each, { pageSize: 19 })).toMatchObject({ code: 0 });
    const addresses = (each: LongList) => takeRequests(each).map(addressOf(each)).sort();
    expect(addresses(scene)).toEqual(addresses(clean));
    expectExactMirror(scene.database, scene.service);
  });

  test('if the service has another address', async () => {
    await using scene = await setBrokenOff();
    await using moved = await startStandIn({ ...scene.service.options });
    moved.lists = structuredClone(scene.service.lists);
    const args = ['--base-url', moved.url, '--accept-new-base-url', '--resource', scene.resource];
    expect(await scene.sync(...args)).toMatchObject({ code: 0 });
    expect(moved.requests.length).toBeGreaterThanOrEqual(pages);
    expectExactMirror(scene.database, moved);
  });

  test('if another program has altered a row: it is refused, and rebuilt', async () => {
    await using scene = await setBrokenOff();
    const other = new Database(scene.database);
    other.exec("UPDATE document_exports SET source_document_title = 'x' WHERE rowid = 100");
    other.close();
    const refused = await scene.sync('--resource', scene.resource);
    expect(refused).toMatchObject({ code: 4 });
    expect(refused.stderr).toContain('mirror_altered');
    takeRequests(scene);
    expect(await scene.sync('--rebuild')).toMatchObject({ code: 0 });
    expectAll(scene);
    expectExactMirror(scene.database, scene.service);
  });

  test('if other fields are ignored', async () => {
    await using scene = await setBrokenOff();
    const ignoreFields = { [scene.resource]: ['downloadUrl'] };
    expect(await syncLong(scene, { ignoreFields })).toMatchObject({ code: 0 });
    expectAll(scene);
  });
});

describe('what came and changed between two runs', () => {
  test('many records among those that were read: they are counted, and the list is read from its first page at once', async () => {
    await using scene = await setBrokenOff();
    for (let n = 1; n <= 30; n++) scene.add(100 * n + 5);
    const next = await syncLong(scene);
    expect(next).toMatchObject({ code: 0 });
    expect(next.of(scene.resource)).toMatchObject({ completeness: 'proven', walks: 2 });
    expectExactMirror(scene.database, scene.service);
  });

  test('records that went: they go with the next full run, and no live one is missing before', async () => {
    await using scene = await setBrokenOff();
    scene.items.splice(100, 20);
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    expectTheRest(scene);
    expect(differenceOf(scene)).toEqual({ missing: 0, extra: 20 });
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    expectExactMirror(scene.database, scene.service);
  });

  test('texts of records that both runs saw: the newest text counts', async () => {
    await using scene = await setBrokenOff();
    for (const item of scene.items) item.sourceDocumentTitle = 'new';
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    const asked = takeRequests(scene).flatMap(({ pageNo, pageSize }) => {
      const size = Math.min(pageSize ?? scene.size, scene.size);
      return scene.items.slice(((pageNo ?? 1) - 1) * size, (pageNo ?? 1) * size);
    });
    expect(asked.length).toBeGreaterThan(200);
    expect(differenceOf(scene, asked)).toMatchObject({ missing: 0 });
    expect(titlesOf(scene, 'DOC-1000')).toEqual(['Document 1000']);
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    expectExactMirror(scene.database, scene.service);
  });

  test('the text of a record on a page of the first run: that page is asked for again', async () => {
    await using scene = await setBrokenOff();
    // It is on the first page, which is always asked for, and on the second one.
    const edge = scene.items[19] as { sourceDocumentReference: string };
    Object.assign(edge, { sourceDocumentTitle: 'new' });
    await breakOff(scene, 4);
    expect(titlesOf(scene, edge.sourceDocumentReference)).toEqual(['new']);
    takeRequests(scene);
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    expect(takeRequests(scene).some(isSecondPage)).toBe(true);
    expectExactMirror(scene.database, scene.service);
  });

  test('the text of a record that a run between the two saw on another page: its page is asked for again', async () => {
    await using scene = await setLongList(pages);
    const { items, size } = scene;
    await breakOff(scene, answers);
    const first = takeRequests(scene);
    const address = addressOf(scene);
    // Two records of the first page change places: pages have to overlap by more, so others are asked for.
    const swap = () => items.splice(3, 2, items[4] as SampleItem, items[3] as SampleItem);
    swap();
    const edited = 80;
    Object.assign(items[edited] as SampleItem, { sourceDocumentTitle: 'new' });
    await breakOff(scene, 10);
    expect(titlesOf(scene, String(items[edited]?.sourceDocumentReference))).toEqual(['new']);
    const second = takeRequests(scene).map(address);
    swap();
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    const third = new Set(takeRequests(scene).map(address));
    const before = first.slice(1).filter(request => !second.includes(address(request)));
    const has = ({ pageNo, pageSize }: RecordedRequest) =>
      Math.floor(edited / Math.min(pageSize ?? size, size)) + 1 === pageNo;
    const again = before.filter(request => third.has(address(request)));
    expect(before.some(has)).toBe(true);
    expect(again).toEqual(expect.arrayContaining(before.filter(has)));
    expect(again.length).toBeLessThan(before.length / 2);
    expectExactMirror(scene.database, scene.service);
  });

  test('of two records with one identity one: the next full run is exact', async () => {
    await using scene = await setLongList(pages);
    const twin = { ...scene.items[105], sourceDocumentTitle: 'a twin' };
    scene.items.splice(106, 0, twin);
    await breakOff(scene, answers);
    scene.items.splice(105, 1);
    twin.sourceDocumentTitle = 'a twin, edited';
    await syncLong(scene);
    expect(differenceOf(scene)).toMatchObject({ missing: 1, extra: 2 });
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    expectExactMirror(scene.database, scene.service);
  });

  test('the oldest records of a list whose total is round: they go', async () => {
    await using scene = await setLongList(51);
    await syncLong(scene);
    scene.items.splice(0, 20);
    await breakOff(scene, answers);
    // The total of the first part is not one of a run before.
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    expectExactMirror(scene.database, scene.service);
  });

  test('a service of copies that differ: if they are well again, they are no reason to doubt', async () => {
    await using scene = await setLongList(pages);
    const { options } = scene.service;
    let n = 0;
    scene.service.onRequest = () => {
      options.totalError = n++ % 2 === 0 ? 0 : -5;
    };
    await breakOff(scene, answers);
    expect(endsOf(scene)[0]?.reason).toContain('answers come from copies of the list that differ');
    Object.assign(options, { totalError: 0 });
    scene.service.onRequest = undefined;
    const next = await syncLong(scene);
    expect(next).toMatchObject({ code: 0 });
    expect(next.of(scene.resource)).toMatchObject({ completeness: 'proven' });
    expectExactMirror(scene.database, scene.service);
  });
});

test('a run that is cancelled again and again gets further each time', async () => {
  await using scene = await setLongList(pages);
  const { service, resource } = scene;
  for (let part = 0; part < 6; part++) {
    const stop = new AbortController();
    let n = 0;
    service.onRequest = () => {
      if (++n === 8) stop.abort(new CancelledError('SIGTERM'));
    };
    const { status } = (await syncLong(scene, { signal: stop.signal })).of(resource);
    expect(status).toBe('cancelled');
  }
  service.onRequest = undefined;
  const rows = endsOf(scene).map(end => end.rows as number);
  expect(rows).toEqual([...new Set(rows)].sort((a, b) => a - b));
  failAfter(scene);
  takeRequests(scene);
  expect(await syncLong(scene)).toMatchObject({ code: 0 });
  expectTheRest(scene);
  expectExactMirror(scene.database, scene.service);
});
