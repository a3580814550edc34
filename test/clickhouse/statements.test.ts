import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClickHouse } from '../../src/publish/clickhouse.ts';
import { ddlStatements } from '../../src/publish/ddl.ts';
import { publishedTables, targetTables } from '../../src/publish/tables.ts';
import { Engine } from './engine.ts';
import { randomMirror } from './model.ts';
import { publishModel } from './oracle.ts';

let engine: Engine;
let target: ClickHouse;

beforeAll(async () => {
  engine = await Engine.start();
  target = engine.client(await engine.database());
  await publishModel(randomMirror(41, 4, 100), target, { tenant: 'acme' });
  await publishModel(randomMirror(42, 6, 100), target, { tenant: 'globex' });
});

afterAll(async () => {
  await target.close();
  await engine[Symbol.asyncDispose]();
});

test('the statements that make the tables can be run again, and change nothing', async () => {
  const shape =
    'SELECT table, name, type FROM system.columns WHERE database = {database:String} ORDER BY ALL';
  const { database } = target;
  const before = await target.ask(shape, { database });
  for (const statement of ddlStatements({ database, cluster: null })) await target.command(statement);
  expect(await target.ask(shape, { database })).toEqual(before);
});

test('names of databases and clusters may hold what has to be quoted', async () => {
  const database = 'a `strange\\ name';
  for (const statement of ddlStatements({ database, cluster: null })) await target.command(statement);
  const found = await target.ask('SELECT name FROM system.tables WHERE database = {database:String}', {
    database,
  });
  expect(found.length).toBe(targetTables.length + publishedTables.length);
  await target.command('DROP DATABASE `a \\`strange\\\\ name`');
});

describe('for a cluster', () => {
  const statements = ddlStatements({ database: 'docmirror', cluster: 'main `1`' });

  test.each(statements.map(statement => [statement.split('\n')[0] ?? '', statement]))(
    'the engine reads: %s',
    async (_first, statement) => {
      expect(await explained(statement)).toMatch(/^(Create|Alter)Query/);
      expect(statement).toContain('ON CLUSTER `main \\`1\\``');
    },
  );

  test('each table is there twice: replicated on each server, and distributed by tenant', () => {
    for (const { name } of targetTables) {
      const made = statements.filter(
        statement => statement.startsWith('CREATE TABLE') && statement.includes(`\`${name}`),
      );
      expect(made.map(statement => /ENGINE = (\w+)/.exec(statement)?.[1])).toEqual([
        'ReplicatedReplacingMergeTree',
        'Distributed',
      ]);
    }
    expect(statements.filter(statement => statement.startsWith('CREATE OR REPLACE VIEW'))).toHaveLength(4);
  });

  test('what the engine can not read fails', async () => {
    await expect(target.ask('EXPLAIN AST CREATE TABLE t (a Int64) ENGINE ORDER ORDER')).rejects.toThrow();
  });
});

/** The syntax tree, or the error. */
async function explained(statement: string): Promise<string> {
  return (await fetch(engine.url, { method: 'POST', body: `EXPLAIN AST ${statement}` })).text();
}

describe('the documentation', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/beyond-one-machine.md'), 'utf8');
  const blocks = [...text.matchAll(/```sql-clickhouse\n(.*?)```/gs)].map(([, sql = '']) => sql);
  const queries = blocks.map(sql => [/^-- (.*)$/m.exec(sql)?.[1] ?? sql.slice(0, 60), sql] as const);

  test('has statements, and each says what it asks', () => {
    expect(queries.length).toBeGreaterThan(5);
    expect(blocks.filter(sql => !sql.startsWith('-- '))).toEqual([]);
  });

  test.each(queries)('%s', async (_name, sql) => {
    for (const statement of sql.split(/;\s*$/m).filter(part => part.trim() !== '')) {
      if (/^\s*(--.*\s)*(SELECT|WITH)/.test(statement))
        expect((await askAnything(statement)).length).toBeGreaterThan(0);
      else await target.command(statement);
    }
  });
});

function askAnything(query: string): Promise<string[][]> {
  return target.ask(`SELECT toJSONString(tuple(*)) FROM (${query})`);
}
