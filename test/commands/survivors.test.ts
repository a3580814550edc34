import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Secrets } from '../../src/service/secrets.ts';
import { runCli, sqlite } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';
import { documentExport } from '../support/stand-in.ts';

test('of two secrets of which one contains the other, nothing of the longer one is shown', () => {
  const secrets = new Secrets();
  secrets.add('long-token');
  secrets.add('long-token-and-more');
  expect(secrets.redact('it is long-token-and-more')).toBe('it is [secret]');
});

test.each([
  ['A', 'B'],
  ['B', 'A'],
])('of two names of one moment (%s, then %s), the one that sorts last counts', async (one, other) => {
  await using scene = await setScene({}, { exports: 0, collections: 0, webhooks: 0 });
  const { exportedAt } = documentExport(1);
  scene.service.lists['document-exports'] = [one, other].map((name, at) => ({
    ...documentExport(at + 1),
    exportedAt,
    sourceConnection: { id: 77, name },
  }));
  await scene.sync();
  expect(sqlite(scene.database, 'SELECT name FROM connections WHERE id = 77')).toEqual([{ name: 'B' }]);
});

test('a token that never worked is asked for once', async () => {
  await using scene = await setScene({}, { exports: 1 });
  const asked = join(scene.folder, 'asked');
  appendFileSync(asked, '');
  delete scene.env.DOCMIRROR_TOKEN;
  scene.env.DOCMIRROR_TOKEN_COMMAND = `echo x >> ${asked}; echo a-token-that-is-wrong`;
  expect(await scene.sync()).toMatchObject({ code: 12 });
  expect(readFileSync(asked, 'utf8')).toBe('x\n');
});

test('each request says that no cache may answer it', async () => {
  await using scene = await setScene({}, { exports: 1 });
  const heard: unknown[] = [];
  const server = createServer((request, response) => {
    heard.push(request.headers['cache-control']);
    response.writeHead(404).end();
  }).listen(0, '127.0.0.1');
  await new Promise(resolve => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await runCli(['sync'], { env: { ...scene.env, DOCMIRROR_BASE_URL: `http://127.0.0.1:${port}` } });
  server.close();
  expect(new Set(heard)).toEqual(new Set(['no-cache']));
  expect(existsSync(scene.database)).toBe(true);
});
