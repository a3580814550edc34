import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { labelledFigures, metricsText } from '../../src/serve/metrics.ts';
import { sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { documentExport } from '../support/stand-in.ts';

const allFields = `SELECT resource, field, json_type, first_seen_run_id, last_seen_run_id, record_count FROM unknown_fields
  ORDER BY resource, field, json_type`;

type Item = Record<string, unknown>;

/** Gives records of a list one more field. */
function give(scene: Scene, resource: 'document-exports' | 'collections', count: number, fields: Item): void {
  for (const item of scene.service.lists[resource].slice(0, count)) Object.assign(item, fields);
}

let scene: Scene;
beforeAll(async () => {
  scene = await setScene();
  await scene.sync();
  give(scene, 'collections', 2, { owner: 'Zoe', tags: ['a'], isActive: true });
  give(scene, 'collections', 1, { owner: null });
  await scene.sync();
});
afterAll(() => scene[Symbol.asyncDispose]());

describe('fields that no column exists for', () => {
  test('are in a table, with types, runs and counts', () => {
    expect(sqlite(scene.database, allFields).map(row => Object.values(row))).toEqual([
      ['collections', 'isActive', 'boolean', 2, 2, 2],
      ['collections', 'owner', 'null', 2, 2, 1],
      ['collections', 'owner', 'string', 2, 2, 1],
      ['collections', 'tags', 'array', 2, 2, 2],
    ]);
  });

  test('are shown by status, in the report and as a metric', async () => {
    const { stdout } = await scene.run('status');
    expect(stdout).toContain(
      'collections: the service sends fields that have no column: isActive (boolean), owner (null, string), tags (array).',
    );
    const { stdout: json } = await scene.run('status', '--json');
    expect(JSON.parse(json).resources[1].unknownFields[0]).toEqual({
      field: 'isActive',
      jsonType: 'boolean',
      firstSeenRunId: 2,
      lastSeenRunId: 2,
      recordCount: 2,
    });
    const page = join(scene.folder, 'report.html');
    await scene.run('report', '--out', page);
    expect(readFileSync(page, 'utf8')).toMatch(/isActive \(boolean\)/);
    const metrics = metricsText([labelledFigures(scene.database, {})]);
    expect(metrics).toContain('docmirror_unknown_fields{resource="collections"} 3');
  });

  test('are named by the run that sees them first, once', async () => {
    await using other = await setScene({}, { exports: 3 });
    give(other, 'document-exports', 3, { language: 'de' });
    const first = await other.run('sync');
    expect(first.stdout).toContain(
      'document-exports: new at the service: language (string). The values are in _extra.',
    );
    expect((await other.run('sync')).stdout).not.toContain('language');
    give(other, 'document-exports', 1, { language: 1 });
    const second = await other.sync('--allow-mass-removal');
    expect(second.of('document-exports').newFields).toEqual([{ field: 'language', jsonType: 'number' }]);
  });

  test('have the counts of the last full sync, of pages that were known, too, and of none once they are gone', async () => {
    await using other = await setScene({}, { exports: 600, collections: 1, webhooks: 1 });
    const counts = () =>
      sqlite(other.database, allFields).map(row => [row.json_type, row.last_seen_run_id, row.record_count]);
    give(other, 'document-exports', 600, { language: 'de' });
    await other.sync('--page-size', '40');
    await other.sync('--page-size', '40', '--full');
    expect(counts()).toEqual([['string', 2, 600]]);
    other.service.lists['document-exports'].push(documentExport(601, { language: 7 }));
    const incremental = await other.sync('--page-size', '40');
    expect(incremental.of('document-exports')).toMatchObject({ mode: 'incremental', inserted: 1 });
    expect(counts()).toEqual([
      ['number', 3, null],
      ['string', 2, 600],
    ]);
    await other.sync('--page-size', '40', '--full');
    expect(counts()).toEqual([
      ['number', 4, 1],
      ['string', 4, 600],
    ]);
    for (const item of other.service.lists['document-exports']) delete (item as Item).language;
    await other.sync('--page-size', '40', '--full', '--allow-mass-removal');
    await other.sync('--page-size', '40', '--full', '--allow-mass-removal');
    expect(counts().map(([, , count]) => count)).toEqual([0, 0]);
    expect((await other.run('status')).stdout).not.toContain('language');
  });
});

test('a member of the answers beside the items is named once, and no value of it is kept', async () => {
  const rawBody = () =>
    '{"items":[],"pagination":{"pageCount":0,"pageNo":1,"pageSize":50,"totalRecordCount":0},"took":"kept nowhere"}';
  await using other = await setScene({ rawBody });
  const first = await other.run('sync');
  expect(first.stdout).toContain(
    'webhooks: new beside the items of its answers, and not kept: took (string).',
  );
  expect((await other.run('sync')).stdout).not.toContain('took');
  expect(sqlite(other.database, allFields).at(-1)).toMatchObject({ resource: 'webhooks', record_count: 0 });
  expect(readFileSync(other.database).includes('kept nowhere')).toBe(false);
});
