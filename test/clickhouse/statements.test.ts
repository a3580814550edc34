import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClickHouse } from '../../src/publish/clickhouse.ts';
import { ddlStatements } from '../../src/publish/tables.ts';
import { Engine } from './engine.ts';
import { ModelMirror, randomMirror, type Step } from './model.ts';
import { publishModel } from './oracle.ts';

const hourMs = 60 * 60 * 1000;
const dayMs = 24 * hourMs;

let engine: Engine;
let target: ClickHouse;

beforeAll(async () => {
  engine = await Engine.start();
  target = engine.client(await engine.database());
  await publishModel(randomMirror(41, 4, 100), target, { tenant: 'acme' });
  await publishModel(randomMirror(42, 6, 100), target, { tenant: 'globex' });
  await publishModel(mirrorOfYesterday(), target, { tenant: 'initech' });
  const today = new ModelMirror('a5b0c1d2-0000-4000-8000-000000000005', Date.now() - hourMs);
  await publishModel(today.run([collectionOf(1, 'one')]), target, { tenant: 'today' });
});

function collectionOf(id: number, name: string): Step {
  return { resource: 'collections', id, values: [name, 1, 2] };
}

/** Two runs yesterday: three records come, then one changes and one goes. */
function mirrorOfYesterday(): ModelMirror {
  const startMs = Math.floor(Date.now() / dayMs) * dayMs - dayMs;
  const mirror = new ModelMirror('a5b0c1d2-0000-4000-8000-000000000003', startMs);
  return mirror
    .run([collectionOf(1, 'one'), collectionOf(2, 'two'), collectionOf(3, 'three')])
    .run([collectionOf(1, 'One'), { resource: 'collections', id: 2, values: null }]);
}

afterAll(async () => {
  await target.close();
  await engine[Symbol.asyncDispose]();
});

test('the statements that make the tables can be run again, and change nothing', async () => {
  const shape =
    'SELECT table, name, type FROM system.columns WHERE database = {database:String} ORDER BY ALL';
  const { database } = target;
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
    await publishModel(new ModelMirror('a5b0c1d2-0000-4000-8000-000000000004', 0).run([]), target, {
      tenant: 'dormant',
    });
    const [first, ...others] = await answer('How fresh each tenant is');
    expect([first?.[0], first?.at(-1)]).toEqual(['dormant', 'stale']);
    const lately = others.find(([tenant]) => tenant === 'today');
    expect(lately?.at(-1)).toBe('fresh');
  });

  test('what was changed yesterday is counted by tenant', async () => {
    const counted = await answer('The changes of yesterday');
    expect(counted.find(([tenant]) => tenant === 'initech')?.slice(1, 4)).toEqual(['3', '1', '1']);
    expect(counted.filter(([tenant]) => tenant === 'today')).toEqual([]);
  });
});

function askAnything(query: string): Promise<string[][]> {
  return target.ask(`SELECT toJSONString(tuple(*)) FROM (${query})`);
}
