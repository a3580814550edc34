import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';
import { collection, type RecordedRequest } from '../support/stand-in.ts';

const pagination = '{"pageCount":1,"pageNo":1,"pageSize":50,"totalRecordCount":1}';

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

  test('beside the records, or anything else: not even what waits for the next run holds it', async () => {
    const marker = 'req-7f3a';
    const rawBody = (resource: string, pageNo: number) =>
      resource === 'collections'
        ? `{"request":"${marker}","items":[{"id":${pageNo}}],"pagination":{"pageCount":3,"pageNo":${pageNo},"pageSize":1,"totalRecordCount":3,"trace":"${marker}"},"trace":"${marker}"}`
        : undefined;
    const faults = ({ resource, pageNo }: RecordedRequest) =>
      resource === 'collections' && pageNo === 2 ? ({ kind: 'status', status: 500 } as const) : undefined;
    await using scene = await setScene({ rawBody, faults });
    scene.env.DOCMIRROR_RETRIES = '0';
    const synced = await scene.sync();
    expect(synced.of('collections')).toMatchObject({ status: 'failed' });
    expect(sqlite(`${scene.database}.staging`, 'SELECT count(*) AS pages FROM answers')).toEqual([
      { pages: 1 },
    ]);
    expect(filesIn(scene.folder) + JSON.stringify(synced)).not.toContain(marker);
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
