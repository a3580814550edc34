import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { growDocmirror } from '../support/grown-docmirror.ts';
import { runNode } from '../support/program-copy.ts';
import { type TemporaryFolder, temporaryFolder } from '../support/run-cli.ts';

const root = join(import.meta.dirname, '..', '..');
const support = join(root, 'test', 'support');
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

/** Opens a mirror to write in a process of its own. */
function open(program: string, path: string): void {
  const script = `
    import { openForWriting } from './src/store/file/open-to-write.ts';
    openForWriting(process.argv[1]).close();`;
  execFileSync(process.execPath, ['--input-type=module-typescript', '-e', script, path], { cwd: program });
}

test('the mirror of each release from 0.3.0 on is kept', () => {
  expect(kept).toContain('mirror-0.3.0.sqlite.gz');
});

describe.each(kept)('%s', name => {
  test.each(['this', 'a later'])('is brought up to date by %s version and passes its verify', async which => {
    const program = which === 'this' ? root : grown;
    const path = unpack(name, `${which}.sqlite`);
    open(program, path);
    const verified = await runNode(program, ['src/cli.ts', 'verify', '--database', path]);
    expect(verified, verified.stdout).toMatchObject({ code: 0, stderr: '' });
  });
});
