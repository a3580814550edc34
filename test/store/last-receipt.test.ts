import { expect, test } from 'vitest';
import { receiptsNaming } from '../../src/store/receipts/statements.ts';
import { syncScene } from '../support/in-process.ts';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

test('a run finds the receipt that names connections by an index, however many receipts came after it', async () => {
  await using scene = await setScene({}, { exports: 20 });
  for (let run = 0; run < 3; run++) expect(await syncScene(scene)).toMatchObject({ code: 0 });
  const naming = receiptsNaming('connections');
  const plan = sqlite(scene.database, `EXPLAIN QUERY PLAN ${naming}`).map(({ detail }) => detail);
  expect(plan).toEqual(['SCAN sync_receipts USING INDEX sync_receipts_connections']);
  // Of three runs the first one made connections.
  expect(sqlite(scene.database, 'SELECT * FROM sync_receipts')).toHaveLength(3);
  expect(sqlite(scene.database, naming)).toHaveLength(1);
});
