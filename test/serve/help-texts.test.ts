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
  const lines = readFileSync(file, 'utf8').split('\n');
  const of05 = readFileSync(join(import.meta.dirname, 'help-texts-0.5.0.txt'), 'utf8')
    .trim()
    .split('\n');
  expect(of05.filter(line => !lines.includes(line))).toEqual([]);
});
