import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkpointText } from '../../../src/audit/checkpoint.ts';
import { leafHash } from '../../../src/audit/hashes.ts';
import { receiptText } from '../../../src/audit/receipt.ts';
import { checkpointOf } from '../../../src/store/read/runs/receipts.ts';
import { verifyMirror } from '../../../src/store/verify/verify.ts';
import { syncScene } from '../../support/in-process.ts';
import { sqlite } from '../../support/run-cli.ts';
import { type Scene, startingFrom } from '../../support/scene.ts';
import { fullMirror, wornMirror } from './full-mirror.ts';
import { tamper } from './tamper.ts';

const signal = new AbortController().signal;
const differencesIn = async (path: string) => (await verifyMirror(path, { limit: 20, signal })).differences;
const versionsOf = (path: string) => sqlite(path, 'SELECT count(*) AS n FROM record_history')[0]?.n;

describe('a history that is kept for a time', () => {
  let full: Scene;
  let copyOfFull: () => Scene;
  beforeAll(async () => {
    full = await fullMirror();
    copyOfFull = startingFrom(full);
  });
  afterAll(() => full[Symbol.asyncDispose]());

  test('ends at its cut: the audit, older checkpoints and newer runs are still sound', async () => {
    await using scene = copyOfFull();
    const checkpoint = join(scene.folder, 'checkpoint');
    writeFileSync(checkpoint, checkpointText(checkpointOf(scene.database)));
    expect(versionsOf(scene.database)).toBeGreaterThan(4);
    // The run that prunes is younger than all others, so nothing that had ended is kept.
    const pruned = await syncScene(scene, { keepHistoryMs: 0 });
    expect(pruned.status).toBe('partial');
    expect(versionsOf(scene.database)).toBe(0);
    expect(await differencesIn(scene.database)).toEqual([]);
    const runId = pruned.summary.runId ?? 0;
    const receipts = sqlite(
      scene.database,
      'SELECT receipt FROM sync_receipts ORDER BY leaf_index DESC LIMIT 2',
    );
    expect(receipts.map(({ receipt }) => JSON.parse(String(receipt)).kind)).toEqual(['run', 'prune']);

    const verified = await scene.run('verify', '--checkpoint', checkpoint);
    expect(verified.stdout).toMatch(/Versions that ended before .* were deleted/);
    expect(verified.code).toBe(0);
    const asOf = await scene.run('export', '--out', join(scene.folder, 'then'), '--as-of-run', '2');
    expect(asOf).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('further back than the history goes'),
    });
    const newest = await scene.run('export', '--out', join(scene.folder, 'now'), '--as-of-run', `${runId}`);
    expect(newest.code).toBe(0);

    (scene.service.lists.collections[0] as Record<string, unknown>).name = 'After';
    scene.service.lists['document-exports'].splice(1, 1);
    await syncScene(scene, {});
    expect(versionsOf(scene.database)).toBe(2);
    expect(await differencesIn(scene.database)).toEqual([]);
    // A version is as old as it was when the last run began.
    expect((await syncScene(scene, { keepHistoryMs: 0 })).summary.versionsPruned).toBe(0);
    expect((await syncScene(scene, { keepHistoryMs: 0 })).summary.versionsPruned).toBe(2);
    expect(versionsOf(scene.database)).toBe(0);
    expect(await differencesIn(scene.database)).toEqual([]);
  });

  test.each(['1976-01-01', '2130-01-01'])('loses nothing to a run whose clock says %s', async clock => {
    await using scene = copyOfFull();
    const before = versionsOf(scene.database);
    const keepHistoryMs = 400 * 86_400_000;
    await syncScene(scene, { now: new Date(clock), keepHistoryMs });
    await syncScene(scene, { keepHistoryMs });
    expect(versionsOf(scene.database)).toBe(before);
    for (const _ of [1, 2]) await syncScene(scene, { keepHistoryMs: 0 });
    expect((await differencesIn(scene.database)).filter(({ table }) => table !== 'sync_runs')).toEqual([]);
  });

  test('is not whole, and a request for older changes says so', async () => {
    await using scene = copyOfFull();
    const whole = await scene.run('changes', '--since-run', '0');
    expect(whole).toMatchObject({ code: 0, stderr: '' });
    await syncScene(scene, { keepHistoryMs: 0 });
    const { code, stderr } = await scene.run('changes', '--since-run', '0');
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(/^Versions that ended before/),
    });
    expect(await scene.run('changes', '--since', '2026-02-30')).toMatchObject({ code: 2 });
  });

  test('is not cut off while it is not what the receipts say, until the mirror is rebuilt', async () => {
    const sql = 'UPDATE connections SET _first_seen_run_id = 2, _changed_run_id = 2 WHERE id = 2';
    await using scene = copyOfFull();
    expect(tamper(scene.database, sql)).toBe(true);
    const [before, versions] = [await differencesIn(scene.database), versionsOf(scene.database)];
    await expect(syncScene(scene, { keepHistoryMs: 0 })).rejects.toMatchObject({ code: 'mirror_altered' });
    expect(versionsOf(scene.database)).toBe(versions);
    for (const differences of [before, await differencesIn(scene.database)])
      expect(differences).not.toEqual([]);

    await syncScene(scene, { keepHistoryMs: 0, mayRebuild: true });
    await syncScene(scene, { keepHistoryMs: 0 });
    expect(versionsOf(scene.database)).toBe(0);
    expect(await differencesIn(scene.database)).toEqual([]);
  });

  describe('whose older versions were deleted', () => {
    let pruned: Scene;
    let copyOfPruned: () => Scene;
    beforeAll(async () => {
      pruned = copyOfFull();
      await syncScene(pruned, { keepHistoryMs: 0 });
      // What was left can go into the history, and still is what the pruning left.
      (pruned.service.lists.collections[1] as Record<string, unknown>).name = 'After';
      await syncScene(pruned);
      copyOfPruned = startingFrom(pruned);
    });
    afterAll(() => pruned[Symbol.asyncDispose]());

    const ofRun = (runId: number) =>
      `WHERE id = (SELECT min(id) FROM document_exports WHERE _changed_run_id = ${runId})`;

    test.each([
      [
        'a row was moved to another run',
        `UPDATE document_exports SET _changed_run_id = 1, _first_seen_run_id = 1 ${ofRun(2)}`,
      ],
      [
        'a row was first seen by another run',
        `UPDATE document_exports SET _first_seen_run_id = 2 ${ofRun(2)}`,
      ],
      [
        'rows were removed, and the same forged again under other ids',
        'UPDATE document_exports SET id = id + 1000 WHERE _changed_run_id = 1',
      ],
      ['a connection was moved to another run', 'UPDATE connections SET _changed_run_id = 2 WHERE id = 1'],
    ])('shows that %s, and keeps it', async (_what, sql) => {
      await using scene = copyOfPruned();
      expect(await differencesIn(scene.database)).toEqual([]);
      expect(tamper(scene.database, sql)).toBe(true);
      const found = await differencesIn(scene.database);
      expect(found.map(({ what }) => what).join()).toContain('the receipt of the newest pruning says');
      // A later pruning does not take it over.
      (scene.service.lists.collections[1] as Record<string, unknown>).name = 'At last';
      await syncScene(scene);
      const again = syncScene(scene, { keepHistoryMs: 0 }).then(() => syncScene(scene, { keepHistoryMs: 0 }));
      await expect(again).rejects.toMatchObject({ code: 'mirror_altered' });
    });

    test('is weaker if an older docmirror deleted them, and verify says so', async () => {
      await using scene = copyOfPruned();
      const { leaf_index: leaf, receipt } = sqlite(
        scene.database,
        "SELECT * FROM sync_receipts WHERE receipt ->> 'kind' = 'prune'",
      )[0] as { leaf_index: number; receipt: string };
      const { kept, throughRunId, ...of04 } = JSON.parse(receipt);
      expect(kept).toHaveLength(4);
      expect(throughRunId).toBeGreaterThan(2);
      const sound = await scene.run('verify');
      expect(sound).toMatchObject({ code: 0, stdout: expect.not.stringContaining('weaker') });
      const sum = '0'.repeat(32);
      const of03 = {
        ...of04,
        kept: kept.map(({ hash: _, ...one }: object & { hash: string }) => ({ ...one, sum })),
      };
      for (const [older, prunedKept] of [
        [of04, 'nothing'],
        [of03, 'sum'],
      ]) {
        const text = receiptText(older);
        tamper(
          scene.database,
          `UPDATE sync_receipts SET receipt = '${text}', leaf_hash = '${leafHash(text).toString('hex')}' WHERE leaf_index = ${leaf}`,
        );
        expect(await scene.run('verify')).toMatchObject({
          code: 0,
          stdout: expect.stringContaining('weaker'),
        });
        const { stdout } = await scene.run('verify', '--json');
        expect(JSON.parse(stdout)).toMatchObject({ ok: true, prunedKept });
        // The next pruning is not weaker.
        await using later = startingFrom(scene)();
        (later.service.lists.collections[1] as Record<string, unknown>).name = 'Later';
        await syncScene(later);
        for (const _ of [1, 2]) await syncScene(later, { keepHistoryMs: 0 });
        expect(await later.run('verify')).toMatchObject({
          code: 0,
          stdout: expect.not.stringContaining('weaker'),
        });
      }
    });
  });

  test('is cut off also after texts were erased, and goes on after a rebuild', async () => {
    const found: Record<string, unknown> = {};
    await using _scene = await wornMirror(async (path, step) => {
      found[step] = await differencesIn(path);
    });
    expect(Object.entries(found).filter(([, differences]) => String(differences) !== '')).toEqual([]);
    expect(Object.keys(found)).toHaveLength(7);
  });

  test('gives the pages that it frees back to the disk', async () => {
    await using scene = copyOfFull();
    for (const item of scene.service.lists['document-exports']) {
      if (typeof item !== 'string') item.sourceDocumentTitle = 'x'.repeat(4000);
    }
    await syncScene(scene);
    scene.service.lists['document-exports'].length = 1;
    await syncScene(scene, { allowMassRemoval: true });
    await syncScene(scene);
    const pages = () => Number(sqlite(scene.database, 'PRAGMA page_count')[0]?.page_count);
    const before = pages();
    await syncScene(scene, { keepHistoryMs: 0 });
    expect(pages()).toBeLessThan(before - 20);
    expect(sqlite(scene.database, 'PRAGMA freelist_count')[0]?.freelist_count).toBe(0);
    expect(await differencesIn(scene.database)).toEqual([]);
  });
});
