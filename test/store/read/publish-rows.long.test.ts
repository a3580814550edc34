import { createHash } from 'node:crypto';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { tableFor } from '../../../src/commands/export.ts';
import { lists, type ResourceName } from '../../../src/contract/lists.ts';
import { MirrorFileError } from '../../../src/errors.ts';
import { publishedTables } from '../../../src/publish/tables.ts';
import { openForReading } from '../../../src/store/file/open.ts';
import { MirrorState } from '../../../src/store/read/as-of.ts';
import { changesThatFit } from '../../../src/store/read/change-list.ts';
import type { SourceRow } from '../../../src/store/read/publish-rows.ts';
import { openPublishSource } from '../../../src/store/read/publish-rows.ts';
import { events, ModelService } from '../../support/history-model.ts';
import { memoryFolder, run, syncScene } from '../../support/in-process.ts';
import { setScene } from '../../support/scene.ts';
import { collection, documentExport } from '../../support/stand-in.ts';
import { tamper } from '../verify/tamper.ts';

const resources = lists.map(list => list.resource);

const history = fc.array(
  fc.record({ events, list: fc.constantFrom<ResourceName | null>(null, null, null, ...resources) }),
  { minLength: 8, maxLength: 8 },
);

test('the rows of the runs, played one after the other, are the mirror as it was after each', async () => {
  await using folder = memoryFolder();
  let example = 0;
  await fc.assert(
    fc.asyncProperty(history, async steps => {
      const path = join(folder.path, `${example++}.sqlite`);
      const service = new ModelService();
      for (const { events: played, list } of steps) {
        service.play(played);
        await run(path, service, { resources: list === null ? resources : [list] });
      }
      expectReplay(path, steps.length);
    }),
    { numRuns: 20 },
  );
}, 60_000);

function expectReplay(path: string, runCount: number): void {
  const rows = openPublishSource(path);
  const mirror = openForReading(path);
  try {
    expect(rows.runs().map(({ runId }) => runId)).toEqual(
      Array.from({ length: runCount }, (_, at) => at + 1),
    );
    for (const { resource } of publishedTables) {
      const newest = new Map<number, { version: number; row: SourceRow }>();
      for (const { runId } of rows.runs()) {
        for (const row of rows.rows(resource, runId)) {
          const version = runId * 2 + (row.isRemoved ? 0 : 1);
          const before = newest.get(row.id);
          if (before === undefined || before.version <= version) newest.set(row.id, { version, row });
        }
        const standing = [...newest.values()].map(each => each.row).filter(row => !row.isRemoved);
        standing.sort((a, b) => a.id - b.id);
        const state = new MirrorState(mirror.sqlite, runId);
        const { rowOf } = tableFor(resource, state, false);
        expect(standing.map(valuesOf), `${resource} after run ${runId}`).toEqual([
          ...state.records(resource).map(rowOf),
        ]);
        const contents = [...state.wire(resource)].map(text => contentOfWire(resource, text).toString('hex'));
        expect(standing.map(({ content }) => content).sort()).toEqual(contents.sort());
        expect(rows.sumAfter(resource, runId)).toEqual({
          recordCount: contents.length,
          contentSum: sumOf(contents),
        });
      }
    }
    const changes = rows.runs().flatMap(({ runId }) => [...rows.changes(runId)]);
    // The key of a change in ClickHouse.
    const keys = changes.map(({ runId, resource, recordId, operation }) =>
      [runId, resource, recordId, operation].join(),
    );
    expect(new Set(keys).size).toBe(changes.length);
    expect(changes.length).toBe([...changesThatFit(mirror.sqlite, { sinceRunId: 0 })].length);
  } finally {
    rows[Symbol.dispose]();
    mirror.close();
  }
}

function valuesOf({ id, values, firstSeenRunId, changedRunId, extra }: SourceRow): unknown[] {
  return [id, ...values, firstSeenRunId, changedRunId, extra];
}

function sumOf(contents: readonly string[]): string {
  const sum = contents.reduce((total, content) => total + BigInt(`0x${content}`), 0n);
  return BigInt.asUintN(128, sum).toString(16).padStart(32, '0');
}

test('a connection that one run names twice is one row with the name that counts, and one change', async () => {
  await using scene = await setScene({}, { exports: 0, collections: 0, webhooks: 0 });
  const { lists: served } = scene.service;
  // A log carries the old name, and the collection knows the new one.
  served['document-exports'] = [documentExport(1, { sourceConnection: { id: 1, name: 'Old' } })];
  served.collections = [collection(1, { sourceConnection: { id: 1, name: 'New' } })];
  await syncScene(scene);
  const rows = openPublishSource(scene.database);
  const named = [...rows.rows('connections', 1)].filter(({ id }) => id === 1);
  const changes = [...rows.changes(1)].filter(
    ({ resource, recordId }) => resource === 'connections' && recordId === 1,
  );
  rows[Symbol.dispose]();
  expect(named.map(({ values }) => values)).toEqual([['New']]);
  expect(changes.map(({ operation }) => operation)).toEqual(['insert']);
});

test('a run that is under way, and what comes after it, is not published; what a run recorded of a list is believed', async () => {
  await using folder = memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  const service = new ModelService();
  for (let runs = 0; runs < 4; runs++) await run(path, service);
  const sqlite = new Database(path);
  sqlite.exec("UPDATE sync_runs SET status = 'running' WHERE id = 3");
  sqlite.exec(
    "UPDATE sync_run_resources SET checksum = 'abc', record_count = 7 WHERE run_id = 2 AND resource = 'webhooks'",
  );
  sqlite.close();
  const rows = openPublishSource(path);
  expect(rows.runs().map(({ runId }) => runId)).toEqual([1, 2]);
  expect(rows.sumAfter('webhooks', 1)).toMatchObject({ recordCount: 0 });
  expect(rows.sumAfter('webhooks', 2)).toEqual({ recordCount: 7, contentSum: 'abc' });
  rows[Symbol.dispose]();
});

test('a mirror that has no receipt yet has nothing to publish', async () => {
  await using folder = memoryFolder();
  const path = join(folder.path, 'mirror.sqlite');
  await run(path, new ModelService());
  tamper(path, 'DELETE FROM sync_receipts');
  expect(() => openPublishSource(path)).toThrow(MirrorFileError);
});

/** The content by its definition: canonical JSON without names of connections and without fields that are null. */
function contentOfWire(resource: string, text: string): Buffer {
  const record: Record<string, unknown> = JSON.parse(text);
  for (const name of ['sourceConnection', 'destinationConnection']) record[name] = idAlone(record[name]);
  if (resource === 'webhooks' && Array.isArray(record.connections))
    record.connections = record.connections.map(idAlone);
  const names = Object.keys(record)
    .filter(name => record[name] !== null && record[name] !== undefined)
    .sort();
  const canonical = JSON.stringify(Object.fromEntries(names.map(name => [name, record[name]])));
  return createHash('sha256').update(canonical).digest().subarray(0, 16);
}

function idAlone(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'id' in value ? { id: value.id } : value;
}
