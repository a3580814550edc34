import { expect, test } from 'vitest';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

// A cache between docmirror and the service can answer, and says by `Age` for how many seconds it has kept an answer.

test('a list that a cache has kept for a day is not proven, and nothing goes', async () => {
  await using scene = await setScene({ maxPageSize: 50 });
  await scene.sync();
  scene.service.lists['document-exports'].splice(40, 2);
  scene.service.options.headers = () => ({ age: '86400' });
  const cached = await scene.sync('--full');
  expect({ code: cached.code, ...cached.of('document-exports') }).toMatchObject({
    code: 3,
    completeness: 'unproven',
    removed: 0,
    reason: expect.stringMatching(/a cache .* 24 hours older than the run/),
  });
  expect(sqlite(scene.database, 'SELECT count(*) AS n FROM document_exports')).toEqual([{ n: 130 }]);
  scene.service.options.headers = undefined;
  const next = await scene.sync('--full');
  expect({ code: next.code, ...next.of('document-exports') }).toMatchObject({ code: 0, removed: 2 });
});

test('one that a cache has kept for a minute is proven, as of a minute ago', async () => {
  await using scene = await setScene({ maxPageSize: 50 });
  scene.service.options.headers = () => ({ age: '60' });
  const { code, of } = await scene.sync();
  expect({ code, ...of('document-exports') }).toMatchObject({ code: 0, completeness: 'proven' });
  const { startedAt, readSince } = of('document-exports');
  const ageMs = Date.parse(String(startedAt)) - Date.parse(String(readSince));
  expect(ageMs).toBeGreaterThan(50_000);
  expect(ageMs).toBeLessThan(70_000);
});
