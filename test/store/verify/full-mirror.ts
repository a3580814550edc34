import Database from 'better-sqlite3';
import { erase } from '../../../src/store/write/erase.ts';
import { SqliteMirror } from '../../../src/store/write/mirror.ts';
import { syncScene } from '../../support/in-process.ts';
import { type Scene, setScene } from '../../support/scene.ts';
import { documentExport, type SampleItem, webhook } from '../../support/stand-in.ts';
import { tamper } from './tamper.ts';

const fullEveryMs = 3_600_000;

/**
 * A mirror with everything in it: updates, removals, returns, renames, duplicates, rejected records, fields that no column
 * names, and runs that were proven, partial, failed and interrupted.
 */
export async function fullMirror(): Promise<Scene> {
  const scene = await setScene({}, { exports: 40, collections: 6, webhooks: 4 });
  const { lists: at } = scene.service;
  const sync = (options = {}) => syncScene(scene, { pageSize: 20, giveUpAfterMs: 0, ...options });
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

/**
 * The same mirror after an erasure of texts, before and after old versions were deleted, and rebuilt after another program altered
 * it.
 *
 * @param eachStep called with the mirror after each of these.
 */
export async function wornMirror(eachStep: (path: string, step: string) => Promise<void>): Promise<Scene> {
  const scene = await fullMirror();
  const { database, service } = scene;
  const { lists: at } = service;
  const step = async (name: string, work: () => unknown) => {
    await work();
    await eachStep(database, name);
  };
  const change = async (name: string) => {
    for (const place of [1, 2, 4]) (at.collections[place] as SampleItem).name = name;
    (at.webhooks[1] as SampleItem).description = name;
    (at['document-exports'][5] as SampleItem).sourceDocumentTitle = name;
    at['document-exports'].splice(9, 1);
    at['document-exports'].push(documentExport(700 + at['document-exports'].length));
    await syncScene(scene, { allowMassRemoval: true });
  };
  const eraseEnded = (resource: 'collections' | 'document-exports') => {
    const ended = 'SELECT record_id AS id FROM record_history WHERE resource = ? AND record IS NOT NULL';
    const mirror = new Database(database, { readonly: true });
    const recordId = Number(mirror.prepare<[string], number>(ended).pluck().get(resource));
    mirror.close();
    erase(database, { resource, recordId, actor: 'test', at: new Date().toISOString() });
  };
  await step('erase', () => eraseEnded('collections'));
  await step('prune', () => syncScene(scene, { keepHistoryMs: 0 }));
  await step('change', () => change('Fourth'));
  tamper(
    database,
    "UPDATE collections SET name = 'by others' WHERE id IN (3, 6); DELETE FROM webhooks WHERE id = 4",
  );
  // The service lists one of them no more, and its last version in the history ended by an update.
  at.collections.splice(
    at.collections.findIndex(item => (item as SampleItem).id === 6),
    1,
  );
  await step('rebuild', () => syncScene(scene, { mayRebuild: true }));
  await step('change again', () => change('Fifth'));
  await step('erase again', () => eraseEnded('document-exports'));
  await step('change at last', () => change('Sixth'));
  return scene;
}

/** A run that died with its process, in the middle of a list. */
async function interrupted({ database, service }: Scene): Promise<void> {
  const mirror = SqliteMirror.open(database, new AbortController());
  const startedAt = new Date().toISOString();
  const origin = { baseUrl: service.url, docmirrorVersion: 'test', actor: '' };
  await mirror.beginRun({ trigger: 'schedule', startedAt, ...origin });
  const { listOf } = await import('../../../src/contract/lists.ts');
  await mirror.openList(listOf('webhooks'), startedAt);
  mirror.close();
}
