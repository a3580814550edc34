import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTS, { type OpenAPI3 } from 'openapi-typescript';
import { expect, test } from 'vitest';
import { setScene } from '../support/scene.ts';
import { servedToken, serveScene } from '../support/served.ts';

/** A program as its author writes it, who knows the server by its document alone. */
const program = `import createClient from 'openapi-fetch';
import type { paths } from './schema.d.ts';

const [, , baseUrl = '', token = ''] = process.argv;
const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } });

const exports = await client.GET('/v2/document-exports', {
  params: { query: { source: '1', from: '2000-01-01', sort: 'exportedAt', order: 'desc', pageSize: 1 } },
});
const connections = await client.GET('/v2/connections', { params: { query: { q: 'connection' } } });
const changes = await client.GET('/v2/changes', {
  params: { query: { resource: 'collections', operation: 'insert', run: 1, limit: 2 } },
});
const wrong = await client.GET('/v2/webhooks', { params: { query: { pageSize: 0 } } });
const id: number | undefined = exports.data?.items[0]?._id;
const title: string | null | undefined = exports.data?.items[0]?.sourceDocumentTitle;
const names: (string | null | undefined)[] = connections.data?.items.map(({ name }) => name) ?? [];
const operations: string[] = changes.data?.items.map(({ operation }) => operation) ?? [];
const message: string | undefined = wrong.error?.error.message;
console.log(JSON.stringify({ id, title, names, operations, message }));
`;

/** It breaks what the document says, so a strict compiler refuses it. */
const mistake = "client.GET('/v2/document-exports', { params: { query: { sort: 'colour' } } })";

test('a client made of openapi.json is compiled strictly, and asks for what it knows', async () => {
  await using scene = await setScene();
  await scene.sync();
  await using served = await serveScene(scene);
  const document: OpenAPI3 = JSON.parse(await (await fetch(`${served.url}/openapi.json`)).text());
  // Beside the packages, where the compiler finds them.
  const folder = mkdtempSync(join(import.meta.dirname, '..', '..', 'node_modules', '.client-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'schema.d.ts'), await openapiTS(document));
    const compile = (source: string) => {
      writeFileSync(join(folder, 'client.ts'), source);
      const flags = ['--strict', '--target', 'esnext', '--module', 'nodenext', '--types', 'node'];
      return execFileSync('npx', ['tsc', '--ignoreConfig', ...flags, 'client.ts'], {
        cwd: folder,
        encoding: 'utf8',
      });
    };
    expect(() => compile(`${program}\nawait ${mistake};\n`)).toThrow();
    expect(compile(program)).toBe('');
    const said = execFileSync(process.execPath, ['client.js', served.url, servedToken], {
      cwd: folder,
      encoding: 'utf8',
    });
    const { id, title, names, operations, message } = JSON.parse(said);
    expect(id).toBeGreaterThan(0);
    expect(title).toMatch(/^Document \d+$/);
    expect(names.length).toBeGreaterThan(1);
    expect(operations).toEqual(['insert', 'insert']);
    expect(message).toContain('pageSize');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
