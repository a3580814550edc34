import { describe, expect, test } from 'vitest';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

type Item = Record<string, unknown>;

describe.concurrent('removals that are withheld', () => {
  test('are reported as a field in another form, before anything that allows them, if as many records came', async () => {
    await using scene = await setScene();
    await scene.sync();
    for (const item of scene.service.lists['document-exports'] as Item[])
      item.sourceDocumentVersion = `v${item.sourceDocumentVersion}`;
    const { code, stdout } = await scene.run('sync');
    expect(code).toBe(3);
    const text = stdout.replaceAll(/\n +/g, ' ');
    expect(text).toContain(
      'As many new records differ in sourceDocumentVersion only: probably the service now writes this field in another way.',
    );
    expect(text.indexOf('sourceDocumentVersion only')).toBeLessThan(text.indexOf('--allow-mass-removal'));
    expect(
      sqlite(
        scene.database,
        "SELECT reason FROM sync_run_resources WHERE resource = 'document-exports' AND run_id = 2",
      ),
    ).toEqual([
      {
        reason:
          'as many new records differ from the missing ones only in sourceDocumentVersion; removals were withheld because they are more than DOCMIRROR_MAX_REMOVALS allows',
      },
    ]);
    // The new ones are not new to the next run, which withholds the same.
    const again = await scene.sync();
    expect(again.of('document-exports')).toMatchObject({
      inserted: 0,
      changedIdentity: 'sourceDocumentVersion',
    });
  });

  test('are reported as new ids, if all else is as it was', async () => {
    await using scene = await setScene({}, { exports: 1, collections: 30, webhooks: 1 });
    await scene.sync();
    for (const item of scene.service.lists.collections as Item[]) item.id = Number(item.id) + 1_000;
    expect((await scene.sync()).of('collections')).toMatchObject({
      removalsWithheld: 30,
      changedIdentity: 'id',
    });
  });
});
