import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { listOf } from '../../src/contract/lists.ts';
import { storedParts } from '../../src/service/echo.ts';
import { Service } from '../../src/service/service.ts';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';
import { collection } from '../support/stand-in.ts';

const pagination = '{"pageCount":1,"pageNo":1,"pageSize":50,"totalRecordCount":1}';

describe('the parts of an answer that are stored', () => {
  test('are its items, byte for byte, and the four numbers', () => {
    const items = '[ {"id": 1.50, "a": "}],\\"\\\\"}, 12345678901234567890 ]';
    const text = `{"echo":{"items":[1],"s":"\\"items\\":[2]"},"it\\u0065ms":${items},"pagination":{"pageNo":1,"token":"x","pageSize":2}}`;
    expect(storedParts(text)).toEqual({ items, pagination: '{"pageNo":1,"pageSize":2}' });
  });

  test('are found in any object that holds them', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.jsonValue(), (before, items, after) => {
        const text = JSON.stringify({ before, items, pagination: { pageNo: 1 }, after }, null, 1);
        expect(JSON.parse(storedParts(text).items)).toEqual(JSON.parse(JSON.stringify(items)));
      }),
      { numRuns: 200 },
    );
  });
});

const echoes: [name: string, encode: (token: string) => string][] = [
  ['plain', token => token],
  ['as Bearer … in base64', token => Buffer.from(`Bearer ${token}`).toString('base64')],
  ['percent-encoded', token => token.replaceAll('-', '%2d')],
];

/** All that lies in a folder, as text. */
function filesIn(folder: string): string {
  return readdirSync(folder)
    .map(name => readFileSync(join(folder, name), 'latin1'))
    .join('');
}

describe.concurrent('a service that sends the token back', () => {
  test.each(echoes)(
    'in a record, %s, fails that list in words, and nothing of it is kept',
    async (_name, encode) => {
      await using scene = await setScene({ maxPageSize: 5 });
      const echo = encode(scene.service.options.token);
      scene.service.lists.collections.push(collection(90, { name: `seen with ${echo}` }));
      scene.env.DOCMIRROR_LOG_LEVEL = 'trace';
      const synced = await scene.sync();
      expect(synced).toMatchObject({ code: 3, status: 'partial' });
      expect(synced.of('collections')).toMatchObject({
        status: 'failed',
        retries: 0,
        error: { code: 'token_echoed' },
      });
      expect(synced.of('webhooks')).toMatchObject({ status: 'completed' });
      const said = [await scene.run('runs', '--json'), await scene.run('sync', '--dry-run')];
      const all = filesIn(scene.folder) + synced.stderr + JSON.stringify([synced.summary, said]);
      expect(all).not.toContain(echo);
      expect(all).not.toContain(scene.service.options.token);
    },
  );

  test('beside the records is mirrored as any other, and keeps nothing of it', async () => {
    const token = 'secret-token';
    const rawBody = (resource: string) =>
      resource === 'collections'
        ? `{"request":{"headers":{"authorization":"Bearer ${token}"}},"items":[{"id":7,"big":1.50}],"pagination":${pagination},"echo":"${token}"}`
        : undefined;
    await using scene = await setScene({ rawBody, token });
    expect(await scene.sync()).toMatchObject({ code: 0 });
    expect(sqlite(scene.database, 'SELECT id, _extra FROM collections')).toEqual([
      { id: 7, _extra: '{"big":1.5}' },
    ]);
    expect(filesIn(scene.folder)).not.toContain(token);
  });

  test('beside the records: not even what waits to be applied holds it', async () => {
    const token = 'secret-token';
    const rawBody = () =>
      `{"echo":"${token}","items":[{"id":7}],"pagination":${pagination},"more":"${token}"}`;
    await using scene = await setScene({ rawBody, token });
    const options = { timeoutMs: 5_000, retries: 0, concurrency: 1, userAgent: 'test' };
    const service = new Service({ ...options, baseUrl: scene.service.url, token });
    try {
      const page = await service.getPage(
        listOf('collections'),
        { pageNo: null, pageSize: null },
        new AbortController().signal,
      );
      expect(page.pagination).toEqual(JSON.parse(pagination));
      expect(inspect(page, { depth: null, maxStringLength: null })).not.toContain(token);
      expect(page.bytes.includes(token)).toBe(false);
    } finally {
      await service.close();
    }
  });

  test('in a header is not quoted', async () => {
    const headers = { 'content-encoding': 'x-secret-token' };
    await using scene = await setScene({ faults: () => ({ kind: 'status', status: 200, headers }) });
    const synced = await scene.sync();
    expect(synced.of('webhooks').error).toMatchObject({ message: expect.stringContaining('(x-[secret])') });
  });

  test.each(['secret-token-that-is-longer-than-what-is-quoted', 'tok-42'])(
    'in an answer that is no page is not quoted, whole or in part: %s',
    async token => {
      await using scene = await setScene({ token, rawBody: () => `Hello ${token}` });
      scene.env.DOCMIRROR_RETRIES = '0';
      const synced = await scene.sync();
      expect(synced).toMatchObject({ code: 1 });
      expect(synced.of('webhooks').error).toMatchObject({
        message: expect.stringContaining('it holds the token'),
      });
      expect(JSON.stringify(synced.summary) + synced.stderr).not.toContain(token.slice(0, 12));
    },
  );

  test('steers no terminal by what is quoted of its answer', async () => {
    await using scene = await setScene({ rawBody: () => '\u001b]0;title\u0007\u009b31m\u202e' });
    scene.env.DOCMIRROR_RETRIES = '0';
    const { stdout, stderr } = await scene.run('sync');
    expect(stdout).toContain('\\u001b]0;title\\u0007\\u009b31m\\u202e');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
    expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u0080-\u009f\u202e]/);
  });
});
