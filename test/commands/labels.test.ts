import { describe, expect, test } from 'vitest';
import { sqlite } from '../support/run-cli.ts';
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
    for (const line of lines) expect(line).toMatchObject({ ...labels, msg: expect.any(String) });
    // The first one is about the file that the run is in.
    for (const line of lines.slice(1)) expect(line).toMatchObject({ runId: 1 });
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
});
