import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { holdRun } from '../support/held-run.ts';
import { sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';

const runsOf = ({ database }: Scene) =>
  sqlite(database, 'SELECT id, status, "trigger", error_code, completed_at FROM sync_runs ORDER BY id');

describe('a run', () => {
  test('that takes longer than --deadline ends as a signal would end it, with exit code 1', async () => {
    await using scene = await setScene({ latencyMs: 5_000 });
    const startedAt = performance.now();
    const synced = await scene.sync('--deadline', '700ms');
    expect(performance.now() - startedAt).toBeLessThan(4_500);
    expect(synced).toMatchObject({ code: 1, status: 'cancelled' });
    expect(synced.summary.error).toMatchObject({ code: 'deadline' });
    expect(runsOf(scene)).toMatchObject([{ status: 'cancelled', error_code: 'deadline' }]);
    const text = await scene.run('sync', '--deadline', '700ms');
    expect(text.stdout).toContain('it took longer than DOCMIRROR_DEADLINE allows');
    const { stdout } = await scene.run('status', '--format', 'prometheus');
    expect(stdout).toContain('docmirror_runs_total{status="deadline",trigger="manual"} 2');
    expect(stdout).toContain('docmirror_runs_total{status="cancelled",trigger="manual"} 0');
    scene.service.options.latencyMs = 0;
    expect(await scene.sync('--deadline', '50m')).toMatchObject({ code: 0 });
  });

  test('waits for the run before it as long as --wait says, and then exits with 11', async () => {
    await using scene = await setScene();
    expect(await scene.sync()).toMatchObject({ code: 0 });
    await using held = await holdRun(scene, 'webhooks');
    expect(await scene.run('sync')).toMatchObject({ code: 11 });
    const startedAt = performance.now();
    expect(await scene.run('sync', '--wait', '1s')).toMatchObject({ code: 11 });
    expect(performance.now() - startedAt).toBeGreaterThan(1_000);
    const waiting = scene.sync('--wait', '40s');
    await wait(500);
    await held.release();
    expect(await waiting).toMatchObject({ code: 0, status: 'completed' });
  });

  test('records as its trigger what --trigger says, and its receipt, too', async () => {
    await using scene = await setScene();
    await scene.sync();
    await scene.sync('--trigger', 'cron');
    expect(runsOf(scene)).toMatchObject([{ trigger: 'manual' }, { trigger: 'cron' }]);
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
    expect((await scene.run('audit', 'receipts', '--json')).stdout).toContain('"trigger":"cron"');
  });

  test('whose token is in a file that is gone is recorded with its code', async () => {
    await using scene = await setScene();
    scene.env.DOCMIRROR_TOKEN_FILE = '/nowhere/token';
    const { code, summary } = await scene.sync();
    expect({ code, summary }).toMatchObject({
      code: 1,
      summary: {
        status: 'failed',
        error: { code: 'token_unavailable', message: expect.stringContaining('DOCMIRROR_TOKEN_FILE') },
      },
    });
    expect(runsOf(scene)).toMatchObject([{ status: 'failed', error_code: 'token_unavailable' }]);
    expect((await scene.run('runs')).stdout).toContain('token_unavailable');
    expect(scene.service.requests).toEqual([]);
  });
});
