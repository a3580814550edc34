import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { rowsPerText } from '../../src/store/receipts/statements.ts';
import { syncScene } from '../support/in-process.ts';
import { expectSound } from '../support/oracle.ts';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';
import { documentExport } from '../support/stand-in.ts';

/** The receipt's `changes` of the document exports, by the run. */
const stated = (path: string) =>
  sqlite(
    path,
    `SELECT value ->> 'changes' AS changes FROM sync_receipts, json_each(receipt, '$.lists')
     WHERE value ->> 'resource' = 'document-exports' ORDER BY run_id`,
  ).map(({ changes }) => changes);

/** The same, computed line by line from all versions of a mirror without removals. */
function computed(path: string, runId: number): string {
  const versions = `SELECT iif(first = ${runId}, 'insert', 'update') AS operation, id, lower(hex(content)) AS content FROM (
      SELECT id, _first_seen_run_id AS first, _changed_run_id AS run, _content AS content FROM document_exports
      UNION ALL SELECT record_id, first_seen_run_id, valid_from_run_id, content FROM record_history WHERE resource = 'document-exports')
    WHERE run = ${runId} ORDER BY 1, 2`;
  const hash = createHash('sha256');
  for (const { operation, id, content } of sqlite(path, versions))
    hash.update(`${operation}\t${id}\t${content}\n`);
  return hash.digest('hex');
}

test.each([2 * rowsPerText, 2 * rowsPerText + 1])(
  'the receipt of a run with %i insertions has each row, and has it still when some were edited later',
  async exports => {
    await using scene = await setScene({ maxPageSize: 500 }, { exports, collections: 0, webhooks: 0 });
    const sync = () => syncScene(scene, { resources: ['document-exports'] });
    expect(await sync()).toMatchObject({ code: 0 });
    expect(stated(scene.database)).toEqual([computed(scene.database, 1)]);
    expectSound(scene.database);
    scene.service.lists['document-exports'][7] = documentExport(8, { sourceDocumentTitle: 'Edited' });
    expect(await sync()).toMatchObject({ code: 0 });
    expect(stated(scene.database)).toEqual([computed(scene.database, 1), computed(scene.database, 2)]);
    expectSound(scene.database);
  },
);
