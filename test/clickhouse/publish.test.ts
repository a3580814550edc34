import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClickHouse } from '../../src/publish/clickhouse.ts';
import { ddlStatements, publishedTables } from '../../src/publish/tables.ts';
import { Engine } from './engine.ts';
import { expectPublished, publishedRuns, publishMirror, setChanging } from './mirrors.ts';

let engine: Engine;

beforeAll(async () => {
  engine = await Engine.start();
});

afterAll(() => engine[Symbol.asyncDispose]());

/** A client of a new database with docmirror's tables; it is closed with the test. */
async function newTarget(): Promise<ClickHouse & AsyncDisposable> {
  const target = engine.client(await engine.database());
  return Object.assign(target, { [Symbol.asyncDispose]: () => target.close() });
}

test('a publication of many runs at once, or of some at a time, gives the same', async () => {
  await using target = await newTarget();
  await using mirror = await setChanging(1, 0);
  for (let run = 1; run <= 7; run++) {
    await mirror.goOn();
    if (run % 2 === 0) await publishMirror(mirror, target, { tenant: 'parts' });
  }
  for (const tenant of ['parts', 'whole']) {
    await publishMirror(mirror, target, { tenant });
    await expectPublished(target, mirror, tenant);
  }
});

describe('a tenant', () => {
  test('of a mirror that was restored to an earlier run is refused, and replaced whole with --again --replace-tenant', async () => {
    await using target = await newTarget();
    await using mirror = await setChanging(9, 2);
    await publishMirror(mirror, target, { tenant: 'neighbour' });
    const backup = join(mirror.folder, 'backup.sqlite');
    copyFileSync(mirror.database, backup);
    await mirror.goOn();
    await publishMirror(mirror, target);
    copyFileSync(backup, mirror.database);
    await expect(publishMirror(mirror, target)).rejects.toMatchObject({ exitCode: 2 });
    // Also when it has gone on since, to as many runs.
    await mirror.goOn();
    await expect(publishMirror(mirror, target)).rejects.toThrow(
      /restored to an earlier run.*--replace-tenant/,
    );
    await publishMirror(mirror, target, { again: true, replaceTenant: true });
    await expectPublished(target, mirror);
    expect(await publishedRuns(target, 'neighbour')).toEqual([1, 2]);
  });

  test('is replaced also if the server drops blocks that it has seen before', async () => {
    await using target = await newTarget();
    for (const { name } of publishedTables)
      await target.command(`ALTER TABLE ${name} MODIFY SETTING non_replicated_deduplication_window = 100`);
    await using mirror = await setChanging(13, 2);
    await publishMirror(mirror, target);
    await publishMirror(mirror, target, { again: true, replaceTenant: true });
    await expectPublished(target, mirror);
  });
});

test.each<[what: string, statement: string, healedBy: 'again' | 'replacement']>([
  ['a row is gone', 'ALTER TABLE collections_rows DELETE WHERE id = 9', 'again'],
  [
    'a row says something else',
    'INSERT INTO collections_rows SELECT * REPLACE (7 AS content) FROM collections_rows WHERE id = 9',
    'again',
  ],
  [
    'a removed record stands',
    "INSERT INTO collections_rows (tenant, id, content, version, removed) VALUES ('acme', 77, 5, 99, 0)",
    'replacement',
  ],
])('if %s, it is found, and mended', async (_what, statement, healedBy) => {
  await using target = await newTarget();
  await using mirror = await setChanging(2, 1);
  await publishMirror(mirror, target);
  await target.command(statement);
  await expect(publishMirror(mirror, target)).rejects.toMatchObject({
    exitCode: 4,
    message: expect.stringContaining('does not have what the mirror'),
  });
  mirror.service.lists.collections.reverse();
  await mirror.goOn();
  await expect(publishMirror(mirror, target)).rejects.toMatchObject({ exitCode: 4 });
  expect(await publishedRuns(target)).toEqual([1]);
  const replaceTenant = healedBy === 'replacement';
  if (replaceTenant)
    await expect(publishMirror(mirror, target, { again: true })).rejects.toMatchObject({ exitCode: 4 });
  await publishMirror(mirror, target, { again: true, replaceTenant });
  await expectPublished(target, mirror);
});

describe('a server', () => {
  test('without the database names the command that makes it', async () => {
    const target = engine.client('nowhere');
    await using mirror = await setChanging(3, 1);
    await expect(publishMirror(mirror, target)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('--print-ddl --target-database nowhere'),
    });
    await target.close();
  });

  test.each([
    ['a table is missing', 'DROP TABLE published_runs', 'published_runs'],
    ['a column is missing', 'ALTER TABLE document_exports_rows DROP COLUMN exported_at', 'exported_at'],
  ])('where %s is refused in words; its statements, run again, mend it', async (_what, statement, said) => {
    await using target = await newTarget();
    await using mirror = await setChanging(4, 1);
    await target.command(statement);
    await target.command("ALTER TABLE changes ADD COLUMN note String DEFAULT 'of others'");
    await expect(publishMirror(mirror, target)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(said),
    });
    for (const ddl of ddlStatements(target.options.database)) await target.command(ddl);
    await publishMirror(mirror, target);
    await expectPublished(target, mirror);
  });
});

test('two publishers at once, of the same and of different runs, leave every row once', async () => {
  await using first = await newTarget();
  await using second = Object.assign(engine.client(first.options.database), {
    [Symbol.asyncDispose]: () => second.close(),
  });
  await using mirror = await setChanging(14, 1);
  for (let round = 1; round <= 10; round++) {
    const early = publishMirror(mirror, first);
    // A run ends while the first one is at it; the second one knows it from the start.
    if (round % 3 > 0) await mirror.goOn();
    await Promise.all([early, publishMirror(mirror, second)]);
  }
  await publishMirror(mirror, first);
  await expectPublished(first, mirror);
});
