import { once } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { spawnCli, sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

const labels = { tenant: 'acme', env: 'prod' };
const text = 'tenant=acme, env=prod';

const linesOf = (stderr: string) =>
  stderr
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, unknown>);

describe('labels', () => {
  test('are part of the record of a run, of its log lines and of every JSON object', async () => {
    await using scene = await setScene();
    Object.assign(scene.env, { DOCMIRROR_LABELS: text, DOCMIRROR_LOG_LEVEL: 'debug' });
    const synced = await scene.sync();
    expect(synced.code).toBe(0);
    expect(synced.summary.labels).toEqual(labels);
    const lines = linesOf(synced.stderr);
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) expect(line).toMatchObject({ ...labels, runId: 1, msg: expect.any(String) });
    expect(new Set(lines.map(({ level }) => level))).toEqual(new Set(['debug', 'info']));
    const [row] = sqlite(scene.database, 'SELECT labels FROM sync_runs');
    expect(JSON.parse(String(row?.labels))).toEqual(labels);
    expect(JSON.parse((await scene.run('runs', '--json')).stdout)).toMatchObject([{ labels }]);
    const commands = [
      ['status'],
      ['verify'],
      ['doctor'],
      ['show', 'webhooks', '1'],
      ['share', 'share.sqlite'],
    ];
    for (const command of commands) {
      const { stdout, stderr } = await scene.run(...command, '--json');
      expect(JSON.parse(stdout), stderr).toMatchObject({ labels });
    }
    expect(await scene.run('verify')).toMatchObject({ code: 0 });
  });

  test('of the flag --labels are those of one run, and no labels are none', async () => {
    await using scene = await setScene();
    const { summary } = await scene.sync('--labels', 'tenant=other');
    expect(summary.labels).toEqual({ tenant: 'other' });
    const { summary: without, stderr } = await scene.sync('--log-level', 'info');
    expect(without).not.toHaveProperty('labels');
    expect(linesOf(stderr)[0]).toMatchObject({ level: 'info', runId: 2 });
    const rows = sqlite(scene.database, 'SELECT labels FROM sync_runs ORDER BY id');
    expect(rows).toEqual([{ labels: '{"tenant":"other"}' }, { labels: null }]);
  });

  test('are part of every metric and log line of a watch, which names the run of each line', async () => {
    await using scene = await setScene();
    const args = ['watch', '--run-now', '--schedule', '0 0 1 1 *', '--http', '127.0.0.1:0'];
    const env = { ...scene.env, DOCMIRROR_LABELS: text, DOCMIRROR_LOG_LEVEL: 'info' };
    await using cli = spawnCli(args, { env });
    const { stdout } = cli.child;
    if (stdout === null) throw new Error('The watch has no output.');
    const [said] = await once(stdout, 'data');
    const url = /http:\/\/\S+/.exec(String(said))?.[0];
    await vi.waitFor(async () => expect((await scene.run('runs')).stdout).toContain('completed'), 30_000);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const samples = metrics.split('\n').filter(line => line !== '' && !line.startsWith('#'));
    expect(samples.length).toBeGreaterThan(20);
    for (const sample of samples) expect(sample).toMatch(/tenant="acme"/);
    cli.child.kill('SIGTERM');
    const lines = linesOf((await cli.done).stderr);
    for (const line of lines) expect(line).toMatchObject(labels);
    const ofRun = lines.filter(({ runId }) => runId === 1).map(({ msg }) => msg);
    expect(ofRun).toEqual(['run started', ...Array(3).fill('list completed'), 'run completed']);
  });
});
