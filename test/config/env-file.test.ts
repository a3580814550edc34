import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { withEnvFile } from '../../src/config/env-file.ts';
import { resolveService } from '../../src/config/resolve.ts';
import { programPath } from '../support/program.ts';
import { runCli, sqlite, temporaryFolder } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

describe('--env-file', () => {
  test('brings settings, below the flags and above the environment', async () => {
    await using scene = await setScene();
    const file = join(scene.folder, 'one.env');
    const lines = [
      '# a tenant',
      `DOCMIRROR_BASE_URL="${scene.service.url}" # where it is`,
      `export DOCMIRROR_TOKEN='${scene.service.options.token}'`,
      'DOCMIRROR_PAGE_SIZE=10',
      ' DOCMIRROR_ACTOR="a # b" # one # two',
      'DOCMIRROR_DATABASE=',
    ];
    writeFileSync(file, `\uFEFF${lines.join('\r\n')}\r\n`);
    const env = { DOCMIRROR_DATABASE: scene.database, DOCMIRROR_PAGE_SIZE: '20', DOCMIRROR_TOKEN: '' };
    const sync = async (...args: string[]) => {
      const { code, stdout, stderr } = await runCli(['sync', '--json', '--env-file', file, ...args], { env });
      expect(code, stderr).toBe(0);
      return JSON.parse(stdout).resources[0].pageSize;
    };
    expect(await sync()).toBe(10);
    expect(sqlite(scene.database, 'SELECT _actor FROM sync_runs')).toEqual([{ _actor: 'a # b' }]);
    expect(await sync('--page-size', '30')).toBe(30);
    expect(await runCli(['status', '--env-file', file], { env })).toMatchObject({ code: 0 });
  });

  test('has paths that go by its own folder, and nothing else is taken for one', async () => {
    await using scene = await setScene({}, { exports: 1 });
    const folder = join(scene.folder, 'tenant');
    mkdirSync(folder);
    const file = join(folder, 'one.env');
    const { DOCMIRROR_TOKEN: token, DOCMIRROR_DATABASE: _database, ...env } = scene.env;
    writeFileSync(join(folder, 'token'), `${token}\n`);
    writeFileSync(
      file,
      'DOCMIRROR_TOKEN_FILE=token\nDOCMIRROR_DATABASE=one.sqlite\nDOCMIRROR_METRICS_FILE=./one.prom\n',
    );
    const { code, stderr } = await runCli(['sync', '--env-file', file], { env });
    expect(code, stderr).toBe(0);
    expect(readdirSync(folder).sort()).toEqual([
      'one.env',
      'one.prom',
      'one.sqlite',
      'one.sqlite.lock',
      'token',
    ]);
    const refused = async (line: string) => {
      writeFileSync(file, line);
      return (await runCli(['sync', '--env-file', file], { env, cwd: folder })).stderr;
    };
    expect(await refused('DOCMIRROR_TOKEN_FILE=abcdef0123456789')).not.toMatch(/abcdef|tenant/);
    expect(await refused(`DOCMIRROR_TOKEN=${token}\nDOCMIRROR_DATABASE=:memory:`)).toContain('":memory:"');
  });

  test.each(['"', "'", '`'])('is refused if a %s is not closed on its line', async quote => {
    await using scene = await setScene();
    const file = join(scene.folder, 'b.env');
    // The database is another tenant's if the second line is a part of the first one.
    const open = `DOCMIRROR_TOKEN_COMMAND=${quote}echo tok`;
    for (const first of [
      open,
      `export ${open.replace('=', ' = ')}`,
      `${open}${quote}en${quote}`,
      `DOCMIRROR_TOKEN_COMMAND=echo tok${quote}`,
      `${open}\r`,
    ]) {
      writeFileSync(
        file,
        `${first}\nDOCMIRROR_DATABASE=tenant-b.sqlite\nDOCMIRROR_LABELS=${quote}t=b${quote}\n`,
      );
      const { code, stderr } = await scene.run('status', '--env-file', file);
      expect({ first, code, stderr }).toEqual({
        first,
        code: 2,
        stderr: expect.stringMatching(/^docmirror: --env-file: line 1 of \S+ has a quote that is not closed/),
      });
      expect(stderr).not.toContain('echo tok');
    }
    writeFileSync(
      file,
      `DOCMIRROR_LABELS=${quote}t=b${quote} # it${quote}s b\r\nDOCMIRROR_DATABASE=it${quote}s.sqlite`,
    );
    expect((await scene.run('status', '--env-file', file)).stderr).toContain(`it${quote}s.sqlite yet`);
  });

  const forms = {
    DOCMIRROR_TOKEN: 'token-text',
    DOCMIRROR_TOKEN_FILE: '/token-file',
    DOCMIRROR_TOKEN_COMMAND: 'echo token',
  } as const;
  const names = Object.keys(forms) as (keyof typeof forms)[];
  const pairs = names.flatMap(inFile => names.map(outside => [inFile, outside] as const));
  test.each(pairs)('with %s counts as a whole against %s of the environment', async (inFile, outside) => {
    await using folder = temporaryFolder();
    const file = join(folder.path, 'one.env');
    writeFileSync(file, `${inFile}=${forms[inFile]}\n`);
    const others = { [outside]: `another ${forms[outside]}`, DOCMIRROR_BASE_URL: 'https://service.example' };
    const { environment, inEnvFile } = withEnvFile(file, others);
    const { token } = resolveService({ envFile: file }, environment, inEnvFile);
    expect(token.from).toBe(`${inFile} in ${file}`);
    expect(Object.values(token)).toContain(forms[inFile]);
    // A command of the file is not given the environment's token either.
    if (inFile !== outside) expect(environment[outside]).toBeUndefined();
  });

  test('names the proxy, in lower or upper case', async () => {
    await using scene = await setScene({}, { exports: 1 });
    const file = join(scene.folder, 'one.env');
    writeFileSync(file, 'HTTP_PROXY=http://127.0.0.1:9\n');
    scene.env.http_proxy = 'http://127.0.0.1:10';
    const { stdout } = await scene.run('doctor', '--give-up-after', '0', '--env-file', file);
    expect(stdout).toContain('http://127.0.0.1:9 ');
    expect(stdout).not.toContain('127.0.0.1:10');
  });

  test('can be a pipe, but not one that was empty', async () => {
    await using scene = await setScene();
    const { DOCMIRROR_TOKEN: token, ...env } = scene.env;
    const sync = async (text: string) => {
      const program = `exec "$0" -- "$1" sync --env-file <(printf %s '${text}')`;
      const child = spawn('bash', ['--norc', '-c', program, process.execPath, programPath], {
        env,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      const [said, [code]] = await Promise.all([readText(child.stderr), once(child, 'close')]);
      return { code, said };
    };
    expect((await sync(`DOCMIRROR_TOKEN=${token}`)).code).toBe(0);
    const requests = scene.service.requests.length;
    // The writer of the pipe might have failed, and the environment might have the token of another tenant.
    env.DOCMIRROR_TOKEN = 'another-token';
    const empty = await sync('');
    expect(empty.code).toBe(2);
    expect(empty.said).toMatch(/^docmirror: --env-file: \S+ is a pipe that was empty\. .*\n$/);
    expect(scene.service.requests).toHaveLength(requests);
  });
});
