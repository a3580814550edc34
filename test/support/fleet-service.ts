import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Lists } from './stand-in.ts';

/** A fault of a tenant's service: it takes requests and never answers, or it answers 500. */
type Fault = 'hangs' | 'fails';

/** One of the tenants of the service. */
export interface ServedTenant {
  /** Its base address. */
  readonly url: string;
  readonly token: string;
  readonly lists: Lists;
  fault: Fault | null;
}

/** A real HTTP server that is the Document Export Service of many tenants: each has a base path and a token of its own. */
export async function startFleetService(names: readonly string[]) {
  const tenants = new Map<string, ServedTenant>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://service');
    const [, name = '', , list = ''] = url.pathname.split('/');
    const tenant = tenants.get(name);
    if (tenant?.fault === 'hangs') return;
    const items = tenant?.lists[list as keyof Lists];
    if (tenant === undefined || items === undefined) return answer(response, 404, {});
    if (tenant.fault === 'fails') return answer(response, 500, {});
    if (request.headers.authorization !== `Bearer ${tenant.token}`) return answer(response, 401, {});
    answer(response, 200, pageOf(items, url.searchParams));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  for (const name of names) {
    const lists = { 'document-exports': [], collections: [], webhooks: [] };
    tenants.set(name, {
      url: `http://127.0.0.1:${port}/${name}`,
      token: `token-of-${name}`,
      lists,
      fault: null,
    });
  }
  return {
    tenants,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

function pageOf(items: readonly unknown[], query: URLSearchParams) {
  const pageNo = Number(query.get('pageNo') ?? 1);
  const pageSize = Math.min(Number(query.get('pageSize') ?? 50), 1000);
  const pageCount = Math.ceil(items.length / pageSize);
  const pagination = { pageCount, pageNo, pageSize, totalRecordCount: items.length };
  return { items: items.slice((pageNo - 1) * pageSize, pageNo * pageSize), pagination };
}

function answer(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
