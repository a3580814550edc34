import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openForWriting } from '../../../src/store/file/open-to-write.ts';
import { noteAllReturns } from '../../../src/store/tables/ever.ts';
import { erase } from '../../../src/store/write/erase.ts';
import { playsAll } from '../../support/cases.ts';
import { syncScene } from '../../support/in-process.ts';
import { sqlite } from '../../support/run-cli.ts';
import { setScene } from '../../support/scene.ts';
import { collection, documentExport, type SampleItem, webhook } from '../../support/stand-in.ts';

const views = {
  'document-exports': 'document_exports_ever',
  collections: 'collections_ever',
  webhooks: 'webhooks_ever',
} as const;
type List = keyof typeof views;

const itemOf = (list: List, n: number, text: string): SampleItem => {
  if (list === 'document-exports') return documentExport(n, { sourceDocumentTitle: text });
  return list === 'collections' ? collection(n, { name: text }) : webhook(n, { description: text });
};
const keyIn = { 'document-exports': 'source_document_reference', collections: 'id', webhooks: 'id' } as const;
const textIn = {
  'document-exports': 'source_document_title',
  collections: 'name',
  webhooks: 'description',
} as const;

/** What ever stood, by all nights: of each record as many as one night had at once, listed ones first, then those that went last. */
function replay(nights: readonly (readonly { n: number; text: string }[])[]) {
  const most = new Map<number, number>();
  const gone = new Map<number, { text: string; run: number }[]>();
  let before = new Map<number, string[]>();
  for (const [at, night] of nights.entries()) {
    const now = new Map<number, string[]>();
    for (const { n, text } of night) now.set(n, [...(now.get(n) ?? []), text]);
    for (const [n, texts] of now) most.set(n, Math.max(most.get(n) ?? 0, texts.length));
    for (const [n, texts] of before)
      for (const text of texts.slice(now.get(n)?.length ?? 0))
        gone.set(n, [...(gone.get(n) ?? []), { text, run: at + 1 }]);
    before = now;
  }
  return [...most].flatMap(([n, count]) => {
    const listed = (before.get(n) ?? []).map(text => ({ n, text, run: null }));
    const rest = count - listed.length;
    const last = rest === 0 ? [] : (gone.get(n) ?? []).slice(-rest).map(each => ({ n, ...each }));
    return [...listed, ...last];
  });
}

const noted = (path: string) =>
  sqlite(path, 'SELECT id, exported_at_ms, source_document_reference, returned_run_id FROM record_history');

/** The same, if the mirror had been brought up to date after all runs. */
function notedAnew(path: string, list: List) {
  using file = openForWriting(path);
  file.sqlite.exec(
    'BEGIN; UPDATE record_history SET exported_at_ms = NULL, source_document_reference = NULL, returned_run_id = NULL',
  );
  noteAllReturns(file.sqlite, list);
  file.sqlite.exec('COMMIT');
  return noted(path);
}

const sorted = (rows: readonly object[]) => rows.map(row => JSON.stringify(row)).sort();

