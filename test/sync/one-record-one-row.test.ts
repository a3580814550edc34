import { describe, expect, test } from 'vitest';
import { beforeEachAnswer, writeItems } from '../support/answers.ts';
import { casesOf } from '../support/cases.ts';
import { expectExactMirror } from '../support/oracle.ts';
import { expectOrdinary, exportsOf, rowsIn, titlesOf } from '../support/ordinary-night.ts';
import { feedOf } from '../support/run-cli.ts';
import { make, type Scene, setScene } from '../support/scene.ts';
import { documentExport, type SampleItem } from '../support/stand-in.ts';

// An export, a collection and a webhook is one row, whatever its text is in the answers of a run.

describe('a title that is corrected while the list is read', () => {
  /**
   * Sets the title of the first export that a second answer shows, before that answer, and returns its reference in a list. Meanwhile an
   * export goes before it is read, so that the greatest total is one more than the list has at the end.
   */
  function correctBetweenTwoPages(scene: Scene, title: string) {
    const edited: string[] = [];
    let reach = 0;
    exportsOf(scene).push(documentExport(9_000));
    beforeEachAnswer(scene.service, 'document-exports', ({ n, from, to }) => {
      if (n === 2) exportsOf(scene).pop();
      const item = exportsOf(scene)[from];
      if (n > 1 && from < reach && edited.length === 0 && item !== undefined) {
        item.sourceDocumentTitle = title;
        edited.push(`${item.sourceDocumentReference}`);
      }
      reach = Math.max(reach, to);
    });
    return edited;
  }

  test('is the newest text of one row, on a first copy and in the night after it', async () => {
    await using scene = await setScene({ maxPageSize: 500 }, { exports: 3_000 });
    scene.env.DOCMIRROR_CONCURRENCY = '1';
    const first = correctBetweenTwoPages(scene, 'Corrected');
    await expectOrdinary(scene, 3_000);
    expect(first).toHaveLength(1);
    expect(titlesOf(scene, `${first}`)).toEqual(['Corrected']);
    const second = correctBetweenTwoPages(scene, 'Corrected again');
    expect(await expectOrdinary(scene, 3_000)).toMatchObject({ inserted: 0, updated: 1 });
    expect(titlesOf(scene, `${second}`)).toEqual(['Corrected again']);
    expect(feedOf(scene.database)).toEqual({ insert: 3_000, update: 1 });
    const { stdout } = await scene.run('changes', '--since-run', '1', '--format', 'ndjson');
    expect(stdout.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({
      operation: 'update',
      changedFields: ['sourceDocumentTitle'],
      record: { sourceDocumentReference: `${second}`, sourceDocumentTitle: 'Corrected again' },
    });
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });

  test('and corrected back leaves the row of the night before as it was', async () => {
    await using scene = await setScene({ maxPageSize: 500 }, { exports: 3_000 });
    scene.env.DOCMIRROR_CONCURRENCY = '1';
    const edited = correctBetweenTwoPages(scene, 'As before');
    await expectOrdinary(scene, 3_000);
    const item = exportsOf(scene).find(each => edited.includes(`${each.sourceDocumentReference}`));
    (item as SampleItem).sourceDocumentTitle = 'Not for long';
    const back = correctBetweenTwoPages(scene, 'As before');
    expect(await expectOrdinary(scene, 3_000)).toMatchObject({ inserted: 0, updated: 0 });
    expect(back).toEqual(edited);
    expect(feedOf(scene.database)).toEqual({ insert: 3_000 });
  });

  test('and corrected back is the newest text on a first copy, too', async () => {
    // A list in no visible order is read several times.
    await using scene = await setScene({ maxPageSize: 100 }, { exports: 400 });
    scene.env.DOCMIRROR_CONCURRENCY = '1';
    const place = (n: number) => (n * 7_919) % 401;
    scene.service.lists['document-exports'] = make(400, n => documentExport(place(n)));
    const titles = ['Right', 'Wrong', 'Right'];
    let shown = 0;
    beforeEachAnswer(scene.service, 'document-exports', ({ from, to }) => {
      if (from > 50 || to <= 50) return;
      (exportsOf(scene)[50] as SampleItem).sourceDocumentTitle = titles[shown++] ?? 'Right';
      // Two readings must agree, so there is a third one.
      if (shown === 2) exportsOf(scene).push(documentExport(500));
    });
    await expectOrdinary(scene, 401);
    expect(shown).toBeGreaterThanOrEqual(3);
    expect(titlesOf(scene, `${exportsOf(scene)[50]?.sourceDocumentReference}`)).toEqual(['Right']);
    expectExactMirror(scene.database, scene.service);
  });
});

describe('a release of the service', () => {
  const releases: [name: string, release: (item: SampleItem) => SampleItem][] = [
    ['that adds a field', item => ({ ...item, language: 'de' })],
    [
      'that writes titles otherwise',
      item => ({ ...item, sourceDocumentTitle: `${item.sourceDocumentTitle}`.toUpperCase() }),
    ],
  ];

  test.each(releases)(
    '%s and answers once is an update of what that answer shows',
    async (_name, release) => {
      await using scene = await setScene({ maxPageSize: 100 }, { exports: 400 });
      let answerOfRelease = 0;
      const base = exportsOf(scene);
      for (let night = 1; night <= 3; night++) {
        answerOfRelease = 1 + night;
        scene.service.lists['document-exports'] = base;
        writeItems(scene.service, 'document-exports', (item, _at, { n }) =>
          n === answerOfRelease ? release(item) : item,
        );
        expect(await expectOrdinary(scene, 400)).toMatchObject({ inserted: night === 1 ? 400 : 0 });
      }
      expect(feedOf(scene.database)).toEqual({ insert: 400, update: expect.any(Number) });
      expect(await scene.run('verify')).toMatchObject({ code: 0 });
    },
  );

  const turns = releases.flatMap(([name, release]) => [
    [name, 'a mirror that is complete', release, ['old', 'both', 'new', 'new']] as const,
    [name, 'a first copy', release, ['both', 'both', 'new', 'new']] as const,
  ]);

  test.each(casesOf(turns, 3))(
    '%s and answers by turns leaves one row for each export: %s',
    async (_name, _mirror, release, phases) => {
      await using scene = await setScene({ maxPageSize: 100 }, { exports: 400 });
      let phase = '';
      writeItems(scene.service, 'document-exports', (item, _at, { n }) =>
        phase === 'new' || (phase === 'both' && n % 2 === 0) ? release(item) : item,
      );
      for (const [night, now] of phases.entries()) {
        phase = now;
        const { inserted, updated } = await expectOrdinary(scene, 400);
        expect(inserted).toBe(night === 0 ? 400 : 0);
        if (night === 3) expect(updated).toBe(0);
      }
      expectExactMirror(scene.database, scene.service);
      expect(feedOf(scene.database)).toEqual({ insert: 400, update: expect.any(Number) });
      expect(await scene.run('verify')).toMatchObject({ code: 0 });
    },
  );
});

describe('a time', () => {
  test.each([
    ['.000Z', 'Z'],
    ['.000Z', '+00:00'],
    ['Z', '.000+00:00'],
  ])('that ends in %s, and from one night on in %s, is the same time', async (before, after) => {
    await using scene = await setScene({ maxPageSize: 100 }, { exports: 400 });
    const end = (text: string) => {
      for (const item of exportsOf(scene))
        item.exportedAt = `${item.exportedAt}`.replace(/(?:\.000)?(?:Z|\+00:00)$/, text);
    };
    end(before);
    await expectOrdinary(scene, 400);
    end(after);
    expect(await expectOrdinary(scene, 400)).toMatchObject({ inserted: 0, updated: 0, unchanged: 400 });
    expect(feedOf(scene.database)).toEqual({ insert: 400 });
    end(before);
    expectExactMirror(scene.database, scene.service);
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });
});

describe('a time that is written in two ways', () => {
  const otherwise = (item: SampleItem) => ({
    ...item,
    exportedAt: `${item.exportedAt}`.replace('Z', '.000Z'),
  });

  test('by two nodes that answer by turns is the same time', async () => {
    await using scene = await setScene({ maxPageSize: 100 }, { exports: 400 });
    writeItems(scene.service, 'document-exports', (item, _at, { n }) =>
      n % 2 === 0 ? otherwise(item) : item,
    );
    for (const inserted of [400, 0, 0]) expect(await expectOrdinary(scene, 400)).toMatchObject({ inserted });
    expect(feedOf(scene.database)).toEqual({ insert: 400 });
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });

  test('in a record that can not be read keeps the row of its export', async () => {
    await using scene = await setScene({ maxPageSize: 100 }, { exports: 400 });
    await expectOrdinary(scene, 400);
    const exports = exportsOf(scene);
    exports[250] = { ...otherwise(exports[250] as SampleItem), sourceDocumentKind: 7 };
    for (const night of [2, 3]) {
      const synced = await scene.sync('--full');
      const outcome = synced.of('document-exports');
      expect({ night, code: synced.code, ...outcome }).toMatchObject({ code: 3, rejected: 1, removed: 0 });
      expect(rowsIn(scene)).toBe(400);
    }
  });
});
