import { expect } from 'vitest';
import { Random } from '../../examples/sample-service/random.ts';
import type { ClickHouse } from '../../src/publish/clickhouse.ts';
import { type PublishOptions, publish } from '../../src/publish/publish.ts';
import { publishedTables } from '../../src/publish/tables.ts';
import { openForReading } from '../../src/store/file/open.ts';
import { MirrorState } from '../../src/store/read/history/as-of.ts';
import { changesThatFit } from '../../src/store/read/history/changes.ts';
import { openPublishSource } from '../../src/store/read/history/publish-source.ts';
import { stateTable } from '../../src/store/read/records/table.ts';
import { syncScene } from '../support/in-process.ts';
import { sqlite } from '../support/run-cli.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { collection, connection, documentExport, type SampleItem, webhook } from '../support/stand-in.ts';

/** A scene whose lists change at random before each of its runs. */
export interface Changing extends Scene {
  goOn(): Promise<void>;
}

/** Sets a scene with a mirror of so many runs, in which there are values that must be escaped. */
export async function setChanging(seed: number, runs: number): Promise<Changing> {
  const scene = await setScene({}, { exports: 30, collections: 9, webhooks: 4 });
  const { lists } = scene.service;
  const odd = `it's\t\\\n "ü" \u0000 \u{1d49f}`;
  const big = Number.MAX_SAFE_INTEGER;
  lists['document-exports'].push(documentExport(100, { sourceDocumentTitle: odd, exportedAt: null }));
  lists.collections.push(collection(big, { name: null, sourceConnection: connection(-big), pages: 12 }));
  lists.webhooks.push(
    webhook(0, { description: odd, events: [odd, ''], connections: [connection(1), null] }),
  );
  const chance = new Random(seed);
  let next = 1_000;
  const change = () => {
    for (const items of Object.values(lists)) items.splice(chance.integer(0, items.length - 1), 1);
    for (let left = chance.integer(0, 4); left > 0; left--)
      lists['document-exports'].push(documentExport(++next));
    lists.collections.push(collection(++next));
    lists.webhooks.push(webhook(next, { description: odd }));
    const [first] = lists.collections as SampleItem[];
    Object.assign(first ?? {}, { name: `name ${next}`, sourceConnection: { id: 2, name: `name ${next}` } });
  };
  const goOn = async () => {
    change();
    await syncScene(scene, { allowMassRemoval: true });
  };
  for (let left = runs; left > 0; left--) await goOn();
  return { ...scene, goOn };
}

/** Publishes a mirror as the tenant `acme`, in this process. */
export function publishMirror(
  { database }: Pick<Scene, 'database'>,
  target: ClickHouse,
  options: Partial<PublishOptions> = {},
): ReturnType<typeof publish> {
  return publish(() => openPublishSource(database), target, {
    tenant: 'acme',
    again: false,
    replaceTenant: false,
    onProgress: () => undefined,
    ...options,
  });
}

/** ClickHouse has the mirror's lists as `export` writes them, its change feed and its runs, and nothing else of the tenant. */
export async function expectPublished(
  target: ClickHouse,
  { database }: Pick<Scene, 'database'>,
  tenant = 'acme',
): Promise<void> {
  using mirror = openForReading(database);
  const state = new MirrorState(mirror.sqlite, null);
  for (const { resource, view } of publishedTables) {
    const { columns, rows: wanted } = stateTable(state, resource, false);
    const names = columns.map(({ name }) => name).join(', ');
    const rows = await target.ask(
      `SELECT toJSONString(tuple(${names})) FROM ${view} WHERE tenant = {tenant:String} ORDER BY id
       SETTINGS output_format_json_quote_64bit_integers = 0`,
      { tenant },
    );
    const expected = [...wanted];
    expect(expected.length).toBeGreaterThan(0);
    expect(
      rows.map(([row]) => JSON.parse(row ?? '')),
      view,
    ).toEqual(expected);
  }
  const changes = await target.ask(
    `SELECT toString(run_id), resource, toString(record_id), operation, record FROM changes FINAL
     WHERE tenant = {tenant:String}`,
    { tenant },
  );
  const expected = [...changesThatFit(mirror.sqlite, { sinceRunId: 0 })].map(
    ({ runId, resource, recordId, operation, record }) => [
      `${runId}`,
      resource,
      `${recordId}`,
      operation,
      record,
    ],
  );
  expect(changes.map(row => JSON.stringify(row)).sort()).toEqual(
    expected.map(row => JSON.stringify(row)).sort(),
  );
  const runs = sqlite(database, 'SELECT id FROM sync_runs ORDER BY id').map(({ id }) => Number(id));
  expect(await publishedRuns(target, tenant)).toEqual(runs);
}

/** The runs that are there whole. */
export async function publishedRuns(target: ClickHouse, tenant = 'acme'): Promise<number[]> {
  const rows = await target.ask(
    'SELECT toString(run_id) FROM published_runs FINAL WHERE tenant = {tenant:String} ORDER BY run_id',
    { tenant },
  );
  return rows.map(([runId]) => Number(runId));
}
