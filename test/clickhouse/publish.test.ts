import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClickHouse } from '../../src/publish/clickhouse.ts';
import { ddlStatements, publishedTables } from '../../src/publish/tables.ts';
import { Engine } from './engine.ts';
import { ModelMirror, randomMirror, randomOf, randomSteps, type Step, sampleValue } from './model.ts';
import { expectPublished, publishedRuns, publishModel } from './oracle.ts';

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

const exported = (id: number, title: string): Step => ({
  resource: 'document-exports',
  id,
  values: [1, title, 'R-1', '1', 'invoice', 2, 'D-1', '2026-11-20T10:00:00Z'],
});
const named = (id: number, name: string): Step => ({ resource: 'connections', id, values: [name] });
const gone = (resource: string, id: number): Step => ({ resource, id, values: null });
const webhook = (id: number): Step => ({
  resource: 'webhooks',
  id,
  values: ['https://a.example', null, ['made', "it's"], [1, null, 2]],
  extra: '{"secret":1}',
});

describe('a publication', () => {
  test('brings over what each run did, run after run', async () => {
    await using target = await newTarget();
    const mirror = new ModelMirror();
    const publishNow = async () => {
      const publication = await publishModel(mirror, target);
      await expectPublished(target, mirror);
      return publication;
    };
    mirror.run([named(1, 'Archive'), named(2, 'Mail'), exported(1, 'a'), exported(2, 'b'), webhook(-5)]);
    expect(await publishNow()).toEqual({
      tenant: 'acme',
      mirrorId: mirror.mirrorId,
      fromRunId: 1,
      throughRunId: 1,
      runs: 1,
      rows: 5,
      changes: 5,
    });
    mirror.run([exported(1, 'changed'), webhook(-5)]);
    await publishNow();
    mirror.run([gone('document-exports', 2), gone('webhooks', -5)]);
    await publishNow();
    // A duplicate: another record that says the same.
    mirror.run([exported(3, 'changed'), exported(2, 'back')]);
    await publishNow();
    mirror.run([named(1, 'Files'), named(2, 'Letters')]);
    await publishNow();
    // A connection goes with one list and comes back with the next.
    mirror
      .run([gone('connections', 1), named(1, 'Files')])
      .run([])
      .run([gone('connections', 2)]);
    expect(await publishNow()).toMatchObject({ fromRunId: 6, throughRunId: 8, runs: 3, rows: 3, changes: 3 });
  });

  test('of many runs at once, or of some at a time, gives the same', async () => {
    await using target = await newTarget();
    for (const seed of [1, 2, 3]) {
      const mirror = randomMirror(seed, 9, 120);
      await publishModel(mirror, target, { tenant: `whole-${seed}` });
      await expectPublished(target, mirror, `whole-${seed}`);
      const growing = new ModelMirror();
      for (const run of mirror.runs) {
        growing.runs.push(run);
        if (run.runId % seed === 0) await publishModel(growing, target, { tenant: `parts-${seed}` });
      }
      await publishModel(growing, target, { tenant: `parts-${seed}` });
      await expectPublished(target, mirror, `parts-${seed}`);
    }
  });
});

