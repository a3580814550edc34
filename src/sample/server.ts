import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lists } from '../contract/lists.ts';
import type { Sample } from './sample.ts';

const pageSizeDefault = 50;
const pageSizeMax = 1_000;

/** Serves the current sample page by page, as the service does; the stated total of exports is wrong by `wrongBy`. */
export async function serveSample(
  current: () => { readonly sample: Sample; readonly wrongBy: number },
): Promise<{ readonly url: string; close(): void }> {
  const server = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const list = lists.find(({ path }) => path === pathname);
    const pageNo = Number(searchParams.get('pageNo') ?? 1);
    const pageSize = Number(searchParams.get('pageSize') ?? pageSizeDefault);
    if (list === undefined || !pageNo || !pageSize || pageSize > pageSizeMax) {
      response.writeHead(list === undefined ? 404 : 400).end();
      return;
    }
    const { sample, wrongBy } = current();
    const records = sample[list.resource];
    const totalRecordCount = records.length + (list.resource === 'document-exports' ? wrongBy : 0);
    const pageCount = Math.ceil(totalRecordCount / pageSize);
    const items = records.slice((pageNo - 1) * pageSize, pageNo * pageSize);
    const answer = { items, pagination: { pageCount, pageNo, pageSize, totalRecordCount } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer, (_, value) => asCalled(value, sample.names)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A reference to a connection has an id and a name, and nothing else. */
function asCalled(value: unknown, names: Sample['names']): unknown {
  if (typeof value !== 'object' || value === null || Object.keys(value).join() !== 'id,name') return value;
  const { id, name } = value as { readonly id: number; readonly name: string };
  return { id, name: names.get(id) ?? name };
}
