import { expect, test } from 'vitest';
import { casesOf } from '../support/cases.ts';
import { endsOf, setLongList, syncLong, takeRequests } from '../support/ended-early.ts';
import { expectExactMirror } from '../support/oracle.ts';
import type { SampleItem } from '../support/stand-in.ts';

// A database that reads an index up to some offset and sorts beyond it shows exports of one time in two orders. All share a time with 39
// others here, and the border is within such a time.

const [size, jobs, many] = [50, 30, 40];

const borders = [
  ['by the end of a page', 'by time, the oldest first', 615],
  ['by its begin', 'by time, the oldest first', 605],
  ['by its begin', 'by time, the newest first', 630],
  ['by the end of a page', 'by time, the newest first', 615],
] as const;

test.each(casesOf(borders, 2))(
  'exports of one time that come in another order from some place on are all in the mirror: %s, %s',
  async (by, order, place) => {
    await using scene = await setLongList((jobs * many) / size, { order, size });
    const { service, resource } = scene;
    const byIndex: SampleItem[] = scene.items.map((item, at) => ({
      ...item,
      exportedAt: scene.items[Math.floor(at / many) * many]?.exportedAt,
    }));
    const rank = ({ sourceDocumentReference: reference }: SampleItem) =>
      (Number(String(reference).slice(4)) * 7_919) % 1_009;
    const bySorting = [...Map.groupBy(byIndex, ({ exportedAt }) => exportedAt).values()].flatMap(job =>
      job.toSorted((a, b) => rank(a) - rank(b)),
    );
    service.onRequest = ({ pageNo, pageSize, resource: asked }) => {
      if (asked !== resource) return;
      const served = Math.min(size, pageSize ?? size);
      const begin = ((pageNo ?? 1) - 1) * served;
      const isBehind = (by === 'by its begin' ? begin : begin + served) > place;
      service.lists[resource] = isBehind ? bySorting : byIndex;
    };
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    expectExactMirror(scene.database, service);
    takeRequests(scene);
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    expect(takeRequests(scene).length).toBeLessThanOrEqual(3.7 * (byIndex.length / size));
    expect(endsOf(scene).at(-1)).toMatchObject({ completeness: 'proven', rows: byIndex.length });
    // One of them goes, at the border, too.
    const gone = byIndex.splice(610, 1)[0];
    bySorting.splice(
      bySorting.findIndex(item => item.sourceDocumentReference === gone?.sourceDocumentReference),
      1,
    );
    expect(await syncLong(scene)).toMatchObject({ code: 0 });
    expectExactMirror(scene.database, service);
  },
);
