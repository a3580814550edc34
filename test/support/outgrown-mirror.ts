import { syncScene } from './in-process.ts';
import { make } from './scene.ts';
import {
  collection,
  connection,
  documentExport,
  type SampleItem,
  type StandIn,
  startStandIn,
  webhook,
} from './stand-in.ts';

/** A mirror whose service has fields that no column names, and that service. */
export interface Outgrown extends AsyncDisposable {
  readonly path: string;
  readonly service: StandIn;
}

/** Makes a run over the service. Any number of records can be removed, and no request is tried again. */
type Sync = (service: StandIn, options: { readonly fullEveryMs?: number }) => Promise<unknown>;

/**
 * Makes a mirror with each kind of row that an upgrade must carry over. The service sends `language`, `pageTotal` and
 * `reviewerConnection`, in values that fit a column of that kind and in values that don't.
 */
export async function makeOutgrownMirror(
  path: string,
  run: Sync = (of, options) =>
    syncScene({ service: of, database: path }, { allowMassRemoval: true, giveUpAfterMs: 0, ...options }),
): Promise<Outgrown> {
  const service = await startStandIn({ maxPageSize: 10 });
  const { lists } = service;
  const exportAt = (at: number) => lists['document-exports'][at] as SampleItem;
  const sync = (options = {}) => run(service, options);

  // Run 1: everything is new.
  lists['document-exports'] = make(130, exportWithNewFields);
  putOddExports(lists['document-exports']);
  lists.collections = make(7, n => collection(n, n === 2 ? { ownerConnection: connection(950) } : {}));
  lists.webhooks = make(3, n => webhook(n));
  await sync();

  // Run 2: removals, updates, identical records, a renamed connection.
  lists['document-exports'].splice(20, 5);
  exportAt(0).sourceDocumentTitle = 'A new title';
  exportAt(7).language = 'fr';
  for (const n of [500, 500, 501, 501]) lists['document-exports'].push(documentExport(n));
  lists.collections.splice(4, 1);
  const renamed = { id: 2, name: 'Connection 2, renamed' };
  Object.assign(lists.collections[0] as SampleItem, { name: 'Renamed', sourceConnection: renamed });
  (lists.webhooks[1] as SampleItem).events = [];
  (lists.webhooks[2] as SampleItem).connections = [null, connection(3)];
  await sync();

  // Run 3: records that can't be read. Run 4: without them, everything is proven again.
  lists.collections.push({ ...collection(40), id: 'forty' }, '{"id":9007199254740993,"name":"beyond"}');
  await sync();
  lists.collections.splice(-2);
  await sync();

  // Run 5: the list has grown. Run 6: one list fails.
  lists['document-exports'].push(documentExport(600, { language: 'it', pageTotal: 3 }));
  await sync({ fullEveryMs: 86_400_000 });
  service.options.status = { webhooks: 500 };
  await sync();
  service.options.status = {};
  return { path, service, [Symbol.asyncDispose]: () => service.close() };
}

function exportWithNewFields(n: number): SampleItem {
  return documentExport(n, {
    ...(n % 4 === 0 ? { language: n % 8 === 0 ? 'de' : null } : {}),
    ...(n % 5 === 0 ? { pageTotal: n } : {}),
    ...(n % 6 === 0 ? { reviewerConnection: { id: 900 + (n % 4), name: `Reviewer ${n % 4}` } } : {}),
  });
}

/** Puts values that no column of the new fields can store in the place of some exports. */
function putOddExports(exports: StandIn['lists']['document-exports']): void {
  exports[6] = JSON.stringify(documentExport(7)).replace('}', ',"region":"eu"}');
  exports[8] = JSON.stringify(documentExport(9, { pageTotal: 0 })).replace(
    '"pageTotal":0',
    '"pageTotal":9007199254740993',
  );
  exports[10] = documentExport(11, { pageTotal: 'eleven', language: 11 });
  exports[12] = documentExport(13, { reviewerConnection: { id: null, name: 'Nobody' } });
  exports[14] = documentExport(15, { reviewerConnection: 3, 'free text': { pages: [1, 2] } });
}
