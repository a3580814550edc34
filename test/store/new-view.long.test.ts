import { join } from 'node:path';
import { expect, test } from 'vitest';
import { syncScene } from '../support/in-process.ts';
import { addBehind, copyProgram, generateMigration, runNode } from '../support/program-copy.ts';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

test('a view that changes alone reaches every mirror by the migration of "npm run db:views"', async () => {
  await using scene = await setScene({}, { exports: 3 });
  await syncScene(scene);
  const grown = join(scene.folder, 'docmirror');
  copyProgram(grown);
  const column = '\n    done.run_id AS last_completed_run_id,';
  addBehind(join(grown, 'src/store/tables/views.ts'), column, column.replace('last', 'newest'));
  await generateMigration(grown, 'db:views');
  const docmirror = (...args: string[]) =>
    runNode(scene.folder, [join(grown, 'src/cli.ts'), ...args], scene.env);
  expect(await docmirror('sync')).toMatchObject({ code: 0 });
  expect(await docmirror('verify')).toMatchObject({ code: 0 });
  const columns =
    "SELECT count(*) AS n FROM pragma_table_info('sync_status') WHERE name LIKE '%completed_run_id'";
  expect(sqlite(scene.database, columns)).toEqual([{ n: 2 }]);
});
