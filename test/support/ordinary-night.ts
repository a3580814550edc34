import { expect } from 'vitest';
import { sqlite } from './run-cli.ts';
import type { Scene, SyncedResource } from './scene.ts';
import type { SampleItem } from './stand-in.ts';

/** The exports of a scene's service. */
export const exportsOf = ({ service }: Scene) => service.lists['document-exports'] as SampleItem[];

/** The titles of the rows that have a reference, sorted. */
export const titlesOf = (scene: Scene, reference: string) =>
  sqlite(
    scene.database,
    `SELECT source_document_title AS title FROM document_exports WHERE source_document_reference = '${reference}' ORDER BY 1`,
  ).map(({ title }) => title);

/** How many rows a list has. */
export const rowsIn = (scene: Scene, table = 'document_exports') =>
  sqlite(scene.database, `SELECT count(*) AS n FROM ${table}`)[0]?.n;

/** A full sync that ends as an ordinary night does, with so many exports. */
export async function expectOrdinary(scene: Scene, rows: number): Promise<SyncedResource> {
  const synced = await scene.sync('--full');
  const outcome = synced.of('document-exports');
  expect({ code: synced.code, rows: rowsIn(scene), ...outcome }).toMatchObject({
    code: 0,
    rows,
    completeness: 'proven',
    removed: 0,
  });
  const reasons = outcome.reasons as { code: string }[];
  expect(reasons.filter(({ code }) => !tellingOnly.includes(code))).toEqual([]);
  return outcome;
}

/** What a run tells of fields is no doubt about the list. */
const tellingOnly = ['field_gone', 'field_new', 'field_volatile', 'time_unreadable'];
