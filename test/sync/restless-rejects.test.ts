import { expect, test } from 'vitest';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';
import { documentExport } from '../support/stand-in.ts';

// A record that can't be read can have another text in each answer, for example a signed address.

const nights = 4;
const count = 400;

test('400 records that can not be read, with other texts in each answer, are 400 rows after each night', async () => {
  let answer = 0;
  await using scene = await setScene({ maxPageSize: 100 }, { exports: 0 });
  const { lists } = scene.service;
  const restless = () => {
    answer++;
    lists['document-exports'] = Array.from({ length: count }, (_, n) =>
      documentExport(n + 1, {
        sourceDocumentVersion: n as never,
        sourceDocumentTitle: `https://files.example.com/${n}?signature=${answer}`,
      }),
    );
  };
  scene.service.options.faults = () => {
    restless();
    return undefined;
  };
  restless();
  for (let night = 1; night <= nights; night++) {
    const synced = await scene.sync();
    expect(synced).toMatchObject({ code: 3 });
    expect(synced.of('document-exports')).toMatchObject({ rejected: count, completeness: 'proven' });
    expect(
      sqlite(
        scene.database,
        'SELECT count(*) AS n, min(run_id) AS first, max(run_id) AS last FROM rejected_records',
      ),
    ).toEqual([{ n: count, first: 1, last: 1 }]);
    expect(
      sqlite(scene.database, `SELECT count(*) AS n FROM rejected_records WHERE last_run_id = ${night}`),
    ).toEqual([{ n: count }]);
  }
  expect(answer).toBeGreaterThan(nights * 2);
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
});

test('--allow-mass-removal removes what is gone beside a record that can not be read', async () => {
  await using scene = await setScene({}, { exports: 30 });
  await scene.sync();
  const { lists } = scene.service;
  lists.collections.push('{"id":"odd"}' as never);
  lists.collections.splice(0, 2);
  const [held, removed] = [await scene.sync(), await scene.sync('--allow-mass-removal')];
  expect(held.of('collections')).toMatchObject({ removed: 0, removalsWithheld: 2 });
  expect(removed.of('collections')).toMatchObject({ removed: 2, removalsWithheld: 0, rejected: 1 });
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
});

test('an ignored field makes no other record of one that has no identity', async () => {
  await using scene = await setScene();
  const env = '--ignore-fields';
  const { lists } = scene.service;
  for (const night of [1, 2, 3]) {
    lists.collections = [
      ...lists.collections.filter(each => typeof each !== 'string'),
      `{"id":"odd","seen":${night}}` as never,
    ];
    if (night === 3) lists.collections.unshift(...lists.collections.splice(-1));
    await scene.run('sync', env, 'collections.seen');
  }
  expect(sqlite(scene.database, 'SELECT count(*) AS n FROM rejected_records')).toEqual([{ n: 1 }]);
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
});
