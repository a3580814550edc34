import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lists, type ResourceName } from '../../../src/contract/lists.ts';
import { recordOfJson } from '../../../src/contract/record.ts';
import { publishedTables } from '../../../src/publish/tables.ts';
import { openForReading } from '../../../src/store/file/open.ts';
import { MirrorState } from '../../../src/store/read/history/as-of.ts';
import { changesThatFit } from '../../../src/store/read/history/changes.ts';
import { openPublishSource, type PublishSource } from '../../../src/store/read/history/publish-source.ts';
import { stateTable } from '../../../src/store/read/records/table.ts';
import { EndedRuns } from '../../../src/store/tables/ended-runs.ts';
import { verifyMirror } from '../../../src/store/verify/verify.ts';
import { events, ModelService } from '../../support/history-model.ts';
import { memoryFolder, run } from '../../support/in-process.ts';

const resources = lists.map(list => list.resource);

/** The model after each run, in the service's shape. A list that a run left out is as before. */
type Snapshot = ReadonlyMap<string, readonly string[]>;

/** The lists after a run that was sure of them. */
interface Known {
  readonly isWhole: boolean;
  readonly lists: Snapshot;
}

/** The connections that records refer to, each in one text. */
function connectionsIn(snapshot: Snapshot): string[] {
  const found = [...snapshot.values()]
    .flat()
    .flatMap(text => [...text.matchAll(/\{"id":\d+,"name":"C[^"]*"\}/g)].map(([match]) => match));
  return [...new Set(found)].sort();
}

/** A record's text without the names of connections: those belong to the connections. */
function withoutNames(text: string): string {
  return text.replace(/(\{"id":\d+),"name":"C[^"]*"\}/g, '$1}');
}

function stateOf(sqlite: Database.Database, runId: number | null): Map<string, string[]> {
  const state = new MirrorState(sqlite, runId);
  return new Map(lists.map(list => [list.resource, [...state.wire(list.resource)].sort()]));
}

/** Plays the change feed into an empty mirror, and checks that each change fits the state before it. */
function replay(sqlite: Database.Database): Map<number, Map<string, string[]>> {
  const standing = new Map<string, string>();
  const after = new Map<number, Map<string, string[]>>();
  for (const runId of new EndedRuns(sqlite).since(0)) {
    const ofRun = changesThatFit(sqlite, { sinceRunId: runId - 1, untilRunId: runId });
    for (const change of ofRun) {
      const { resource, recordId, operation, record, before } = change;
      const key = `${resource} ${recordId}`;
      expect(standing.has(key), `${operation} of ${key} by run ${runId}`).toBe(operation !== 'insert');
      if (operation === 'update')
        expect(withoutNames(before ?? '')).toBe(withoutNames(standing.get(key) ?? ''));
      else expect(before).toBe(null);
      if (operation === 'removal') standing.delete(key);
      else standing.set(key, record ?? '');
    }
    const byList = Object.groupBy(standing, ([key]) => key.split(' ')[0] as string);
    const texts = [...resources, 'connections'].map(
      resource => [resource, (byList[resource] ?? []).map(([, record]) => record).sort()] as const,
    );
    after.set(runId, new Map(texts));
  }
  return after;
}

const history = fc.array(
  fc.record({ events, list: fc.constantFrom<ResourceName | null>(null, null, null, ...resources) }),
  { minLength: 10, maxLength: 10 },
);

test('the mirror as of any run is what the service listed then, and the change feed leads to it', async () => {
  await using folder = memoryFolder();
  let example = 0;
  await fc.assert(
    fc.asyncProperty(history, async steps => {
      const path = join(folder.path, `${example++}.sqlite`);
      const service = new ModelService();
      const snapshots: (Known | null)[] = [];
      for (const { events: played, list } of steps) {
        service.play(played);
        const synced = list === null ? resources : [list];
        // A list that is suddenly empty, or in no visible order, takes two runs for what is gone.
        for (let isSure = false; !isSure; ) {
          isSure = (await run(path, service, { resources: synced })).status === 'completed';
          if (!isSure) snapshots.push(null);
        }
        const before =
          snapshots.findLast(each => each !== null)?.lists ?? new Map(resources.map(each => [each, []]));
        const now = new Map([...before, ...synced.map(each => [each, service.items(each)] as const)]);
        snapshots.push({ isWhole: list === null, lists: now });
      }
      await check(path, snapshots);
      // It takes as long as all else.
      if (example % 2 === 0) expectPublishable(path, snapshots.length);
    }),
    { numRuns: 30 },
  );
}, 180_000);

async function check(path: string, snapshots: readonly (Known | null)[]): Promise<void> {
  using mirror = openForReading(path);
  const { sqlite } = mirror;
  {
    const replayed = replay(sqlite);
    for (const [at, known] of snapshots.entries()) {
      if (known === null) continue;
      const { isWhole, lists: expected } = known;
      const runId = at + 1;
      const then = stateOf(sqlite, runId);
      const connections = [...new MirrorState(sqlite, runId).wire('connections')].sort();
      for (const resource of resources) {
        const [found, wanted] = [then.get(resource) ?? [], expected.get(resource) ?? []];
        if (isWhole) expect(found, `${resource} as of run ${runId}`).toEqual(wanted);
        expect(found.map(withoutNames).sort()).toEqual(wanted.map(withoutNames).sort());
        const byFeed = replayed.get(runId)?.get(resource)?.map(withoutNames).sort();
        expect(byFeed, `${resource} by the feed until run ${runId}`).toEqual(wanted.map(withoutNames).sort());
      }
      if (isWhole) expect(connections, `connections as of run ${runId}`).toEqual(connectionsIn(expected));
      expect(replayed.get(runId)?.get('connections')).toEqual(connections);
    }
    expect(stateOf(sqlite, null)).toEqual(stateOf(sqlite, snapshots.length));
  }
  const { differences } = await verifyMirror(path, { limit: 10, signal: new AbortController().signal });
  expect(differences).toEqual([]);
}

/** The rows of the runs, played one after the other, are the mirror as it was after each, also for a publication. */
function expectPublishable(path: string, runCount: number): void {
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
        const { rows: wanted } = stateTable(state, resource, false);
        expect(standing.map(valuesOf), `${resource} after run ${runId}`).toEqual([...wanted]);
        const contents = [...state.wire(resource)].map(text =>
          recordOfJson(resource, text).content.toString('hex'),
        );
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

type SourceRow = ReturnType<PublishSource['rows']> extends Generator<infer Row> ? Row : never;

function valuesOf({ id, values, firstSeenRunId, changedRunId, extra }: SourceRow): unknown[] {
  return [id, ...values, firstSeenRunId, changedRunId, extra];
}

function sumOf(contents: readonly string[]): string {
  const sum = contents.reduce((total, content) => total + BigInt(`0x${content}`), 0n);
  return BigInt.asUintN(128, sum).toString(16).padStart(32, '0');
}

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
