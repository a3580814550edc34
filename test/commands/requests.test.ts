import { expect, test } from 'vitest';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

const query = 'includeArchived=true&tenant=a%20b';

test('parameters go with each request, are recorded, and belong to the mirror as its address does', async () => {
  await using scene = await setScene();
  const asked: string[] = [];
  scene.service.onRequest = ({ search }) => {
    asked.push(search.slice(1));
  };
  const first = await scene.run('sync', '--query', query, '--json', '--log-level', 'trace');
  expect(first.code, first.stderr).toBe(0);
  expect(asked.length).toBeGreaterThan(3);
  for (const search of asked) expect(search).toMatch(/(^|&)includeArchived=true&tenant=a%20b$/);
  expect(first.stdout + first.stderr).not.toMatch(/a%20b/);
  expect(sqlite(scene.database, 'SELECT query FROM sync_runs')).toEqual([{ query }]);
  expect(JSON.stringify(sqlite(scene.database, 'SELECT receipt FROM sync_receipts'))).not.toMatch(/a%20b/);
  expect(await scene.run('verify')).toMatchObject({ code: 0 });
  for (const other of [[], ['--query', 'includeArchived=true']]) {
    const refused = await scene.run('sync', ...other);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/DOCMIRROR_QUERY.*\[settings\]/s),
    });
  }
  expect(sqlite(scene.database, 'SELECT id FROM sync_runs')).toHaveLength(1);
  expect(await scene.run('sync', '--query', 'tenant=c', '--accept-new-base-url')).toMatchObject({ code: 0 });
  expect(await scene.run('sync', '--query', 'tenant=c')).toMatchObject({ code: 0 });
});

test('a mirror that was made without parameters is refused with some', async () => {
  await using scene = await setScene();
  expect(await scene.run('sync')).toMatchObject({ code: 0 });
  expect(await scene.run('sync', '--query', query)).toMatchObject({ code: 2 });
});

test.each(['?a=b', 'a', 'a=b c', 'a=b#c', 'pageNo=3', 'a=b&pageSize=5', 'a=b&'])(
  'the parameters %j are refused',
  async text => {
    await using scene = await setScene();
    const refused = await scene.run('sync', '--query', text);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--query') });
  },
);
