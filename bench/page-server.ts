// A static page server in a process of its own: pages are rendered before they are asked for, so that it costs next to nothing.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ListState, listIn } from './records.ts';

const [count = 200_000, pageSize = 500, latencyMs = 0] = process.argv.slice(2).map(Number);

let pages: Buffer[] = [];
let requests = 0;

function render(state: ListState): void {
  const list = listIn(state, count);
  const pageCount = Math.ceil(list.length / pageSize);
  pages = [];
  for (let pageNo = 1; pageNo <= pageCount; pageNo++) {
    const texts: string[] = [];
    for (let at = (pageNo - 1) * pageSize; at < Math.min(pageNo * pageSize, list.length); at++)
      texts.push(list.textAt(at));
    const pagination = { pageCount, pageNo, pageSize, totalRecordCount: list.length };
    pages.push(Buffer.from(`{"items":[${texts.join(',')}],"pagination":${JSON.stringify(pagination)}}`));
  }
}

const empty = Buffer.from(
  '{"items":[],"pagination":{"pageCount":0,"pageNo":1,"pageSize":50,"totalRecordCount":0}}',
);

function send(response: ServerResponse, body: Buffer): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://bench');
  if (url.pathname === '/state') {
    render(url.searchParams.get('is') as ListState);
    requests = 0;
    return send(response, Buffer.from('{}'));
  }
  if (url.pathname === '/requests') return send(response, Buffer.from(String(requests)));
  requests++;
  const pageNo = Number(url.searchParams.get('pageNo') ?? 1);
  const body = url.pathname === '/v2/document-exports' ? pages[pageNo - 1] : empty;
  if (body === undefined) return response.writeHead(404).end();
  if (latencyMs > 0) setTimeout(send, latencyMs, response, body);
  else send(response, body);
});

render('base');
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
