import { SqliteMirror } from '../../../src/store/write/mirror.ts';
import { syncScene } from '../../support/in-process.ts';
import { type Scene, setScene } from '../../support/scene.ts';
import { documentExport, type SampleItem, webhook } from '../../support/stand-in.ts';

const fullEveryMs = 3_600_000;

/**
 * A mirror with everything in it: updates, removals, returns, renames, duplicates, rejected records, fields that no column
 * names, and runs that were proven, incremental, partial, failed and interrupted.
 */
export async function fullMirror(): Promise<Scene> {
  const scene = await setScene({}, { exports: 40, collections: 6, webhooks: 4 });
  const { lists: at } = scene.service;
  const sync = (options = {}) => syncScene(scene, { pageSize: 5, retries: 0, ...options });
  at['document-exports'].push(documentExport(500), documentExport(500), documentExport(501, { pages: 12 }));
  at.webhooks.push('{"endpoint":"https://no.example/id","events":[]}');
  (at.collections[3] as SampleItem).colour = { name: 'red' };
  await sync();

  (at['document-exports'][3] as SampleItem).sourceDocumentTitle = 'Second';
  (at.collections[1] as SampleItem).name = 'Second';
  (at.collections[2] as SampleItem).sourceConnection = { id: 77, name: 'Only here', kind: 'x' };
  const gone = at.collections.splice(0, 1);
  at['document-exports'].splice(7, 1);
  at.webhooks.splice(0, 1);
  await sync();

  scene.service.options.status = { webhooks: 500 };
  at.collections.push(...gone);
  (at.collections[1] as SampleItem).sourceConnection = { id: 77, name: 'Renamed', kind: 'x' };
  await sync();
  scene.service.options.status = { webhooks: 500, collections: 500, 'document-exports': 500 };
  await sync();
  scene.service.options.status = {};
  await interrupted(scene);
  await sync();
  at['document-exports'].push(documentExport(600));
  at.webhooks.push(webhook(9, { events: ['a', 'b', 'c'] }));
  await sync({ fullEveryMs });
  return scene;
}

/** A run that died with its process, amid a list. */
async function interrupted({ database, service }: Scene): Promise<void> {
  const mirror = SqliteMirror.open(database);
  const startedAt = new Date().toISOString();
  const origin = { baseUrl: service.url, docmirrorVersion: 'test', actor: '' };
  await mirror.beginRun({ trigger: 'schedule', startedAt, ...origin });
  const { listOf } = await import('../../../src/contract/lists.ts');
  await mirror.openList(listOf('webhooks'), startedAt);
  mirror.close();
}
