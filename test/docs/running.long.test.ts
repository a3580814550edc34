import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { docmirrorShell } from '../support/docmirror-shell.ts';
import { setScene } from '../support/scene.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'running.md'), 'utf8');
const [first = ''] = page.split('## Ways to start runs');
const hasSqliteCli = spawnSync('sqlite3', ['--version']).status === 0;

test('what docs/running.md has one type first works, from nothing to a backup', async () => {
  await using scene = await setScene({}, { exports: 30 });
  const shell = docmirrorShell(scene.folder);
  const blocks = [...first.matchAll(/```sh\n(.*?)```/gs)].map(([, script = '']) => script);
  expect(blocks).toHaveLength(6);
  for (const block of blocks) {
    if (block.startsWith('sqlite3 ') && !hasSqliteCli) continue;
    const script = block
      .replace('https://service.example', scene.service.url)
      .replace('the-token', scene.service.options.token)
      // It would go on for ever.
      .replace('docmirror watch --run-now', 'docmirror sync');
    expect(await shell(`set -e\n${script}`), block).toMatchObject({ code: 0 });
  }
  expect(statSync(join(scene.folder, 'docmirror.env')).mode & 0o777).toBe(0o600);
  expect(existsSync(join(scene.folder, 'report.html'))).toBe(true);
});
