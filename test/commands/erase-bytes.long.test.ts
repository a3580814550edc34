import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCli, sqlite, temporaryFolder } from '../support/run-cli.ts';

const until = '2026-11-25T13:30:00Z';

/** How often a file contains a text. */
function timesIn(path: string, text: string): number {
  return readFileSync(path, 'latin1').split(text).length - 1;
}

test('an erased text is in no byte of a mirror of 14 runs, not even in unused space', {
  timeout: 120_000,
}, async () => {
  await using folder = temporaryFolder();
  const demo = join(folder.path, 'docmirror-demo.sqlite');
  expect(await runCli(['demo', '--until', until], { cwd: folder.path })).toMatchObject({ code: 0 });
  const versions = sqlite(
    demo,
    `SELECT record_id AS id, record ->> 'destinationReference' AS text FROM record_history
     WHERE resource = 'document-exports' AND length(record ->> 'destinationReference') > 8 GROUP BY record_id`,
  );
  expect(versions.length).toBeGreaterThan(5);
  for (const { id, text } of versions) {
    const path = join(folder.path, `copy-${id}.sqlite`);
    copyFileSync(demo, path);
    const listed = `SELECT count(*) AS n FROM document_exports WHERE destination_reference = '${text}'`;
    const erased = await runCli(['erase', 'document-exports', String(id), '--database', path]);
    expect(erased, erased.stderr).toMatchObject({ code: 0 });
    expect([text, timesIn(path, String(text))]).toEqual([text, sqlite(path, listed)[0]?.n]);
  }
});
