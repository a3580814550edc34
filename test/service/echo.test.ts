import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';
import { collection } from '../support/stand-in.ts';

const pagination = '{"pageCount":1,"pageNo":1,"pageSize":50,"totalRecordCount":1}';

const echoes: [name: string, encode: (token: string) => string][] = [
  ['plain', token => token],
  ['as Bearer … in base64', token => Buffer.from(`Bearer ${token}`).toString('base64')],
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

  test.each([0, 25, 32])(
    'in place of a number, behind %i characters, is not quoted in part',
    async length => {
      const token = 'secret-token-of-a-service';
      const size = `${'x'.repeat(length)}${token}`;
      const rawBody = (resource: string) =>
        resource === 'collections'
          ? `{"items":[],"pagination":{"pageCount":1,"pageNo":1,"pageSize":"${size}"}}`
          : undefined;
      await using scene = await setScene({ rawBody, token });
      scene.env.DOCMIRROR_LOG_LEVEL = 'trace';
      const synced = await scene.sync('--give-up-after', '0');
      expect(synced.of('collections')).toMatchObject({ error: { code: 'invalid_response' } });
      const all = filesIn(scene.folder) + synced.stderr + JSON.stringify(synced.summary);
      expect(all).toContain('pagination.pageSize is not a whole number: ');
      expect(all).not.toContain(token.slice(0, 8));
    },
  );

  test('in a header is not quoted', async () => {
    const headers = { 'content-encoding': 'X-Secret-Token' };
    await using scene = await setScene({ faults: () => ({ kind: 'status', status: 200, headers }) });
    const synced = await scene.sync();
    const message = expect.stringMatching(/answered in an encoding that was not asked for$/);
    expect(synced.of('webhooks').error).toMatchObject({ message });
  });

  test.each([
    [
      'cut short',
      '{"items":[{"endpoint":"https://u:pa55w0rd@host/',
      'cut short or broken (47 characters came)',
    ],
    ['HTML', '<p>Bearer tok-4', 'HTML or XML'],
    ['a text', 'Bearer tok-4\u001b]0;ti7le\u0007', 'some other text'],
  ])('in an answer that is %s is not quoted, whole or in part', async (_what, body, words) => {
    await using scene = await setScene({ token: 'tok-42', rawBody: () => body });
    scene.env.DOCMIRROR_GIVE_UP_AFTER = '0';
    const synced = await scene.sync();
    expect(synced).toMatchObject({ code: 1 });
    expect(synced.of('webhooks').error).toMatchObject({ message: expect.stringContaining(words) });
    const shown = JSON.stringify(synced.summary) + synced.stderr + filesIn(scene.folder);
    for (const part of ['pa55', 'tok-4', 'ti7le']) expect(shown).not.toContain(part);
  });
});
