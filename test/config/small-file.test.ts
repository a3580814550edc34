import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSecretFile, readSmallFile } from '../../src/config/small-file.ts';
import { temporaryFolder } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

const mebibyte = 1024 * 1024;

test('a small file is read whole, and one of more than 4 MiB is refused', async () => {
  await using folder = temporaryFolder();
  const file = join(folder.path, 'file');
  const text = 'é'.repeat(2 * mebibyte);
  writeFileSync(file, text);
  expect(readSmallFile('--file: ', file) === text).toBe(true);
  writeFileSync(file, `${text}x`);
  expect(() => readSmallFile('--file: ', file)).toThrow(`--file: ${file} is too large`);
  writeFileSync(file, '');
  expect(readSmallFile('--file: ', file)).toBe('');
  expect(() => readSmallFile('--file: ', folder.path)).toThrow("can't be read (EISDIR)");
});

test('a pipe is read to its end, in the parts in which it comes', async () => {
  await using folder = temporaryFolder();
  const pipe = join(folder.path, 'pipe');
  execFileSync('mkfifo', [pipe]);
  spawn('sh', ['-c', '(printf one; sleep 0.2; printf two) > "$0"', pipe]);
  expect(readSecretFile('--token-file: ', pipe)).toBe('onetwo');
});

test('a file that never ends is refused, exit code 2', async () => {
  await using scene = await setScene();
  delete scene.env.DOCMIRROR_TOKEN;
  const commands = [
    ['sync', '--env-file', '/dev/zero'],
    ['query', '--file', '/dev/zero'],
    ['serve', '--token-file', '/dev/zero'],
  ];
  for (const command of commands) {
    const { code, stderr } = await scene.run(...command, '--database', scene.database);
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('is too large') });
  }
  const pipe = join(scene.folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const endless = spawn('sh', ['-c', 'yes secret-part > "$0"', pipe]);
  for (const file of ['/dev/zero', pipe]) {
    scene.env.DOCMIRROR_TOKEN_FILE = file;
    const { code, stdout, stderr } = await scene.run('sync', '--resource', 'webhooks');
    expect(code).toBe(2);
    expect(stdout).toContain(`${file} is too large: it has more than 4 MiB, or never ends`);
    expect(stdout + stderr).not.toContain('secret-part');
  }
  endless.kill();
  expect(scene.service.requests).toEqual([]);
});
