import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Scene, setScene } from '../support/scene.ts';

// What flags do at the command line. Others are tested with their command.

/** With this many records a page, the 130 exports of a scene take more pages than are always read in full. */
const manyPages = ['--page-size', '10'];

/** Takes so many exports from the list, the newest first. */
function remove({ service }: Scene, count: number): void {
  service.lists['document-exports'].splice(0, count);
}

describe('the flag', () => {
  test('--allow-http lets the token cross a network in the clear', async () => {
    await using scene = await setScene();
    // It is this machine, but not by an address that says so.
    scene.env.DOCMIRROR_BASE_URL = scene.service.url.replace('127.0.0.1', '0.0.0.0');
    expect(await scene.run('sync')).toMatchObject({ code: 2 });
    expect(await scene.run('sync', '--allow-http')).toMatchObject({ code: 0 });
  });
});

describe('sync', () => {
  test('--resource walks these lists and no other', async () => {
    await using scene = await setScene();
    const { summary } = await scene.sync('--resource', 'webhooks', '--resource', 'collections');
    expect(summary.resources).toMatchObject([{ resource: 'collections' }, { resource: 'webhooks' }]);
    expect(scene.service.requests.filter(({ resource }) => resource === 'document-exports')).toEqual([]);
  });

  test('--max-pages fails a list that has more', async () => {
    await using scene = await setScene();
    const refused = await scene.sync(...manyPages, '--max-pages', '12');
    expect(refused.of('document-exports')).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('--max-pages') },
    });
    expect(await scene.sync(...manyPages, '--max-pages', '13')).toMatchObject({ code: 0 });
  });

  test('--accept-new-base-url goes on at another address, which is refused before a request otherwise', async () => {
    await using scene = await setScene();
    await using moved = await setScene();
    await scene.sync();
    scene.env.DOCMIRROR_BASE_URL = moved.service.url;
    expect(await scene.sync()).toMatchObject({ code: 2 });
    expect(moved.service.requests).toEqual([]);
    expect(await scene.sync('--accept-new-base-url')).toMatchObject({ code: 0 });
    expect(await scene.sync()).toMatchObject({ code: 0 });
  });

  test('--dry-run says what would change, and changes nothing', async () => {
    await using scene = await setScene();
    await scene.sync();
    const before = readFileSync(scene.database);
    remove(scene, 2);
    const { code, stdout } = await scene.run('sync', '--dry-run');
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('− document-exports 2 ') });
    expect(readFileSync(scene.database).equals(before)).toBe(true);
    expect((await scene.sync()).of('document-exports')).toMatchObject({ removed: 2 });
  });
});

describe('runs', () => {
  test('--limit shows so many, the newest first, and --json as one array', async () => {
    await using scene = await setScene({}, { exports: 1 });
    for (const _ of [1, 2, 3]) await scene.sync('--resource', 'webhooks');
    const { stdout } = await scene.run('runs', '--limit', '2', '--json');
    expect(JSON.parse(stdout)).toMatchObject([{ runId: 3 }, { runId: 2 }]);
  });
});
