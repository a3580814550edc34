import { describe, expect, test } from 'vitest';
import { writeItems } from '../support/answers.ts';
import { endsOf, type LongList, setLongList, syncLong, takeRequests } from '../support/ended-early.ts';
import { syncScene } from '../support/in-process.ts';
import { expectExactMirror } from '../support/oracle.ts';
import { sqlite } from '../support/run-cli.ts';
import { collection, webhook } from '../support/stand-in.ts';

const pages = 30;
/** So short that each run pauses as soon as it has got further. */
const saveEveryMs = 1;

const paused = {
  status: 'partial',
  completeness: 'unproven',
  error: null,
  reason: 'the reading paused to write what it has read; the next run goes on from there',
};

/** How often a list was in a run. */
const runsOf = ({ database }: LongList, resource: string) =>
  sqlite(
    database,
    `SELECT status, run_id AS run FROM sync_run_resources WHERE resource = '${resource}' ORDER BY run_id`,
  );

describe('a reading that takes longer than DOCMIRROR_SAVE_EVERY', () => {
  test('is written in several runs, one after the other; the last one proves the list, and tells the end', async () => {
    await using scene = await setLongList(pages);
    const synced = await syncLong(scene, { saveEveryMs });
    const ends = endsOf(scene);
    const last = ends.pop();
    expect(ends.length).toBeGreaterThan(3);
    for (const end of ends) expect(end).toMatchObject(paused);
    expect(last).toMatchObject({ status: 'completed', completeness: 'proven', reason: null, rows: 600 });
    expect(synced).toMatchObject({ code: 0, status: 'completed', summary: { runId: ends.length + 1 } });
    const rows = ends.map(end => end.rows as number);
    expect(rows).toEqual([...new Set(rows)].sort((a, b) => a - b));
    expectExactMirror(scene.database, scene.service);
  });

  test('is proven since its first run', async () => {
    await using scene = await setLongList(pages);
    await syncLong(scene, { saveEveryMs });
    const ends = endsOf(scene);
    expect(Date.parse(String(ends.at(-1)?.since))).toBeLessThan(Date.parse(String(ends[1]?.started)));
  });

  test('has a run and a receipt for each part, and verify is content', async () => {
    await using scene = await setLongList(pages);
    await syncLong(scene, { saveEveryMs });
    const runs = sqlite(scene.database, 'SELECT id AS run, status FROM sync_runs');
    const receipts = sqlite(
      scene.database,
      "SELECT run_id AS run, receipt ->> 'status' AS status FROM sync_receipts WHERE receipt ->> 'kind' = 'run'",
    );
    expect(receipts).toEqual(runs);
    expect(runs.length).toBeGreaterThan(4);
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });

  test('takes hardly more requests than one run: the first page once more, and what was on its way', async () => {
    await using whole = await setLongList(pages);
    await syncLong(whole);
    const once = takeRequests(whole).length;
    await using scene = await setLongList(pages);
    await syncLong(scene, { saveEveryMs });
    // At each pause some requests are on their way, and their answers count if they have come.
    expect(takeRequests(scene).length).toBeLessThan(once + 5 * endsOf(scene).length);
  });

  test('is not the end for lists that failed, and those that are done are not read again', async () => {
    await using scene = await setLongList(pages);
    const { lists, options } = scene.service;
    lists.collections = [collection(1), collection(2)];
    lists.webhooks = [webhook(1)];
    // In the first run webhooks are missing.
    let begun = 0;
    options.faults = ({ resource, pageNo }) => {
      if (resource === scene.resource && pageNo === null) begun++;
      return resource === 'webhooks' && begun < 2 ? { kind: 'status', status: 404 } : undefined;
    };
    const synced = await syncScene(scene, { saveEveryMs });
    expect(synced).toMatchObject({ code: 0, status: 'completed' });
    const statuses = (resource: string) => runsOf(scene, resource).map(({ status }) => status);
    expect(statuses('collections')).toEqual(['completed']);
    expect(new Set(statuses('webhooks'))).toEqual(new Set(['failed', 'completed']));
    expect(statuses('webhooks').at(-1)).toBe('completed');
    expect(statuses('document-exports').length).toBeGreaterThan(4);
    expect(synced.of('document-exports')).toMatchObject({ completeness: 'proven' });
    expectExactMirror(scene.database, scene.service);
  });

  test('ends with the code of its last run, if the service breaks off', async () => {
    await using scene = await setLongList(pages);
    scene.service.options.faults = ({ resource, n }) =>
      resource === scene.resource && n > 20 ? { kind: 'status', status: 401 } : undefined;
    const synced = await syncLong(scene, { saveEveryMs, giveUpAfterMs: 400, retryDelayMs: 60 });
    expect(synced).toMatchObject({ code: 12, status: 'failed' });
    const ends = endsOf(scene);
    expect(ends.at(-1)).toMatchObject({ status: 'failed', error: 'unauthorized' });
    expect(ends[0]).toMatchObject(paused);
  });

  test('begins from the first page with --full, and then goes on', async () => {
    await using scene = await setLongList(pages);
    await syncLong(scene);
    takeRequests(scene);
    const synced = await scene.sync('--full', '--save-every', '1ms');
    expect(synced).toMatchObject({ code: 0 });
    const asked = takeRequests(scene);
    expect(asked.length).toBeGreaterThanOrEqual(pages);
    expect(asked.length).toBeLessThan(4 * pages);
    expectExactMirror(scene.database, scene.service);
  });

  test('is in order by ids, too', async () => {
    await using scene = await setLongList(pages, { order: 'by id' });
    expect(await syncLong(scene, { saveEveryMs })).toMatchObject({ code: 0 });
    expect(endsOf(scene).length).toBeGreaterThan(4);
    expectExactMirror(scene.database, scene.service);
  });

  test('ends, too, if each answer has another text', async () => {
    await using scene = await setLongList(pages);
    writeItems(scene.service, scene.resource, (item, _at, { n }) => ({
      ...item,
      sourceDocumentTitle: `answer ${n}`,
    }));
    const synced = await syncLong(scene, { saveEveryMs });
    expect(synced.of(scene.resource)).toMatchObject({ completeness: 'proven' });
    expect(endsOf(scene).at(-1)).toMatchObject({ rows: 600 });
    expect(endsOf(scene).length).toBeLessThan(pages);
  });
});

