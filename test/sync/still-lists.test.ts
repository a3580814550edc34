import { expect, test } from 'vitest';
import { expectExactMirror } from '../support/oracle.ts';
import { setScene } from '../support/scene.ts';
import type { StandInOptions } from '../support/stand-in.ts';

test('a record that is gone from a list on one page is removed in the same run if only one page size is served', async () => {
  await using scene = await setScene(oneSize, { exports: 15 });
  await scene.sync();
  scene.service.lists['document-exports'].splice(4, 1);
  const first = await scene.sync('--full');
  expect(first.of('document-exports')).toMatchObject({ completeness: 'proven', removed: 1 });
});

test('an export that is on two pages is there twice, although the pages by themselves are in order', async () => {
  await using scene = await setScene({ maxPageSize: 60 }, { exports: 82 });
  const exports = scene.service.lists['document-exports'];
  exports[60] = { ...(exports[0] as object) };
  await scene.sync();
  expectExactMirror(scene.database, scene.service);
});

const refused = { kind: 'status', status: 400 } as const;
/** A service that serves pages of 20 records only. */
const oneSize: Partial<StandInOptions> = {
  maxPageSize: 20,
  faults: ({ pageSize }) => (pageSize === 20 || pageSize === 1000 ? undefined : refused),
};
