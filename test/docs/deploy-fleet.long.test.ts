import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { docmirrorShell, type Shell } from '../support/docmirror-shell.ts';
import { startFleetService } from '../support/fleet-service.ts';
import { runCli, sqlite, type TemporaryFolder, temporaryFolder } from '../support/run-cli.ts';
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
  const before = new Map<string, unknown>();
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
        for (const name of broken) before.set(name, titles(name));
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

  test('those that fail keep what they had, whole', async () => {
    for (const name of broken.filter(each => each !== 't28')) {
      expect(titles(name)).toEqual(before.get(name));
      const verified = await runCli(['verify', '--database', join(here.path, 'mirrors', `${name}.sqlite`)]);
      expect(verified).toMatchObject({ code: 0 });
    }
  });

  test('every run has the label of its tenant', () => {
    for (const name of ['t01', 't40'])
      expect(
        sqlite(join(here.path, 'mirrors', `${name}.sqlite`), 'SELECT labels FROM sync_runs LIMIT 1'),
      ).toEqual([{ labels: `{"tenant":"${name}"}` }]);
  });

  test('no token is in a log', async () => {
    const { output } = await here.shell('cat logs/* codes.txt');
    expect(output.length).toBeGreaterThan(100);
    expect(output).not.toMatch(/token-of|wrong-token/);
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

describe("a tenant's turn", () => {
  /** A `docmirror` that writes down how it was called, and ends with the code that is asked of each command. */
  async function turnWith(codes: Record<string, number>, lines: Record<string, string>, env = {}) {
    await using at = fleet();
    const cases = Object.entries(codes).map(([command, code]) => `${command}) exit ${code};;`);
    writeFileSync(
      join(at.path, 'bin', 'docmirror'),
      `#!/bin/sh\necho "$*"\ncase $1 in ${cases.join(' ')} esac\n`,
    );
    envFile(at, 'acme', lines);
    const { code, output } = await at.shell('docmirror-tenant tenants/acme.env mirrors', env);
    return { code, said: output.trim().split('\n') };
  }

  const url = { DOCMIRROR_CLICKHOUSE_URL: 'https://clickhouse.example' };
  const sync = 'sync --env-file tenants/acme.env --database mirrors/acme.sqlite';
  const publish =
    'publish clickhouse --env-file tenants/acme.env --database mirrors/acme.sqlite --tenant acme';

  test('syncs alone if there is no ClickHouse', async () => {
    expect(await turnWith({}, { DOCMIRROR_TENANT: 'other' })).toEqual({ code: 0, said: [sync] });
    expect(await turnWith({}, { '# DOCMIRROR_CLICKHOUSE_URL': 'x' })).toEqual({ code: 0, said: [sync] });
    expect(await turnWith({}, { DOCMIRROR_CLICKHOUSE_URL: ' ' })).toEqual({ code: 0, said: [sync] });
  });

  test('publishes after it, wherever the address is set, also after a partial run', async () => {
    expect(await turnWith({}, url)).toEqual({ code: 0, said: [sync, publish] });
    expect(await turnWith({}, {}, url)).toEqual({ code: 0, said: [sync, publish] });
    expect(await turnWith({ sync: 3 }, url)).toEqual({ code: 3, said: [sync, publish] });
  });

  test.each([
    ['spaces', 'export DOCMIRROR_CLICKHOUSE_URL ', ' https://clickhouse.example'],
    ['a byte order mark', '\uFEFFDOCMIRROR_CLICKHOUSE_URL', '"https://clickhouse.example"'],
  ])('publishes if the address is set with %s, as docmirror reads it', async (_what, name, value) => {
    expect(await turnWith({}, { [name]: value })).toEqual({ code: 0, said: [sync, publish] });
  });

  test.each([1, 2, 11, 12, 143])('does not publish after a sync that ended with %i', async code => {
    expect(await turnWith({ sync: code }, url)).toEqual({ code, said: [sync] });
  });

  test('ends with the first code that is not 0', async () => {
    expect(await turnWith({ publish: 4 }, url)).toMatchObject({ code: 4 });
    expect(await turnWith({ sync: 3, publish: 4 }, url)).toMatchObject({ code: 3 });
  });

  test("sends the tenant's own token alone, whatever is left in the environment or written in the file", async () => {
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
    expect(readdirSync(join(at.path, 'mirrors')).filter(name => !name.startsWith('globex.sqlite'))).toEqual(
      [],
    );
    const basic = Buffer.from('default:globex-password').toString('base64');
    expect([...new Set(clickhouse)]).toEqual([`Basic ${basic}`]);
    server.closeAllConnections();
    server.close();
    await acme.close();
    await globex.close();
  });

  test('says how it is used if a name is missing', () => {
    expect(spawnSync('sh', [turn, 'x.env'], { encoding: 'utf8' })).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('Usage: '),
    });
  });

  test('hands a signal on, and waits for the end', async () => {
    await using at = fleet();
    // It takes the request and never answers.
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const file = envFile(at, 'acme', {
      DOCMIRROR_BASE_URL: `http://127.0.0.1:${port}`,
      DOCMIRROR_TOKEN: 'some-token',
    });
    const program = [process.execPath, '--', join(root, 'src', 'cli.ts')];
    const child = spawn('sh', [turn, file, join(at.path, 'mirrors'), ...program], { stdio: 'ignore' });
    await once(silent, 'request');
    child.kill('SIGTERM');
    const [code] = await Promise.race([once(child, 'close'), wait(20_000, ['late'])]);
    expect(code).toBe(143);
    const mirror = join(at.path, 'mirrors', 'acme.sqlite');
    expect(sqlite(mirror, 'SELECT status FROM sync_runs')).toEqual([{ status: 'cancelled' }]);
    silent.closeAllConnections();
    silent.close();
  });
});
