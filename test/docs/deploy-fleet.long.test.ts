import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { docmirrorShell, type Shell } from '../support/docmirror-shell.ts';
import { startFleetService } from '../support/fleet-service.ts';
import { sqlite, type TemporaryFolder, temporaryFolder } from '../support/run-cli.ts';
import { make } from '../support/scene.ts';
import { collection, documentExport, startStandIn, webhook } from '../support/stand-in.ts';

const root = join(import.meta.dirname, '..', '..');
const turn = join(root, 'deploy', 'docmirror-tenant');
const page = readFileSync(join(root, 'deploy', 'fleet.md'), 'utf8');
/** The commands of the page, each with the output that it shows. */
const steps = [...page.matchAll(/```sh\n(.*?)```\n\n```text\n(.*?)```/gs)].map(
  ([, typed = '', shown = '']) => [typed, shown] as const,
);

/** Both turns of 40 tenants, on a machine with other work. */
const turnsMsMax = 360_000;
const names = make(40, n => `t${String(n).padStart(2, '0')}`);

/** The folder of a fleet, with `docmirror` and `docmirror-tenant` on the path of its shell. */
interface Fleet extends TemporaryFolder {
  readonly shell: Shell;
}

function fleet(): Fleet {
  const folder = temporaryFolder();
  for (const name of ['tenants', 'mirrors', 'logs']) mkdirSync(join(folder.path, name));
  const shell = docmirrorShell(folder.path);
  writeFileSync(join(folder.path, 'bin', 'docmirror-tenant'), readFileSync(turn), { mode: 0o755 });
  return { ...folder, shell };
}

function envFile(at: Fleet, name: string, lines: Record<string, string>): string {
  const path = join(at.path, 'tenants', `${name}.env`);
  const text = Object.entries(lines).map(([key, value]) => `${key}=${value}\n`);
  writeFileSync(path, text.join(''), { mode: 0o600 });
  return path;
}

describe('40 tenants at one service, by the transcript of deploy/fleet.md', () => {
  const here = fleet();
  const said: string[] = [];
  let service: Awaited<ReturnType<typeof startFleetService>>;
  const broken = ['t07', 't13', 't21', 't28', 't34'];

  const titles = (name: string) =>
    sqlite(
      join(here.path, 'mirrors', `${name}.sqlite`),
      'SELECT source_document_title AS title FROM document_exports ORDER BY source_document_reference',
    );

  beforeAll(async () => {
    service = await startFleetService(names);
    for (const [at, [name, { lists, url, token }]] of [...service.tenants].entries()) {
      const title = (n: number) => documentExport(n, { sourceDocumentTitle: `${name} ${n}` });
      lists['document-exports'].push(...make(10 + at, title));
      lists.collections.push(...make(3, collection));
      lists.webhooks.push(...make(2, webhook));
      envFile(here, name, { DOCMIRROR_BASE_URL: url, DOCMIRROR_TOKEN: token });
    }
    for (const [index, [typed]] of steps.entries()) {
      if (index === 1) {
        for (const [name, { lists }] of service.tenants)
          lists['document-exports'].push(documentExport(900, { sourceDocumentTitle: `${name} new` }));
        Object.assign(service.tenants.get('t13') ?? {}, { fault: 'hangs' });
        Object.assign(service.tenants.get('t34') ?? {}, { fault: 'fails' });
      }
      said.push((await here.shell(typed)).output);
    }
  }, turnsMsMax);

  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await here[Symbol.asyncDispose]();
  });

  test('all is said as the page shows it', () => {
    expect(steps).toHaveLength(5);
    expect(said.map(comparable)).toEqual(steps.map(([, shown]) => comparable(shown)));
  });

  test('each mirror has what its tenant has, and nothing of another', () => {
    for (const name of names.filter(each => !broken.includes(each))) {
      const expected = service.tenants.get(name)?.lists['document-exports'].length;
      const found = titles(name).map(({ title }) => String(title));
      expect(found).toHaveLength(expected ?? 0);
      expect(found.filter(title => !title.startsWith(`${name} `))).toEqual([]);
      expect(found).toContain(`${name} new`);
    }
  });
});

/** An output without ports, ages and the program's version, which differ each time. */
function comparable(shown: string): string {
  return shown
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT')
    .replace(/ +/g, ' ')
    .replace(/ \d[\d.]* (ms|s|min|h)( \d+ (s|min))? (?=\d+\.\d+\.\d+ )/g, ' AGE ')
    .replace(/ \d+\.\d+\.\d+ /g, ' VERSION ');
}

test("a tenant's turn sends its own token alone, whatever is left in the environment or written in the file", async () => {
  await using at = fleet();
  const [acme, globex] = [
    await startStandIn({ token: 'of-acme' }),
    await startStandIn({ token: 'of-globex' }),
  ];
  const clickhouse: string[] = [];
  const server = createServer((request, response) => {
    clickhouse.push(String(request.headers.authorization));
    request.resume().on('end', () => response.writeHead(403).end('no ClickHouse'));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  envFile(at, 'globex', {
    DOCMIRROR_BASE_URL: globex.url,
    DOCMIRROR_TOKEN: globex.options.token,
    DOCMIRROR_DATABASE: 'mirrors/acme.sqlite',
    DOCMIRROR_TENANT: 'acme',
    DOCMIRROR_CLICKHOUSE_URL: `http://127.0.0.1:${port}`,
    DOCMIRROR_CLICKHOUSE_PASSWORD: 'globex-password',
  });
  writeFileSync(join(at.path, 'acme-password'), 'acme-password');
  const left = {
    DOCMIRROR_BASE_URL: acme.url,
    DOCMIRROR_TOKEN: acme.options.token,
    DOCMIRROR_TOKEN_COMMAND: 'echo of-acme',
    DOCMIRROR_DATABASE: 'mirrors/acme.sqlite',
    DOCMIRROR_CLICKHOUSE_PASSWORD_FILE: 'acme-password',
  };
  await at.shell('docmirror-tenant tenants/globex.env mirrors', left);
  expect(new Set(globex.requests.map(({ authorization }) => authorization))).toEqual(
    new Set(['Bearer of-globex']),
  );
  expect(acme.requests).toEqual([]);
  expect(readdirSync(join(at.path, 'mirrors')).filter(name => !name.startsWith('globex.sqlite'))).toEqual([]);
  const basic = Buffer.from('default:globex-password').toString('base64');
  expect([...new Set(clickhouse)]).toEqual([`Basic ${basic}`]);
  server.closeAllConnections();
  server.close();
  await acme.close();
  await globex.close();
});
