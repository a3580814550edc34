import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { mirrored } from '../support/oracle.ts';
import { type RunningCli, runCli, spawnCli, sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';
import { collection, documentExport, webhook } from '../support/stand-in.ts';

async function addressOf({ child }: RunningCli): Promise<string> {
  if (child.stdout === null) throw new Error('no standard output');
  const [line] = await once(createInterface(child.stdout), 'line');
  return String(line).split(' ').at(-1) as string;
}

test('a mirror that is served and mirrored again has the same lists, record for record', async () => {
  await using scene = await setScene({ maxPageSize: 100 }, { exports: 2_345, collections: 40, webhooks: 12 });
  const { lists } = scene.service;
  lists['document-exports'].splice(7, 0, documentExport(7), documentExport(7));
  lists['document-exports'].push({
    sourceDocumentTitle: 'NUL \0 and 😀',
    colour: [1, { '2': 'x' }],
  });
  lists['document-exports'].push(
    documentExport(9_000, { sourceConnection: { name: 'without an id' }, exportedAt: null }),
  );
  lists.collections.push({ id: 900 }, collection(901, { note: '"quoted"' }));
  lists.webhooks.push(webhook(900, { events: [], connections: null }));
  expect(await scene.sync()).toMatchObject({ code: 0 });

  await using served = spawnCli([
    'serve',
    '--port',
    '0',
    '--token',
    'second-token',
    '--database',
    scene.database,
  ]);
  const second = join(scene.folder, 'second.sqlite');
  const env = {
    DOCMIRROR_BASE_URL: await addressOf(served),
    DOCMIRROR_TOKEN: 'second-token',
    DOCMIRROR_DATABASE: second,
  };
  expect(await runCli(['sync'], { env })).toMatchObject({ code: 0 });

  for (const resource of Object.keys(lists))
    expect(mirrored(second, resource), resource).toEqual(mirrored(scene.database, resource));
  const all = 'SELECT * FROM connections ORDER BY id';
  const names = (path: string) => sqlite(path, all).map(({ id, name, _extra }) => ({ id, name, _extra }));
  expect(names(second)).toEqual(names(scene.database));
  // Beside what the service sends, each export has the id that it has in the first mirror.
  const furtherFields = (path: string) =>
    sqlite(
      path,
      "SELECT json_remove(coalesce(_extra, '{}'), '$._id') AS rest FROM document_exports ORDER BY 1",
    );
  expect(furtherFields(second)).toEqual(furtherFields(scene.database));
  const ids = sqlite(second, "SELECT _extra ->> '$._id' AS id FROM document_exports ORDER BY 1");
  expect(ids).toEqual(sqlite(scene.database, 'SELECT id FROM document_exports ORDER BY 1'));
});