describe('a run does not pause', () => {
  test('if a list is read twice until both readings agree', async () => {
    await using scene = await setLongList(pages);
    scene.items.sort((a, b) => String(a.sourceDocumentTitle).localeCompare(String(b.sourceDocumentTitle)));
    expect(await syncLong(scene, { saveEveryMs })).toMatchObject({ code: 0 });
    expect(endsOf(scene)).toMatchObject([{ completeness: 'proven', walks: 2 }]);
    expectExactMirror(scene.database, scene.service);
  });

  test.each([
    ['with 0', ['--save-every', '0']],
    ['if it is dry', ['--save-every', '1ms', '--dry-run']],
  ])('%s', async (_when, args) => {
    await using scene = await setLongList(pages);
    const { code } = await scene.run('sync', '--resource', scene.resource, ...args);
    expect(code).toBe(0);
    const first = takeRequests(scene).filter(({ pageNo }) => pageNo === null);
    expect(first).toHaveLength(1);
  });

  test('if it is shorter than ten minutes and nothing was set', async () => {
    await using scene = await setLongList(pages);
    expect(await scene.sync()).toMatchObject({ code: 0, summary: { runId: 1 } });
  });

  test('if it is incremental', async () => {
    await using scene = await setLongList(pages);
    const fullEveryMs = 86_400_000;
    await syncLong(scene, { fullEveryMs });
    for (let n = 1; n <= 200; n++) scene.add(6_000 + n);
    await syncLong(scene, { fullEveryMs, saveEveryMs });
    expect(endsOf(scene)).toMatchObject([{ run: 1 }, { run: 2, completeness: 'incremental', inserted: 200 }]);
  });
});
