import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { runCli, spawnCli, sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';

describe('a watch that could never run ends at once', () => {
  const cases: [what: string, said: RegExp, prepare: (scene: Scene) => unknown][] = [
    [
      'a folder for its mirror',
      /^DOCMIRROR_DATABASE: .* is not a regular file/,
      ({ env, folder }) => Object.assign(env, { DOCMIRROR_DATABASE: folder }),
    ],
    [
      'no token file',
      /^DOCMIRROR_TOKEN_FILE: .* can't be read \(ENOENT\)/,
      ({ env, folder }) => Object.assign(env, { DOCMIRROR_TOKEN_FILE: join(folder, 'token') }),
    ],
    [
      'the mirror of another service',
      /is the mirror of http:\/\/127/,
      async scene => {
        await scene.sync();
        scene.env.DOCMIRROR_BASE_URL = 'http://127.0.0.1:9';
      },
    ],
  ];

  test.each(cases)('with %s, in one line and with 2', async (_what, said, prepare) => {
    await using scene = await setScene();
    await prepare(scene);
    const requests = scene.service.requests.length;
    for (const flags of [[], ['--run-now']]) {
      const args = ['watch', '--schedule', '0 0 1 1 *', ...flags];
      const { code, stdout, stderr } = await runCli(args, { env: scene.env, timeoutMs: 15_000 });
      expect({ code, stdout }, stderr).toEqual({ code: 2, stdout: '' });
      const lines = stderr.trimEnd().split('\n');
      expect(lines.filter(line => line.startsWith('docmirror: '))).toHaveLength(1);
      expect(lines.at(-1)?.replace('docmirror: ', '')).toMatch(said);
    }
    expect(scene.service.requests).toHaveLength(requests);
  });
});

test('a watch whose clock was an hour ahead for a while runs once too often, and then on time', async () => {
  await using scene = await setScene();
  const [ahead, clock] = [join(scene.folder, 'ahead'), join(scene.folder, 'clock.mjs')];
  writeFileSync(ahead, '0');
  writeFileSync(
    clock,
    `import { readFileSync } from 'node:fs';
    const Real = Date;
    const now = () => Real.now() + Number(readFileSync(${JSON.stringify(ahead)}));
    globalThis.Date = class extends Real {
      constructor(...given) { super(...(given.length === 0 ? [now()] : given)); }
      static now() { return now(); }
    };`,
  );
  const env = { ...scene.env, NODE_OPTIONS: `--import=${clock}` };
  await using running = spawnCli(['watch', '--schedule', '30 * * * *'], { env });
  const nextMs = () => {
    const note = JSON.parse(readFileSync(`${scene.database}.watch`, 'utf8'));
    return Date.parse(note.nextRunAt) - Date.now();
  };
  const within = { timeout: 15_000, interval: 100 };
  await vi.waitFor(() => expect(nextMs()).toBeLessThanOrEqual(3_600_000), within);
  writeFileSync(ahead, '3600000');
  await vi.waitFor(() => {
    expect(nextMs()).toBeGreaterThan(3_600_000);
    expect(sqlite(scene.database, 'SELECT status FROM sync_runs')).toEqual([{ status: 'completed' }]);
  }, within);
  writeFileSync(ahead, '0');
  await vi.waitFor(() => expect(nextMs()).toBeLessThanOrEqual(3_600_000), within);
  running.child.kill('SIGTERM');
  expect(await running.done).toMatchObject({ code: 143 });
  expect(sqlite(scene.database, 'SELECT status FROM sync_runs')).toHaveLength(1);
});
