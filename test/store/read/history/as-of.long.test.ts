import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sqlite } from '../../../support/run-cli.ts';
import { type Scene, setScene } from '../../../support/scene.ts';
import { documentExport } from '../../../support/stand-in.ts';

function exported(scene: Scene, folder: string, name: string): string[] {
  return readFileSync(join(scene.folder, folder, `${name}.ndjson`), 'utf8')
    .split('\n')
    .filter(line => line !== '')
    .sort();
}

const texts = (items: readonly unknown[]) => items.map(item => JSON.stringify(item)).sort();

describe('export as of a run', () => {
  test('a time means the last run that had ended by then', async () => {
    await using scene = await setScene({}, { exports: 3, collections: 2, webhooks: 1 });
    await scene.sync();
    scene.service.lists.collections.pop();
    await scene.sync();
    const [run] = sqlite(scene.database, 'SELECT completed_at FROM sync_runs WHERE id = 1');
    const out = join(scene.folder, 'then');
    const then = await scene.run('export', '--as-of', String(run?.completed_at), '--out', out);
    expect(then).toMatchObject({ code: 0, stderr: `As of run 1, which ended at ${run?.completed_at}.\n` });
    expect(exported(scene, 'then', 'collections')).toHaveLength(2);
    const shown = String(run?.completed_at).replace(/\.\d+Z$/, 'Z');
    expect(await scene.run('export', '--as-of', shown, '--out', out), shown).toMatchObject({ code: 0 });
    for (const [flag, value, why] of [
      ['--as-of', '2020-01-01', 'no run had ended by 2020-01-01T00:00:00.000Z.'],
      ['--as-of-run', '9', 'there is no run 9; the newest that has ended is 2.'],
    ] as const) {
      const { code, stderr } = await scene.run('export', flag, value, '--out', out);
      expect([code, stderr]).toEqual([
        2,
        `docmirror: ${flag}: ${why} "docmirror runs" lists them. [settings]\n`,
      ]);
    }
  });

  test('names the lists that the run was not sure of', async () => {
    await using scene = await setScene({}, { exports: 3, collections: 2, webhooks: 1 });
    await scene.sync();
    scene.service.options.status = { collections: 500 };
    await scene.sync('--give-up-after', '0', '--resource', 'collections', '--resource', 'document-exports');
    scene.service.options.status = {};
    scene.service.lists.webhooks.push('{"id":"no number"}');
    await scene.sync('--resource', 'webhooks');
    const second = await scene.run('export', '--as-of-run', '2', '--out', join(scene.folder, 'out'));
    expect(second).toMatchObject({
      code: 0,
      stderr:
        'collections: run 2 did not complete it (failed); it is given as run 1 left it.\nwebhooks: run 2 did not complete it (not read); it is given as run 1 left it.\n',
    });
    const webhooks = ['--as-of-run', '3', '--resource', 'webhooks', '--out', join(scene.folder, 'out')];
    const third = await scene.run('export', ...webhooks);
    expect(third.stderr).toBe(
      'webhooks: run 3 did not complete it (partial); it is given as run 3 left it.\n',
    );
  });

  test('twins, texts of all kinds and digits beyond 2^53 come back from the history as they were', async () => {
    await using scene = await setScene({}, { exports: 0, collections: 0, webhooks: 0 });
    const { lists } = scene.service;
    const odd =
      '{"id":7,"name":"a\\n\\"b\\" \u{1d49f}","sourceConnection":{"name":"no id"},"destinationConnection":{"id":5,"name":null,"since":1.00000000000000000001},"big":12345678901234567890}';
    lists.collections.push(odd);
    lists['document-exports'].push(
      documentExport(1),
      documentExport(1),
      documentExport(1, { exportedAt: 'soon' }),
    );
    await scene.sync();
    lists.collections.splice(0);
    lists['document-exports'].splice(0);
    await scene.sync('--allow-mass-removal');
    await scene.run('export', '--as-of-run', '1', '--out', join(scene.folder, 'out'));
    expect(exported(scene, 'out', 'document_exports')).toEqual(
      texts([documentExport(1), documentExport(1), documentExport(1, { exportedAt: 'soon' })]),
    );
    expect(exported(scene, 'out', 'collections')).toEqual([
      '{"id":7,"name":"a\\n\\"b\\" \u{1d49f}","sourceConnection":{"name":"no id"},"destinationConnection":{"id":5,"name":null,"since":1.00000000000000000001},"big":12345678901234567890}',
    ]);
  });
});
