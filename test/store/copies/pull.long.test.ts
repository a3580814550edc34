import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { syncScene } from '../../support/in-process.ts';
import { setScene } from '../../support/scene.ts';

test('drizzle-kit reads a mirror and a share with all their tables and views', async () => {
  await using scene = await setScene();
  await syncScene(scene);
  const share = join(scene.folder, 'share.sqlite');
  expect((await scene.run('share', share)).code).toBe(0);
  for (const path of [scene.database, share]) {
    const out = join(scene.folder, 'pulled');
    const words = ['introspect', '--dialect', 'sqlite', '--url', `file:${path}`, '--out', out];
    const { status, stdout, stderr } = spawnSync('npx', ['drizzle-kit', ...words], { encoding: 'utf8' });
    expect(status, stdout + stderr).toBe(0);
    const schema = readFileSync(join(out, 'schema.ts'), 'utf8');
    for (const name of ['document_exports', 'record_history', 'sync_runs'])
      expect(schema).toContain(`sqliteTable("${name}"`);
    for (const name of ['document_exports_named', 'latest_versions', 'changes', 'sync_status'])
      expect(schema).toContain(`sqliteView("${name}"`);
  }
});
