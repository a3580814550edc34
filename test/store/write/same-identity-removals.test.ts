import { expect, test } from 'vitest';
import { sqlite } from '../../support/run-cli.ts';
import { make, setScene } from '../../support/scene.ts';
import { documentExport } from '../../support/stand-in.ts';

test('removals that leave another row of the same identity can be too many, too', async () => {
  await using scene = await setScene();
  const first = make(40, n => documentExport(n));
  const second = make(40, n => documentExport(n, { language: 'de' }));
  scene.service.lists['document-exports'] = first.flatMap((item, at) => [item, second[at] ?? item]);
  expect((await scene.sync()).of('document-exports')).toMatchObject({ inserted: 80 });
  // 30 are more than 1 %, and more than the 20 that can always go.
  scene.service.lists['document-exports'] = [...first, ...second.slice(30)];
  const withheld = await scene.sync('--full', '--max-removals', '1%');
  expect(withheld.code).toBe(3);
  expect(withheld.of('document-exports')).toMatchObject({ removed: 0, removalsWithheld: 30 });
  expect((await scene.sync('--full', '--allow-mass-removal')).of('document-exports')).toMatchObject({
    completeness: 'proven',
    removed: 30,
  });
  expect(sqlite(scene.database, 'SELECT count(*) AS n FROM document_exports')).toEqual([{ n: 50 }]);
});
