import { copyFileSync } from 'node:fs';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { checkpointOf } from '../../../src/store/read/checkpoint-of.ts';
import { verifyMirror } from '../../../src/store/verify/verify.ts';
import { type Scene, setScene } from '../../support/scene.ts';
import type { SampleItem } from '../../support/stand-in.ts';
import { tamper } from './tamper.ts';

const { signal } = new AbortController();

/** Each text that holds U+FFFD, by where it stands. */
function spoilable(path: string): { table: string; column: string; rowId: number }[] {
  const database = new Database(path, { readonly: true });
  try {
    const columns = database
      .prepare<[], { table: string; column: string }>(
        `SELECT t.name AS "table", c.name AS "column" FROM pragma_table_list t JOIN pragma_table_info(t.name) c
         WHERE t.strict AND lower(c.type) = 'text' ORDER BY 1, 2`,
      )
      .all();
    return columns.flatMap(({ table, column }) =>
      database
        .prepare<[], number>(`SELECT rowid FROM ${table} WHERE instr(${column}, char(0xfffd))`)
        .pluck()
        .all()
        .map(rowId => ({ table, column, rowId })),
    );
  } finally {
    database.close();
  }
}

async function mirrorOfReplacements(): Promise<Scene> {
  const scene = await setScene({}, { exports: 5, collections: 3, webhooks: 3 });
  const { lists } = scene.service;
  const title = 'Caf\ufffd';
  const connection = { id: 77, name: title, colour: title };
  Object.assign(lists['document-exports'][2] as SampleItem, { sourceDocumentTitle: title, more: title });
  Object.assign(lists.collections[1] as SampleItem, { name: title, sourceConnection: connection });
  Object.assign(lists.webhooks[1] as SampleItem, { events: ['a', title], description: title });
  expect(await scene.sync('--actor', title)).toMatchObject({ code: 0 });
  Object.assign(lists['document-exports'][2] as SampleItem, { sourceDocumentTitle: 'other' });
  expect(await scene.sync('--actor', title)).toMatchObject({ code: 0 });
  return scene;
}

test('bytes that are no UTF-8 are found wherever U+FFFD stands, as which they read', async () => {
  await using scene = await mirrorOfReplacements();
  const places = spoilable(scene.database);
  const columns = new Set(places.map(({ table, column }) => `${table}.${column}`));
  expect([...columns]).toEqual([
    'collections.name',
    'connections._extra',
    'connections.name',
    'document_exports._extra',
    'record_history.record',
    'sync_receipts.receipt',
    'sync_runs._actor',
    'webhook_events.event',
    'webhooks.description',
  ]);
  const copy = `${scene.database}.spoilt`;
  for (const { table, column, rowId } of places) {
    // One byte that is none; a lone half of a pair, three bytes long; a byte that only continues.
    for (const bytes of ['ff', 'eda080', '80']) {
      copyFileSync(scene.database, copy);
      const spoilt = `replace(hex(${column}), 'EFBFBD', upper('${bytes}'))`;
      tamper(copy, `UPDATE ${table} SET ${column} = CAST(unhex(${spoilt}) AS TEXT) WHERE rowid = ${rowId}`);
      const { differences } = await verifyMirror(copy, { limit: 9, signal });
      const what = `${column} holds bytes that are no UTF-8, which docmirror never writes`;
      expect(differences).toContainEqual(expect.objectContaining({ table, id: rowId, what }));
    }
  }
});

test('no checkpoint is made of receipts whose bytes were changed', async () => {
  await using scene = await mirrorOfReplacements();
  expect(checkpointOf(scene.database).size).toBe(2);
  const spoilt = "CAST(unhex(replace(hex(receipt), 'EFBFBD', 'FF')) AS TEXT)";
  tamper(scene.database, `UPDATE sync_receipts SET receipt = ${spoilt} WHERE leaf_index = 0`);
  const refusal = 'is not the log that docmirror wrote, from receipt 0 on';
  expect(() => checkpointOf(scene.database)).toThrow(refusal);
});
