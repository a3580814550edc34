import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSigningKey } from '../../src/commands/checkpoint-file.ts';
import { readTokenFile, runTokenCommand } from '../../src/commands/token.ts';
import { expectExactMirror } from '../support/oracle.ts';
import { type Scene, setScene } from '../support/scene.ts';

/** A scene whose token comes from what a file says when it is asked. */
async function commandScene(
  options: Parameters<typeof setScene>[0] = {},
): Promise<{ scene: Scene; file: string }> {
  const scene = await setScene(options);
  const file = join(scene.folder, 'token');
  writeFileSync(file, `${scene.service.options.token}\n`);
  delete scene.env.DOCMIRROR_TOKEN;
  scene.env.DOCMIRROR_TOKEN_COMMAND = `cat '${file}'`;
  return { scene, file };
}

describe.concurrent('a token from a command', () => {
  test.each([
    ['fails', 'echo printed-word; exit 3', /the command failed \(exit code 3\)/],
    ['prints nothing', 'true', /printed nothing/],
    ['prints a page of text', 'yes printed-word', /MAXBUFFER/],
    ['prints what no header can carry', 'printf "printed-word \\\\033"', /no HTTP header can carry/],
  ])('that %s is one clear line without what it printed, exit code 2', async (_name, command, said) => {
    const { scene } = await commandScene();
    await using _scene = scene;
    scene.env.DOCMIRROR_TOKEN_COMMAND = `echo printed-word >&2; ${command}`;
    const { code, stdout, stderr } = await scene.run('sync');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^document-exports, collections, webhooks: DOCMIRROR_TOKEN_COMMAND: /m);
    expect(stdout).toMatch(said);
    expect(stdout + stderr).not.toContain('printed-word');
    expect(scene.service.requests).toEqual([]);
  });

  test('that hangs is ended', async () => {
    const { signal } = new AbortController();
    const order = { command: 'sleep 60', environment: { PATH: process.env.PATH } };
    await expect(runTokenCommand(order, signal, 300)).rejects.toThrow(
      'DOCMIRROR_TOKEN_COMMAND: the command failed (no end within 0.3 s).',
    );
  });
});

describe.concurrent('a token that expires during a run', () => {
  /** From the given request on, only the new token counts. */
  function expireAt(scene: Scene, n: number, renew: (token: string) => void): void {
    scene.service.onRequest = request => {
      if (request.n !== n) return;
      scene.service.options.token = `new-token-${n}`;
      renew(scene.service.options.token);
    };
  }

  test.each(['command', 'file'])(
    'is renewed once from its %s, and the run goes on where it was',
    async kind => {
      const { scene, file } = await commandScene({ maxPageSize: 5, latencyMs: 20 });
      await using _scene = scene;
      const log = join(scene.folder, 'log');
      scene.env.DOCMIRROR_TOKEN_COMMAND = `echo asked >> '${log}'; cat '${file}'`;
      if (kind === 'file') {
        delete scene.env.DOCMIRROR_TOKEN_COMMAND;
        scene.env.DOCMIRROR_TOKEN_FILE = file;
      }
      expireAt(scene, 12, token => writeFileSync(file, token));
      const synced = await scene.sync();
      expect(synced).toMatchObject({ code: 0, status: 'completed' });
      expectExactMirror(scene.database, scene.service);
      const refused = scene.service.requests.filter(
        ({ n, authorization }) => n >= 12 && authorization === 'Bearer secret-token',
      );
      expect(refused.length).toBeGreaterThan(0);
      expect(refused.length).toBeLessThanOrEqual(4);
      if (kind === 'command') expect(execFileSync('wc', ['-l', log]).toString()).toMatch(/^2 /);
    },
  );
});

