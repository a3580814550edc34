import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { onTerminal } from '../support/on-terminal.ts';
import { setScene } from '../support/scene.ts';

/** A statement that keeps SQLite, and so the thread, busy for some seconds. */
const slow =
  'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 36000000) SELECT count(*) FROM n';

test('work of more than two seconds shows what it is and how long it takes, also while the thread is busy', async () => {
  await using scene = await setScene();
  await scene.sync();
  const shown = await onTerminal(['query', slow], scene.env);
  expect(shown.texts).toContain('asking the mirror  0:02');
  expect(shown.lines).toEqual(['count(*)', '36000000', '']);
  const out = join(scene.folder, 'out.csv');
  const written = await onTerminal(['query', slow, '--format', 'csv', '--out', out], scene.env, {
    columns: 24,
  });
  expect(written.texts).toContain('writing out.c…  0:02');
  expect(written.lines[0]).toMatch(/^\/.*out\.csv: 1 row/);
  expect(readFileSync(out, 'utf8')).toContain('36000000');
});

test('work of less than two seconds shows nothing of it', async () => {
  await using scene = await setScene();
  await scene.sync();
  for (const words of [
    ['verify'],
    ['share', 'share.sqlite'],
    ['backup', 'copy.sqlite'],
    ['export', '--out', 'out'],
  ]) {
    const shown = await onTerminal(
      words.map(word => (word.includes('.') || word === 'out' ? join(scene.folder, word) : word)),
      scene.env,
    );
    expect(shown.code).toBe(0);
    expect(shown.texts.join('\n')).not.toMatch(/checking|copying|making|writing/);
  }
});

test('verify --live shows the reading of each list, and no longer what came before', async () => {
  await using scene = await setScene();
  await scene.sync();
  Object.assign(scene.service.options, { latencyMs: 1_500 });
  const shown = await onTerminal(['verify', '--live'], scene.env);
  expect(shown.code).toBe(0);
  expect(shown.texts).toContain('webhooks  asking for the first page');
  expect(shown.texts.join('\n')).not.toContain('checking');
});
