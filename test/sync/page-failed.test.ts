import { expect, test } from 'vitest';
import { syncScene } from '../support/in-process.ts';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';
import type { RecordedRequest } from '../support/stand-in.ts';

// A record that the service can't write makes each page with it a 500 for ever.

const broken = 130;
/** The service serves pages of 20 at most. */
function hasBroken(pageNo: number | null, pageSize: number | null): boolean {
  const size = Math.min(pageSize ?? 20, 20);
  const begin = ((pageNo ?? 1) - 1) * size;
  return begin <= broken && broken < begin + size;
}

test.each([500, 400])(
  'a page that fails for good with %d is a gap: the rest is stored, and the list is unproven',
  async status => {
    await using scene = await setScene(
      {
        maxPageSize: 20,
        faults: ({ resource, pageNo, pageSize }) =>
          resource === 'document-exports' && hasBroken(pageNo, pageSize)
            ? { kind: 'status', status }
            : undefined,
      },
      { exports: 300 },
    );
    const synced = await syncScene(scene);
    expect(synced.code).toBe(3);
    const list = synced.of('document-exports');
    expect(list).toMatchObject({ completeness: 'unproven', removed: 0 });
    expect(list.reason).toMatch(/^page_failed: page \d+ \(\d+ a page\)/);
    const [row] = sqlite(scene.database, 'SELECT count(*) AS count FROM document_exports');
    expect(row?.count).toBe(299);
    const again = await syncScene(scene);
    expect(again.of('document-exports')).toMatchObject({ completeness: 'unproven', removed: 0, inserted: 0 });
  },
);

test('more than five such pages fail the list', async () => {
  const faults = ({ pageNo }: { pageNo: number | null }) =>
    pageNo !== null && pageNo % 2 === 0 ? ({ kind: 'status', status: 500 } as const) : undefined;
  await using scene = await setScene({ maxPageSize: 20, faults }, { exports: 300 });
  const message = expect.stringContaining("more than 5 pages can't be read");
  const { error } = (await syncScene(scene)).of('document-exports');
  expect(error).toEqual({ code: 'server_error', message });
});

test('if all that fail are behind the last record that came, a limit of results is named, night after night', async () => {
  const faults = ({ resource, pageNo, pageSize }: RecordedRequest) =>
    resource === 'document-exports' && (pageNo ?? 1) * Math.min(pageSize ?? 20, 20) > 100
      ? ({ kind: 'status', status: 400 } as const)
      : undefined;
  await using scene = await setScene({ maxPageSize: 20, faults }, { exports: 300 });
  for (const _night of [1, 2]) {
    const { error } = (await syncScene(scene)).of('document-exports');
    expect(error?.message).toMatch(
      /^no page beyond record 90 can be read, .* a limit of results, .* answered 400/,
    );
  }
});
