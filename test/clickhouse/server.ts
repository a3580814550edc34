import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';

// ClickHouse over HTTP: its engine as a library, in a process of its own, behind as much of the server's interface as a client needs.
// Usage: node server.ts FOLDER [PASSWORD]; it prints its port when it is ready.

/** The undocumented interface of the library. */
interface Engine {
  CreateConnection(folder: string): unknown;
  CloseConnection(connection: unknown): void;
  QueryAsyncConnection(connection: unknown, sql: string, format: string): Promise<{ bytes: Uint8Array }>;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | string;
}

const engine: Engine = createRequire(import.meta.url)('@chdb/lib-linux-x64-gnu');
const [folder = '', password = ''] = process.argv.slice(2);
const uploads = join(folder, 'uploads');
const data = join(folder, 'data');
mkdirSync(uploads, { recursive: true });
// One connection stays, so that the engine does not end with the last request.
engine.CreateConnection(data);

const server = createServer((request, response) => {
  answer(request).then(
    found => send(response, found),
    error => send(response, failure(String(error))),
  );
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`);
});
// It must not outlive the test that started it.
process.stdin.on('end', () => process.exit()).resume();

async function answer(request: IncomingMessage): Promise<Answer> {
  const url = new URL(request.url ?? '/', 'http://localhost');
  const body = await buffer(request);
  if (url.pathname === '/ping') return { status: 200, headers: {}, body: 'Ok.\n' };
  const [user, key] = credentials(request);
  if (user !== 'default' || key !== password) return failure(refusal(user));
  return run(url.searchParams, body, request.method === 'GET');
}

function credentials({ headers }: IncomingMessage): [user: string, password: string] {
  const [kind, value = ''] = (headers.authorization ?? '').split(' ');
  if (kind !== 'Basic') return ['default', ''];
  const text = Buffer.from(value, 'base64').toString();
  const at = text.indexOf(':');
  return [text.slice(0, at), text.slice(at + 1)];
}

function refusal(user: string): string {
  return `Code: 516. DB::Exception: ${user}: Authentication failed: password is incorrect, or there is no user with such name. (AUTHENTICATION_FAILED)`;
}

const noSettings = new Set(['query', 'database', 'query_id', 'session_id', 'default_format']);

async function run(search: URLSearchParams, body: Buffer, isReadOnly: boolean): Promise<Answer> {
  const connection = engine.CreateConnection(data);
  const file = join(uploads, randomUUID());
  const ask = (sql: string) => engine.QueryAsyncConnection(connection, sql, 'TabSeparated');
  try {
    await ask('SET implicit_select = 0');
    const database = search.get('database');
    if (database !== null) await ask(`USE \`${database}\``);
    for (const [name, value] of search) if (!noSettings.has(name)) await ask(`SET ${name} = ${text(value)}`);
    if (isReadOnly) await ask('SET readonly = 2');
    const inUrl = search.get('query');
    let sql = inUrl ?? body.toString();
    if (inUrl !== null && body.length > 0) {
      writeFileSync(file, body);
      // Inline, the engine takes an empty line for the end of the data.
      sql = inUrl.replace(/\sFORMAT\s+(\w+)\s*;?\s*$/i, ` FROM INFILE ${text(file)} FORMAT $1`);
    }
    const { bytes } = await ask(sql);
    return { status: 200, headers: { 'x-clickhouse-query-id': randomUUID() }, body: bytes };
  } catch (error) {
    return failure(error instanceof Error ? error.message : String(error));
  } finally {
    engine.CloseConnection(connection);
    rmSync(file, { force: true });
  }
}

function text(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`;
}

/** Statuses of error codes, as the server has them. */
const statuses: Readonly<Record<string, number>> = {
  '60': 404,
  '81': 404,
  '516': 403,
  '497': 403,
  '62': 400,
};

function failure(message: string): Answer {
  const code = /Code: (\d+)/.exec(message)?.[1] ?? '1002';
  return {
    status: statuses[code] ?? 500,
    headers: { 'x-clickhouse-exception-code': code },
    body: `${message}\n`,
  };
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