describe('a tenant', () => {
  const other = 'b5b0c1d2-0000-4000-8000-000000000002';

  test('that another mirror has published is refused', async () => {
    await using target = await newTarget();
    const mirror = randomMirror(8, 2, 40);
    await publishModel(mirror, target);
    // Its runs began at the very same times.
    const foreign = new ModelMirror(other).run([exported(1, 'a')]).run([]);
    for (const again of [false, true]) {
      await expect(publishModel(foreign, target, { again })).rejects.toMatchObject({
        exitCode: 2,
        message: expect.stringContaining(`was published by another mirror, ${mirror.mirrorId}`),
      });
    }
    await expectPublished(target, mirror);
  });

  test('of a mirror that was restored to an earlier run is refused, and replaced whole with --again --replace-tenant', async () => {
    await using target = await newTarget();
    const neighbour = randomMirror(10, 3, 40);
    await publishModel(neighbour, target, { tenant: 'neighbour' });
    const mirror = randomMirror(9, 5, 40);
    await publishModel(mirror, target);
    const restored = mirror.restoredTo(3);
    await expect(publishModel(restored, target)).rejects.toMatchObject({ exitCode: 2 });
    // Also when it has gone on since, to as many runs.
    for (const title of ['x', 'y', 'z']) restored.run([exported(1, title)]);
    await expect(publishModel(restored, target)).rejects.toThrow(
      /restored to an earlier run.*--replace-tenant/,
    );
    await expectPublished(target, mirror);
    await publishModel(restored, target, { again: true, replaceTenant: true });
    await expectPublished(target, restored);
    await expectPublished(target, neighbour, 'neighbour');
  });

  test('is replaced also if the server drops blocks that it has seen before', async () => {
    await using target = await newTarget();
    for (const { name } of publishedTables)
      await target.command(`ALTER TABLE ${name} MODIFY SETTING non_replicated_deduplication_window = 100`);
    const mirror = randomMirror(13, 3, 40);
    await publishModel(mirror, target);
    await publishModel(mirror, target, { again: true, replaceTenant: true });
    await expectPublished(target, mirror);
  });
});

describe('a difference', () => {
  const tampering: [what: string, statement: string, healedBy: 'again' | 'replacement'][] = [
    ['a row is gone', 'ALTER TABLE document_exports_rows DELETE WHERE id = 1', 'again'],
    [
      'a row says something else',
      'INSERT INTO document_exports_rows SELECT * REPLACE (7 AS content) FROM document_exports_rows WHERE id = 1',
      'again',
    ],
    [
      'a removed record stands',
      "INSERT INTO collections_rows (tenant, id, content, version, removed) VALUES ('acme', 1, 5, 99, 0)",
      'replacement',
    ],
  ];

  test.each(tampering)('if %s is found, and mended', async (_what, statement, healedBy) => {
    await using target = await newTarget();
    const mirror = new ModelMirror().run([
      named(1, 'Archive'),
      exported(1, 'a'),
      exported(2, 'b'),
      webhook(3),
    ]);
    await publishModel(mirror, target);
    await target.command(statement);
    await expect(publishModel(mirror, target)).rejects.toMatchObject({
      exitCode: 4,
      message: expect.stringContaining('does not have what the mirror'),
    });
    mirror.run([exported(4, 'd')]);
    await expect(publishModel(mirror, target)).rejects.toMatchObject({ exitCode: 4 });
    expect(await publishedRuns(target)).toEqual([1]);
    const replaceTenant = healedBy === 'replacement';
    if (replaceTenant)
      await expect(publishModel(mirror, target, { again: true })).rejects.toMatchObject({ exitCode: 4 });
    await publishModel(mirror, target, { again: true, replaceTenant });
    await expectPublished(target, mirror);
  });

  test('between the mirror and what arrived of its changes is found', async () => {
    await using target = await newTarget();
    // A key that takes two changes for one.
    await target.command('DROP TABLE changes');
    const broken = ddlStatements(target.database)
      .filter(statement => statement.includes('`changes` ('))
      .map(statement => statement.replace(', operation)', ')'));
    for (const statement of broken) await target.command(statement);
    const mirror = new ModelMirror().run([named(1, 'a')]).run([gone('connections', 1), named(1, 'a')]);
    await expect(publishModel(mirror, target)).rejects.toThrow('changes: 2 there, 3 sent');
  });
});