describe('a token', () => {
  test('is refused: exit code 12 after one request a list, and nothing is lost', async () => {
    await using scene = await setScene();
    await scene.sync();
    scene.service.options.token = 'another-token';
    scene.service.requests.length = 0;
    const synced = await scene.sync();
    expect(synced).toMatchObject({ code: 12, status: 'failed' });
    expect(scene.service.requests).toHaveLength(3);
    expectExactMirror(scene.database, scene.service);
  });

  test('does not allow one list: the others are mirrored, and the exit code is 3', async () => {
    await using scene = await setScene({ status: { collections: 403 } });
    const synced = await scene.sync();
    expect(synced).toMatchObject({ code: 3, status: 'partial' });
    expect(synced.of('collections')).toMatchObject({
      status: 'failed',
      requests: 1,
      error: { code: 'forbidden' },
    });
    expectExactMirror(scene.database, scene.service, ['document-exports', 'webhooks']);
  });

  test('and the secrets of endpoints appear in no output and no table but their own', async () => {
    await using scene = await setScene({ status: { 'document-exports': 500 } });
    scene.env.DOCMIRROR_GIVE_UP_AFTER = '300ms';
    scene.env.DOCMIRROR_LOG_LEVEL = 'trace';
    const outputs = [await scene.run('sync'), await scene.run('status'), await scene.run('runs', '--json')];
    const said = outputs.map(({ stdout, stderr }) => stdout + stderr).join('');
    expect(said).not.toContain('secret-token');
    expect(said).not.toContain('endpoint-secret');
    expect(readFileSync(scene.database).includes('secret-token')).toBe(false);
    expect(existsSync(`${scene.database}.lock`)).toBe(true);
    expect(readFileSync(`${scene.database}.lock`).includes('secret')).toBe(false);
  });
});

describe.concurrent('a refused token', () => {
  const wrong = 'a-wrong-token';

  /** A scene that gives a wrong token: by flags, by a file of settings and by variables. */
  async function refusedScene(variables: Record<string, string>, lines: readonly string[] = []) {
    const scene = await setScene({}, { exports: 1 });
    delete scene.env.DOCMIRROR_TOKEN;
    Object.assign(scene.env, variables);
    writeFileSync(join(scene.folder, 'token'), wrong);
    writeFileSync(join(scene.folder, 'globex.env'), lines.map(line => `${line}\n`).join(''));
    return scene;
  }

  test.each([
    ['DOCMIRROR_TOKEN in the environment', { DOCMIRROR_TOKEN: wrong }, [], []],
    ['DOCMIRROR_TOKEN_COMMAND in the environment', { DOCMIRROR_TOKEN_COMMAND: 'cat token' }, [], []],
    ['DOCMIRROR_TOKEN in globex.env', { DOCMIRROR_TOKEN_FILE: 'other' }, [`DOCMIRROR_TOKEN=${wrong}`], []],
    ['DOCMIRROR_TOKEN_FILE in globex.env', { DOCMIRROR_TOKEN: 'other' }, ['DOCMIRROR_TOKEN_FILE=token'], []],
    ['DOCMIRROR_TOKEN in the environment', { DOCMIRROR_TOKEN: wrong }, ['DOCMIRROR_TOKEN_FILE='], []],
    ['the flag --token', { DOCMIRROR_TOKEN: 'other' }, ['DOCMIRROR_TOKEN=other'], ['--token', wrong]],
  ])('is said to come from %s', async (from, variables, lines, flags) => {
    await using scene = await refusedScene(variables, lines);
    const { code, stdout } = await scene.run('sync', '--env-file', 'globex.env', ...flags);
    expect(code).toBe(12);
    const said = `answered 401: the token was refused; the token came from ${from}`;
    expect(stdout.replace(/\s+/g, ' ')).toContain(said);
    const { stdout: json } = await scene.run('doctor', '--json', '--env-file', 'globex.env', ...flags);
    expect(json).toContain(said);
    expect(json).toContain(`there is one, from ${from}`);
    expect(stdout + json).not.toContain(wrong);
    expect(scene.service.requests.filter(({ authorization }) => authorization !== `Bearer ${wrong}`)).toEqual(
      [],
    );
  });
});

test.each([
  ['a token', (secret: string) => readTokenFile('DOCMIRROR_TOKEN_FILE', secret), 'eyJhbGciOi.J9-S3CRET_'],
  ['a key', readSigningKey, '-----BEGIN PRIVATE KEY-----\nS3CRET/abc\n-----END PRIVATE KEY-----\n'],
])('%s in the place of the name of its file is not shown', (_what, read, secret) => {
  expect(() => read(secret)).toThrow(
    /_FILE: what it names \(not shown, (?!.*S3CRET).*\) can't be read \(ENOENT\)\.$/,
  );
});
