import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { setScene } from '../support/scene.ts';

// node_exporter drops the metric of a file whose HELP differs from that of another file.
test('each metric of 0.5.0 keeps its HELP and TYPE', async () => {
  await using scene = await setScene();
  const file = join(scene.folder, 'acme.prom');
  scene.env.DOCMIRROR_METRICS_FILE = file;
  expect(await scene.run('sync')).toMatchObject({ code: 0 });
  expect(await scene.run('backup', scene.folder, '--keep', '1')).toMatchObject({ code: 0 });
  const files = [file, join(scene.folder, 'acme-backup.prom')];
  const lines = files.flatMap(path => readFileSync(path, 'utf8').split('\n'));
  const of05 = readFileSync(join(import.meta.dirname, 'metrics-0.5.0.prom'), 'utf8').split('\n');
  // Those of a watch are only at its address.
  const kept = of05.filter(line => line.startsWith('# ') && !line.includes(' docmirror_watch_'));
  expect(kept.length).toBeGreaterThan(50);
  expect(kept.filter(line => !lines.includes(line))).toEqual([]);
});