describe('a server', () => {
  const mirror = new ModelMirror().run([exported(1, 'a')]);

  test('without the database names the command that makes it', async () => {
    const target = engine.client('nowhere');
    await expect(publishModel(mirror, target)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('--print-ddl --target-database nowhere'),
    });
    await target.close();
  });

  test.each([
    ['a table is missing', 'DROP TABLE published_runs', 'no published_runs.tenant'],
    ['a column is missing', 'ALTER TABLE document_exports_rows DROP COLUMN exported_at', 'exported_at'],
    [
      'a column is another',
      "ALTER TABLE collections_rows MODIFY COLUMN _extra String DEFAULT ''",
      'collections_rows._extra is String, not Nullable(String)',
    ],
  ])(
    'where %s is refused in words; its statements, run again, may mend it',
    async (_what, statement, said) => {
      await using target = await newTarget();
      await target.command(statement);
      await target.command("ALTER TABLE changes ADD COLUMN note String DEFAULT 'of others'");
      await expect(publishModel(mirror, target)).rejects.toMatchObject({
        exitCode: 2,
        message: expect.stringContaining(said),
      });
      for (const ddl of ddlStatements(target.database)) await target.command(ddl);
      if (!said.includes('Nullable')) {
        await publishModel(mirror, target);
        await expectPublished(target, mirror);
      }
    },
  );

  test('that refuses the password or the user ends it with 2, and the password is not said', async () => {
    await using guarded = await Engine.start('right-password');
    const database = await guarded.database();
    for (const options of [{ password: 'wrong-secret' }, { user: 'nobody' }]) {
      const target = guarded.client(database, options);
      const refused: Promise<unknown> = publishModel(mirror, target);
      await expect(refused).rejects.toMatchObject({
        exitCode: 2,
        message: expect.stringMatching(/refused the user.*DOCMIRROR_CLICKHOUSE_PASSWORD/),
      });
      await expect(refused).rejects.not.toThrow(/wrong-secret/);
      await target.close();
    }
    const target = guarded.client(database);
    await publishModel(mirror, target);
    await target.close();
  });
});

describe('two publishers', () => {
  test('at once, of the same and of different runs, leave every row once', async () => {
    await using first = await newTarget();
    await using second = Object.assign(engine.client(first.database), {
      [Symbol.asyncDispose]: () => second.close(),
    });
    const random = randomOf(14);
    const mirror = new ModelMirror();
    for (let round = 1; round <= 12; round++) {
      for (let runs = 0; runs <= random() * 3; runs++) mirror.run(randomSteps(random, 40));
      const early = publishModel(mirror, first);
      // A run ends while the first one is at it; the second one knows it from the start.
      if (random() < 0.7) mirror.run(randomSteps(random, 40));
      await Promise.all([early, publishModel(mirror, second)]);
    }
    await publishModel(mirror, first);
    await expectPublished(first, mirror);
  });

  test('go on with new runs if one overtakes the other', async () => {
    await using target = await newTarget();
    const mirror = randomMirror(15, 4, 60);
    const ahead = new ModelMirror();
    ahead.runs.push(...mirror.runs);
    const behind = new ModelMirror();
    behind.runs.push(...mirror.runs.slice(0, 2));
    const states = [behind, ahead];
    // Rows of all runs are there, none is written down: the other one was cut off.
    await publishModel(ahead, target);
    await target.command('TRUNCATE TABLE published_runs');
    const open = () => (states.length > 1 ? (states.shift() ?? ahead) : ahead).open();
    expect(await publishModel({ open }, target)).toMatchObject({ fromRunId: 1, throughRunId: 4, runs: 4 });
    await expectPublished(target, mirror);
  });
});

test('values of every type come through as they are', async () => {
  await using target = await newTarget();
  const mirror = new ModelMirror();
  const bigIds = [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0, -1];
  mirror.run(
    publishedTables.flatMap(({ resource, fields }) =>
      bigIds.map(
        (id, at): Step => ({
          resource,
          id,
          values: fields.map(({ type }) => (type === 'Nullable(Int64)' ? id : sampleValue(type, at))),
        }),
      ),
    ),
  );
  await publishModel(mirror, target);
  await expectPublished(target, mirror);
});
