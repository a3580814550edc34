import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lists } from '../contract/lists.ts';
import type { Sample } from './sample.ts';

const pageSizeMax = 1_000;

/** Serves a sample page by page, as the service does. */
export async function serveSample(sample: Sample): Promise<{ readonly url: string; close(): void }> {
  const server = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const list = lists.find(({ path }) => path === pathname);
    if (list === undefined) return void response.writeHead(404).end();
    const pageNo = Number(searchParams.get('pageNo') ?? 1);
    const pageSize = Math.min(Number(searchParams.get('pageSize') ?? pageSizeMax), pageSizeMax);
    const records = sample.lists[list.resource];
    const totalRecordCount = records.length + (list.resource === 'document-exports' ? sample.wrongBy : 0);
    const pageCount = Math.ceil(totalRecordCount / pageSize);
    const items = records.slice((pageNo - 1) * pageSize, pageNo * pageSize);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ items, pagination: { pageCount, pageNo, pageSize, totalRecordCount } }));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