test.each(Object.keys(views) as List[])(
  '%s: the view of all that ever was agrees with a replay of all runs',
  async list => {
    const record = fc.record({ n: fc.integer({ min: 1, max: 5 }), text: fc.constantFrom('a', 'b') });
    const night = fc.array(record, { maxLength: 8 }).map(items => {
      // All copies of a record have one text, because nobody could tell which of them goes.
      const texts = new Map(items.map(({ n, text }) => [n, text]));
      const all = items.map(({ n }) => ({ n, text: texts.get(n) ?? '' }));
      return list === 'document-exports' ? all : [...texts].map(([n, text]) => ({ n, text }));
    });
    let removals = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(night, { minLength: 2, maxLength: 6 }), async nights => {
        await using scene = await setScene({}, { exports: 0, collections: 0, webhooks: 0 });
        const key = list === 'document-exports' ? `CAST(substr(${keyIn[list]}, 5) AS INTEGER)` : keyIn[list];
        const columns = `${key} AS n, ${textIn[list]} AS text`;
        // What the mirror had after each run: it can withhold a removal for a night.
        const seen: { n: number; text: string }[][] = [];
        for (const items of nights) {
          const steady = Array.from({ length: 30 }, (_, at) => itemOf(list, 101 + at, 'steady'));
          scene.service.lists[list] = [...items.map(({ n, text }) => itemOf(list, n, text)), ...steady];
          await syncScene(scene, { allowMassRemoval: true });
          const listed = sqlite(scene.database, `SELECT ${columns} FROM ${views[list].replace('_ever', '')}`);
          seen.push(listed.map(({ n, text }) => ({ n: Number(n), text: String(text) })));
        }
        const rows = sqlite(scene.database, `SELECT ${columns}, removed_run_id AS run FROM ${views[list]}`);
        expect(sorted(rows)).toEqual(sorted(replay(seen)));
        const byRuns = noted(scene.database);
        expect(notedAnew(scene.database, list)).toEqual(byRuns);
        if (seen.some((night, at) => night.length < (seen[at - 1]?.length ?? 0))) removals += 1;
      }),
      { numRuns: playsAll ? 12 : 5, interruptAfterTimeLimit: 60_000 },
    );
    if (playsAll) expect(removals).toBeGreaterThan(2);
  },
);

test('a removed record has the columns of the listed ones, and null for what was erased', async () => {
  await using scene = await setScene({}, { exports: 0, collections: 0, webhooks: 0 });
  const odd = documentExport(1, { exportedAt: '2026-01-05T10:00:00.000+0000', language: 'de' });
  const { lists } = scene.service;
  const steady = Array.from({ length: 30 }, (_, at) => documentExport(at + 10));
  lists['document-exports'] = [odd, documentExport(2), ...steady];
  lists.webhooks = [webhook(7), ...Array.from({ length: 30 }, (_, at) => webhook(at + 10))];
  await syncScene(scene);
  const before = {
    exports: sqlite(scene.database, 'SELECT * FROM document_exports_named ORDER BY id LIMIT 2'),
    webhooks: sqlite(scene.database, 'SELECT * FROM webhooks_named ORDER BY id LIMIT 1'),
  };
  const ever = (view: string) =>
    sqlite(scene.database, `SELECT * FROM ${view} ORDER BY id LIMIT ${view === 'webhooks_ever' ? 1 : 2}`);
  const listed = (rows: readonly object[]) =>
    rows.map(row => ({ ...row, removed_run_id: null, removed_at: null }));
  expect(ever('document_exports_ever')).toEqual(listed(before.exports));
  expect(ever('webhooks_ever')).toEqual(listed(before.webhooks));
  lists['document-exports'] = steady;
  lists.webhooks.shift();
  await syncScene(scene, { allowMassRemoval: true });
  const removed = (rows: readonly object[]) =>
    rows.map(row => ({ ...row, removed_run_id: 2, removed_at: expect.any(String) }));
  expect(ever('document_exports_ever')).toEqual(removed(before.exports));
  expect(ever('webhooks_ever')).toEqual(removed(before.webhooks));
  erase(scene.database, {
    resource: 'document-exports',
    recordId: 1,
    actor: '',
    at: new Date().toISOString(),
  });
  const [erased = {}] = ever('document_exports_ever');
  const {
    id,
    first_seen_at: _first,
    changed_at: _changed,
    removed_at: _removed,
    ...rest
  } = erased as Record<string, unknown>;
  expect(id).toBe(1);
  expect(Object.entries(rest).filter(([, value]) => value !== null)).toEqual([
    ['_first_seen_run_id', 1],
    ['_changed_run_id', 1],
    ['removed_run_id', 2],
  ]);
  // It comes back: nobody shows it twice.
  lists['document-exports'] = [odd, ...steady];
  await syncScene(scene);
  const all = sqlite(
    scene.database,
    'SELECT source_document_reference AS reference FROM document_exports_ever',
  );
  expect(all).toHaveLength(32);
  expect(all.filter(({ reference }) => reference === odd.sourceDocumentReference)).toHaveLength(1);
});
