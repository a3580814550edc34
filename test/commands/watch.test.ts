import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCli } from '../support/run-cli.ts';
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
