import { expect, test } from 'vitest';
import { syncScene } from '../support/in-process.ts';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';
import { documentExport } from '../support/stand-in.ts';

test('a time counts, in whatever form it is written', async () => {
  await using scene = await setScene();
  const at = (exportedAt: unknown, version: string) => ({
    ...documentExport(1),
    sourceDocumentVersion: version,
    exportedAt,
  });
  scene.service.lists['document-exports'] = [
    at('2026-01-01T10:00:00Z', '1'),
    at('2026-01-01T10:00:00.500Z', '2'),
    at('2026-01-01T12:00:00+02:00', '0'),
    at('yesterday', '3'),
    at(null, '4'),
  ];
  expect((await syncScene(scene)).of('document-exports').completeness).toBe('proven');
  const times = sqlite(
    scene.database,
    'SELECT source_document_version AS version, exported_at_ms AS ms FROM document_exports ORDER BY 2, 1',
  );
  expect(times.map(({ version, ms }) => [version, ms])).toEqual([
    ['3', null],
    ['4', null],
    ['0', Date.UTC(2026, 0, 1, 10)],
    ['1', Date.UTC(2026, 0, 1, 10)],
    ['2', Date.UTC(2026, 0, 1, 10) + 500],
  ]);
  const [newest] = sqlite(scene.database, 'SELECT source_document_version AS version FROM latest_versions');
  expect(newest?.version).toBe('2');
  // Each is found again.
  expect((await syncScene(scene)).of('document-exports')).toMatchObject({
    inserted: 0,
    updated: 0,
    removed: 0,
  });
});
