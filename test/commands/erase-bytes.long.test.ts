import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli, sqlite, temporaryFolder } from '../support/run-cli.ts';

test('an erased text is in no byte of a mirror of 14 runs, not even in unused space', async () => {
  await using folder = temporaryFolder();
  const demo = join(folder.path, 'docmirror-demo.sqlite');
  await runCli(['demo', '--until', '2026-11-25T13:30:00Z'], { cwd: folder.path });
  const history = "SELECT record_id AS id, record ->> 'destinationReference' AS text FROM record_history";
  const versions = sqlite(demo, `${history} WHERE length(text) > 8`);
  expect(versions.length).toBeGreaterThan(5);
  for (const { id, text } of versions) {
    const path = join(folder.path, `copy-${id}.sqlite`);
    copyFileSync(demo, path);
    const listed = `SELECT count(*) AS n FROM document_exports WHERE destination_reference = '${text}'`;
    const erased = await runCli(['erase', 'document-exports', String(id), '--database', path]);
    expect(erased, erased.stderr).toMatchObject({ code: 0 });
    expect(readFileSync(path, 'latin1').split(String(text)).length - 1).toBe(sqlite(path, listed)[0]?.n);
  }
}, 120_000);
