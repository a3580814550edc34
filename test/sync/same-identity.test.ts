import { describe, expect, test } from 'vitest';
import { beforeEachAnswer } from '../support/answers.ts';
import { expectExactMirror } from '../support/oracle.ts';
import { expectOrdinary, exportsOf, titlesOf } from '../support/ordinary-night.ts';
import { feedOf } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';
import { connection, type SampleItem } from '../support/stand-in.ts';

// A list can have several exports of one identity: they differ in nothing that identifies an export.

describe('several exports of one identity', () => {
  /** 400 exports; those at these places are written as the first of them, so that they differ in what is given alone. */
  async function setTwins(places: readonly number[], over: (nth: number) => SampleItem) {
    const scene = await setScene({ maxPageSize: 100 }, { exports: 400 });
    const exports = exportsOf(scene);
    const first = exports[places[0] as number];
    for (const [nth, place] of places.entries()) exports[place] = { ...first, ...over(nth) };
    return scene;
  }
  const texts = ['One', 'Other', 'Third'];
  const titled = (nth: number) => ({ sourceDocumentTitle: texts[nth] });

  test('and two texts on a page stay two rows', async () => {
    await using scene = await setTwins([40, 41], titled);
    expect(await expectOrdinary(scene, 400)).toMatchObject({ inserted: 400 });
    expect(titlesOf(scene, 'DOC-41')).toEqual(['One', 'Other']);
    expect(await expectOrdinary(scene, 400)).toMatchObject({ inserted: 0, updated: 0, unchanged: 400 });
    expect(feedOf(scene.database)).toEqual({ insert: 400 });
  });

  test.each([
    ['inside of a page', [40, 41, 42]],
    ['at the end of a page', [98, 99, 100]],
    // The second page begins at place 97.
    ['at the beginning of a page', [96, 97, 98]],
  ])('and one text are as many rows as the fullest page shows: %s', async (_where, places) => {
    await using scene = await setTwins(places, () => ({}));
    for (const night of [1, 2]) {
      expect(await expectOrdinary(scene, 400)).toMatchObject({ inserted: night === 1 ? 400 : 0, updated: 0 });
      expect(titlesOf(scene, `DOC-${Number(places[0]) + 1}`)).toHaveLength(3);
    }
    exportsOf(scene).splice(places[1] as number, 1);
    const gone = await scene.sync('--full');
    expect(gone.of('document-exports')).toMatchObject({ completeness: 'proven', inserted: 0, updated: 0 });
    expect(gone.of('document-exports')).toMatchObject({ removed: 1 });
    expectExactMirror(scene.database, scene.service);
  });

  test.each([
    ['two texts', titled],
    ['one text', () => ({})],
  ])('and %s: if one of them is edited, its row is updated', async (_texts, over) => {
    await using scene = await setTwins([40, 41], over);
    await expectOrdinary(scene, 400);
    const kept = titlesOf(scene, 'DOC-41')[0];
    (exportsOf(scene)[41] as SampleItem).sourceDocumentTitle = 'The edited one';
    expect(await expectOrdinary(scene, 400)).toMatchObject({ inserted: 0, updated: 1 });
    expect(titlesOf(scene, 'DOC-41')).toEqual([kept, 'The edited one']);
    expect(feedOf(scene.database, 'document-exports', 2)).toEqual({ update: 1 });
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });

  test('and one of them edited between two pages are two rows, with the newest texts', async () => {
    await using scene = await setTwins([98, 99], titled);
    scene.env.DOCMIRROR_CONCURRENCY = '1';
    const twin = exportsOf(scene)[99] as SampleItem;
    beforeEachAnswer(scene.service, 'document-exports', ({ from, to }) => {
      if (from > 0 && from <= 98 && to > 99) twin.sourceDocumentTitle = 'The edited one';
    });
    await expectOrdinary(scene, 400);
    expect(titlesOf(scene, 'DOC-99')).toEqual(['One', 'The edited one']);
    expectExactMirror(scene.database, scene.service);
  });
});

test.each([
  ['sourceConnection', connection(4)],
  ['destinationConnection', connection(104)],
  ['sourceDocumentReference', 'DOC-other'],
  ['sourceDocumentVersion', '9.9'],
  ['destinationReference', 'archive/other.pdf'],
])(
  'exports of one time that differ in %s are not one: if one goes, another one comes',
  async (field, other) => {
    await using scene = await setScene({ maxPageSize: 100 }, { exports: 400 });
    await expectOrdinary(scene, 400);
    const { [field]: _value, ...before } = exportsOf(scene)[250] as SampleItem;
    exportsOf(scene)[250] = { ...before, [field]: other };
    const synced = await scene.sync('--full');
    expect({ code: synced.code, ...synced.of('document-exports') }).toMatchObject({
      code: 0,
      completeness: 'proven',
    });
    expect(feedOf(scene.database, 'document-exports', 2)).toEqual({ insert: 1, removal: 1 });
    expectExactMirror(scene.database, scene.service);
  },
);
