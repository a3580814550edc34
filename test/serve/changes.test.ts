import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isAfter } from '../../src/store/read/history/changes.ts';
import { sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { type Served, serveScene } from '../support/served.ts';
import { collection, documentExport, type SampleItem } from '../support/stand-in.ts';

interface Page {
  readonly items: readonly {
    runId: number;
    resource: string;
    recordId: number;
    operation: 'insert' | 'update' | 'removal';
  }[];
  readonly cursor: string;
  readonly isComplete: boolean;
}

async function pageOf(served: Served, query: string): Promise<Page> {
  const answer = await served.get(`/v2/changes?${query}`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Page;
}

/** Reads to the end, and does something between the pages. */
async function readAll(
  served: Served,
  start: string,
  limit: number,
  between: (pages: number) => Promise<void> = async () => undefined,
) {
  const items: Page['items'][number][] = [];
  for (let page = await pageOf(served, `${start}&limit=${limit}`), pages = 1; ; pages++) {
    items.push(...page.items);
    if (page.isComplete) return { items, cursor: page.cursor };
    await between(pages);
    page = await pageOf(served, `cursor=${page.cursor}&limit=${limit}`);
  }
}

const sizes = { exports: 7, collections: 4, webhooks: 2 };

function removeAndChange({ service }: Scene, n: number): void {
  const { lists } = service;
  lists['document-exports'].unshift(documentExport(100 + n));
  lists.collections.push(collection(100 + n));
  (lists.collections[0] as SampleItem).name = `name ${n}`;
  lists.webhooks.splice(0, n === 1 ? 1 : 0);
}

describe('GET /v2/changes', () => {
  test('delivers each change once, page by page, though runs go on', async () => {
    const limit = 1;
    await using scene = await setScene({}, sizes);
    await scene.sync();
    await using served = await serveScene(scene);
    const { items, cursor } = await readAll(served, 'sinceRun=0', limit, async pages => {
      if (pages > 3) return;
      removeAndChange(scene, pages);
      expect((await scene.sync()).code).toBe(0);
    });
    removeAndChange(scene, 9);
    await scene.sync();
    items.push(...(await readAll(served, `cursor=${cursor}`, limit)).items);
    const told = items.map(({ runId, resource, recordId, operation }) =>
      [runId, resource, recordId, operation].join(' '),
    );
    const all = sqlite(scene.database, 'SELECT run_id, resource, record_id, operation FROM changes');
    expect(new Set(told).size).toBe(told.length);
    expect(told.toSorted()).toEqual(all.map(row => Object.values(row).join(' ')).sort());
    for (const [at, item] of items.entries()) {
      const before = items[at - 1];
      if (before !== undefined) expect(isAfter(item, before)).toBe(true);
    }
  });

  test('begins at the run that is asked for, and says what it can not serve', async () => {
    await using scene = await setScene({}, sizes);
    await scene.sync();
    removeAndChange(scene, 1);
    await scene.sync();
    await using served = await serveScene(scene);
    const { items } = await pageOf(served, 'sinceRun=1');
    expect(new Set(items.map(({ runId }) => runId))).toEqual(new Set([2]));
    const cli = await scene.run('changes', '--since-run', '1', '--format', 'ndjson');
    expect(items.map(item => JSON.stringify(item)).sort()).toEqual(cli.stdout.trimEnd().split('\n').sort());
    for (const query of [
      'limit=0',
      'limit=1001',
      'limit=1&limit=2',
      'cursor=x',
      'cursor=',
      'sinceRun=7',
      'resource=x',
    ])
      expect([query, (await served.get(`/v2/changes?${query}`)).status]).toEqual([query, 400]);
    expect((await fetch(`${served.url}/v2/changes`)).status).toBe(401);
    const tagged = await served.get('/v2/changes');
    const again = await served.get('/v2/changes', { 'if-none-match': tagged.headers.get('etag') ?? '' });
    expect(again.status).toBe(304);
  });

  test('says 410 and where to go on if the mirror was restored from a backup', async () => {
    await using scene = await setScene({}, sizes);
    await scene.sync();
    const backup = join(scene.folder, 'backup.sqlite');
    await scene.run('backup', backup);
    removeAndChange(scene, 1);
    await scene.sync();
    await using served = await serveScene(scene);
    const { cursor } = await pageOf(served, 'sinceRun=0&limit=1000');
    expect((await served.get(`/v2/changes?cursor=${cursor}&sinceRun=1`)).status).toBe(400);
    expect((await scene.run('backup', '--restore', backup)).code).toBe(0);
    const lost = await served.get(`/v2/changes?cursor=${cursor}`);
    expect(lost.status).toBe(410);
    expect(await lost.json()).toEqual({
      error: { code: 'cursor_lost', message: expect.stringContaining('sinceRun=1') },
    });
  });

  test.each(['', '&order=asc', '&sort=runId', '&resource=collections', '&order=desc'])(
    'says 410 also in the midst of a run, and with%s, if another run has its number since',
    async parameters => {
      await using scene = await setScene({}, { exports: 3, collections: 4, webhooks: 1 });
      const { collections } = scene.service.lists;
      const rename = (names: readonly string[]) => {
        for (const [at, name] of names.entries()) (collections[at] as SampleItem).name = name;
        return scene.sync('--full');
      };
      await scene.sync();
      const backup = join(scene.folder, 'backup.sqlite');
      await scene.run('backup', backup);
      await rename(['A', 'B', 'C']);
      await using served = await serveScene(scene);
      const pages = [1, 2, 1000].map(limit => pageOf(served, `sinceRun=1&limit=${limit}${parameters}`));
      const cursors = (await Promise.all(pages)).map(({ cursor }) => cursor);
      await scene.run('backup', '--restore', backup);
      const statuses = async () => {
        const answers = cursors.map(cursor => served.get(`/v2/changes?cursor=${cursor}${parameters}`));
        return (await Promise.all(answers)).map(({ status }) => status);
      };
      expect(await statuses()).toEqual([410, 410, 410]);
      await rename(['A2', 'B2', 'C2']);
      expect(await statuses()).toEqual([410, 410, 410]);
      const { items } = await pageOf(served, `sinceRun=1${parameters}`);
      expect(items).toHaveLength(3);
    },
  );

  test('goes on with the cursors of 0.4.0, for which sort and order were filters', async () => {
    await using scene = await setScene({}, sizes);
    await scene.sync();
    await using served = await serveScene(scene);
    const { cursor } = await pageOf(served, 'limit=2');
    const { after, ...rest } = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const { leafHash: _, ...key } = after;
    const ofOld = (isDescending: boolean) => {
      const none = { source: null, destination: null, kind: null, q: '', from: null, to: null };
      const filter = { ...none, resource: null, operation: null, run: null };
      const text = `${JSON.stringify([filter, isDescending])}${JSON.stringify({ ...rest, after: key })}\n`;
      return Buffer.from(text).toString('base64url');
    };
    const first = (await pageOf(served, 'limit=1')).items;
    for (const parameters of ['', '&order=asc', '&sort=runId'])
      expect((await pageOf(served, `limit=1&cursor=${ofOld(false)}${parameters}`)).items).toEqual(first);
    const last = await pageOf(served, 'limit=1&order=desc');
    expect((await pageOf(served, `limit=1&cursor=${ofOld(true)}&order=desc`)).items).toEqual(last.items);
    expect((await pageOf(served, `cursor=${last.cursor}&order=desc`)).items[0]).not.toEqual(last.items[0]);
    for (const parameters of [
      `cursor=${ofOld(true)}`,
      `cursor=${last.cursor}`,
      `cursor=${cursor}&order=desc`,
    ])
      expect((await served.get(`/v2/changes?${parameters}`)).status).toBe(400);
  });
});
