import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import advice from '../../src/advice.json' with { type: 'json' };
import { flagsOf } from '../../src/commands/command.ts';
import { loadCommands } from '../../src/commands/index.ts';
import { exitCodes } from '../../src/errors.ts';
import { runCli, temporaryFolder } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.asyncDispose]());

const codes: string[] = Object.keys(advice);

const withJson = (await loadCommands()).filter(({ command }) => flagsOf(command).has('--json'));
const words: Readonly<Record<string, string[]>> = {
  show: ['webhooks', '1'],
  erase: ['webhooks', '1'],
  share: [join(folder.path, 'share.sqlite')],
};

describe('an error', () => {
  test.each(withJson.map(({ name }) => name).filter(name => name !== 'doctor'))(
    'of %s --json is one JSON object on standard output, also before it begins',
    async name => {
      const args = [...name.split(' '), ...(words[name] ?? []), '--json'];
      const { code, stdout, stderr } = await runCli(args, { cwd: folder.path });
      expect(code).toBeGreaterThan(0);
      const { error } = JSON.parse(stdout);
      expect(Object.keys(error)).toEqual(['code', 'message']);
      expect(codes).toContain(error.code);
      expect(stderr).toBe(`docmirror: ${error.message} [${error.code}]\n`);
    },
  );

  test('of the command line is one, too', async () => {
    const { code, stdout, stderr } = await runCli(['status', '--json', '--no-such-flag=secret']);
    expect([code, JSON.parse(stdout)]).toEqual([
      2,
      { error: { code: 'settings', message: expect.stringContaining("unknown option '--no-such-flag=…'") } },
    ]);
    expect(stderr).toMatch(/^docmirror: unknown option .* \[settings\]\n$/);
  });

  test('prints nothing on standard output without --json', async () => {
    const { stdout, stderr } = await runCli(['runs', '--', '--json'], { cwd: folder.path });
    expect(stdout).toBe('');
    expect(stderr).toMatch(/ \[settings\]\n$/);
  });

  test('of a list ends with its code, too', async () => {
    await using scene = await setScene({ status: { webhooks: 403 } }, { exports: 1, collections: 1 });
    expect((await scene.run('sync')).stdout.replaceAll(/\n +/g, ' ')).toMatch(
      /^webhooks: GET .* \[forbidden\]$/m,
    );
  });

  test('that doctor meets ends with its code, too', async () => {
    const { code, stdout } = await runCli(['doctor'], { cwd: folder.path });
    expect(code).toBe(2);
    expect(stdout.replaceAll(/\n +(?! *→)/g, ' ')).toMatch(/^FAIL +settings .* \[settings\]$/m);
  });

  test('of a file of settings contains no secret', async () => {
    const file = join(folder.path, 'settings.env');
    mkdirSync(folder.path, { recursive: true });
    writeFileSync(file, 'DOCMIRROR_TOKEN=hunter2\nDOCMIRROR_BASE_URL=https://x:hunter2@example.com\n', {
      mode: 0o600,
    });
    const { stdout, stderr } = await runCli(['sync', '--json', '--env-file', file], { cwd: folder.path });
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'settings' } });
    expect(stdout + stderr).not.toContain('hunter2');
  });
});

test('help explains each code', async () => {
  expect(codes.length).toBeGreaterThan(20);
  for (const code of codes) expect((await runCli(['help', code])).stdout).toMatch(/^[A-Z].*\.?\n/s);
  expect((await runCli(['help', 'mirror_busy'])).stdout).toContain('Wait until it is done');
  for (const code of Object.values(exitCodes))
    expect((await runCli(['help', String(code)])).stdout).toMatch(
      new RegExp(`^Exit code ${code}: \\w.*\\.\\n$`),
    );
});
