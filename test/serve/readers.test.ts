import { expect, test } from 'vitest';
import { readersOf } from '../../src/serve/readers.ts';
import { setScene } from '../support/scene.ts';

test('searches whose clients are gone before they begin make room for others at once', async () => {
  await using scene = await setScene({}, { exports: 20 });
  await scene.sync();
  const readers = readersOf({ database: scene.database, labels: {}, trigger: null, maxAgeMs: null });
  const query = { q: 'invoice', page: 1, pageNo: 1, pageSize: 50, limit: 100, days: 30, timezone: 'UTC' };
  const asked = { url: '/search?q=invoice', params: {}, query };
  const search = (signal: AbortSignal) =>
    readers.page('/search', asked, { isHead: false, isLong: true, signal });
  const stays = new AbortController();
  const leaving = new AbortController();
  // Two threads begin with the first ones, and 64 more can wait.
  const begun = [search(stays.signal), search(stays.signal)];
  const waiting = Array.from({ length: 64 }, () => search(leaving.signal));
  const ends = Promise.allSettled(waiting);
  await expect(search(stays.signal)).rejects.toMatchObject({ statusCode: 503 });
  leaving.abort();
  const next = search(stays.signal);
  for (const end of await ends)
    expect(end).toMatchObject({ status: 'rejected', reason: { statusCode: 499 } });
  for (const answer of [...begun, next]) expect((await answer).body).toContain('Find a record');
  await readers.close();
});
