import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClickHouse } from '../../src/publish/clickhouse.ts';
import { ddlStatements } from '../../src/publish/tables.ts';
import { syncScene } from '../support/in-process.ts';
import { setScene } from '../support/scene.ts';
import { Engine } from './engine.ts';
import { publishMirror, setChanging } from './mirrors.ts';

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

let engine: Engine;
let target: ClickHouse;

beforeAll(async () => {
  engine = await Engine.start();
  target = engine.client(await engine.database());
  for (const tenant of ['acme', 'globex']) {
    await using mirror = await setChanging(41, 4);
    await publishMirror(mirror, target, { tenant });
  }
  const yesterday = Math.floor(Date.now() / dayMs) * dayMs - dayMs;
  await publishOf('initech', [yesterday + hourMs, yesterday + 2 * hourMs]);
  await publishOf('today', [Date.now() - hourMs]);
  await publishOf('dormant', [0]);
});

/** Publishes a mirror of runs at these times: three collections and six connections come, then a collection changes and another goes with its connections. */
async function publishOf(tenant: string, times: readonly number[]): Promise<void> {
  await using scene = await setScene({}, { exports: 0, collections: 3, webhooks: 0 });
  const { lists } = scene.service;
  for (const time of times) {
    await syncScene(scene, { now: new Date(time), allowMassRemoval: true });
    lists.collections.pop();
    Object.assign(lists.collections[0] as object, { name: 'One' });
  }
  await publishMirror(scene, target, { tenant });
}

afterAll(async () => {
  await target.close();
  await engine[Symbol.asyncDispose]();
});

test('the statements that make the tables can be run again, and change nothing', async () => {
  const shape =
    'SELECT table, name, type FROM system.columns WHERE database = {database:String} ORDER BY ALL';
  const { database } = target.options;
  const before = await target.ask(shape, { database });
  for (const statement of ddlStatements(database)) await target.command(statement);
  expect(await target.ask(shape, { database })).toEqual(before);
});

test('the engine reads what makes the tables of a cluster', async () => {
  const statements = ddlStatements('docmirror', 'main `1`');
  for (const statement of statements) {
    const asked = await fetch(engine.url, { method: 'POST', body: `EXPLAIN AST ${statement}` });
    expect(await asked.text()).toMatch(/^(Create|Alter)Query/);
    expect(statement).toContain('ON CLUSTER `main \\`1\\``');
  }
  const engines = statements.flatMap(statement => /ENGINE = (\w+)/.exec(statement)?.[1] ?? []);
  expect(new Set(engines)).toEqual(new Set(['ReplicatedReplacingMergeTree', 'Distributed']));
});

const text = readFileSync(join(import.meta.dirname, '../../docs/beyond-one-machine.md'), 'utf8');
const blocks = [...text.matchAll(/```sql-clickhouse\n(.*?)```/gs)].map(([, sql = '']) => sql);
const queries = blocks.map(sql => [/^-- (.*)$/m.exec(sql)?.[1] ?? sql.slice(0, 60), sql] as const);

describe('the documentation', () => {
  test.each(queries)('%s', async (_name, sql) => {
    for (const statement of sql.split(/;\s*$/m).filter(part => part.trim() !== '')) {
      if (/^\s*(--.*\s)*(SELECT|WITH)/.test(statement))
        expect((await askAnything(statement)).length).toBeGreaterThan(0);
      else await target.command(statement);
    }
  });
});

describe('across a fleet', () => {
  /** The rows of the page's statement that begins so, each with the texts of its columns. */
  const answer = async (question: string) => {
    const sql = queries.find(([name]) => name.startsWith(question))?.[1] ?? '';
    const rows = await askAnything(sql.replace(/;\s*$/, ''));
    return rows.map(([row]) => Object.values(JSON.parse(row ?? '')).map(String));
  };

  test('a tenant is stale if its newest run is older than 26 hours, however new its publication', async () => {
    const [first, ...others] = await answer('How fresh each tenant is');
    expect([first?.[0], first?.at(-1)]).toEqual(['dormant', 'stale']);
    const lately = others.find(([tenant]) => tenant === 'today');
    expect(lately?.at(-1)).toBe('fresh');
  });

  test('what was changed yesterday is counted by tenant', async () => {
    const counted = await answer('The changes of yesterday');
    expect(counted.find(([tenant]) => tenant === 'initech')?.slice(1, 4)).toEqual(['9', '1', '3']);
    expect(counted.filter(([tenant]) => tenant === 'today')).toEqual([]);
  });
});

function askAnything(query: string): Promise<string[][]> {
  return target.ask(`SELECT toJSONString(tuple(*)) FROM (${query})`);
}
