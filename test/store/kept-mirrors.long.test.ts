import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { growDocmirror } from '../support/grown-docmirror.ts';
import { runNode } from '../support/program-copy.ts';
import { runCli, type TemporaryFolder, temporaryFolder } from '../support/run-cli.ts';

const support = join(import.meta.dirname, '..', 'support');
const kept = readdirSync(support).filter(name => /^mirror-[\d.]+\.sqlite\.gz$/.test(name));

let folder: TemporaryFolder;
let grown: string;

beforeAll(async () => {
  folder = temporaryFolder();
  grown = join(folder.path, 'docmirror');
  await growDocmirror(grown);
}, 60_000);

afterAll(() => folder[Symbol.asyncDispose]());

function unpack(name: string, as: string): string {
  const path = join(folder.path, as);
  writeFileSync(path, gunzipSync(readFileSync(join(support, name))), { mode: 0o600 });
  return path;
}

test('the mirror of each release from 0.3.0 on is kept', () => {
  expect(kept).toContain('mirror-0.3.0.sqlite.gz');
});

describe.each(kept)('%s', name => {
  test('is brought up to date by this version and passes verify', async () => {
    const path = unpack(name, 'now.sqlite');
    expect(await runCli(['upgrade', path])).toMatchObject({ code: 0 });
    const { code, stdout, stderr } = await runCli(['verify', '--database', path]);
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' });
  });

  test('is brought up to date by a later version and passes its verify', async () => {
    const path = unpack(name, 'later.sqlite');
    const later = (...args: string[]) =>
      runNode(grown, ['src/cli.ts', ...args], { DOCMIRROR_LOG_LEVEL: 'error' });
    expect(await later('upgrade', path)).toMatchObject({ code: 0 });
    expect(await later('verify', '--database', path)).toMatchObject({ code: 0 });
  });
});
