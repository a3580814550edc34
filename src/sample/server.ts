import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lists } from '../contract/lists.ts';
import type { Sample } from './sample.ts';

/** A made-up service on this machine. */
export interface SampleServer {
  readonly url: string;
  close(): void;
}

/** What the service has at the moment. */
interface Current {
  readonly sample: Sample;
  /** By how much the stated total of document exports is wrong. */
  readonly wrongBy: number;
}

const pageSizeDefault = 50;
const pageSizeMax = 1_000;

/** Serves a sample page by page, as the service does. `current` is called for each page, so the lists can be replaced meanwhile. */
export async function serveSample(current: () => Current): Promise<SampleServer> {
  const server = createServer(({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const list = lists.find(({ path }) => path === pathname);
    const [pageNo, pageSize] = [
      searchParams.get('pageNo') ?? 1,
      searchParams.get('pageSize') ?? pageSizeDefault,
    ].map(Number);
    if (list === undefined || !pageNo || !pageSize || pageSize > pageSizeMax) {
      response.writeHead(list === undefined ? 404 : 400).end();
      return;
    }
    const { sample, wrongBy } = current();
    const records = sample[list.resource];
    const totalRecordCount = records.length + (list.resource === 'document-exports' ? wrongBy : 0);
    const pageCount = Math.ceil(totalRecordCount / pageSize);
    const items = records.slice((pageNo - 1) * pageSize, pageNo * pageSize);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ items, pagination: { pageCount, pageNo, pageSize, totalRecordCount } }));
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
