// A page server in a process of its own: records are rendered before they are asked for, so that it costs next to
// nothing.
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type ListState, listIn, type References } from './records.ts';

const [count = 200_000, pageSizeMax = 500, latencyMs = 0] = process.argv.slice(2, 5).map(Number);
const references = (process.argv[5] ?? 'in order') as References;

/** All records one after the other, with a comma after each, and where each begins. */
let bytes = Buffer.alloc(0);
let starts = new Float64Array(1);
let requests = 0;

function render(state: ListState): void {
  const list = listIn(state, count, references);
  const parts: Buffer[] = [];
  starts = new Float64Array(list.length + 1);
  for (let at = 0; at < list.length; at++) {
    const part = Buffer.from(`${list.textAt(at)},`);
    parts.push(part);
    starts[at + 1] = (starts[at] as number) + part.length;
  }
  bytes = Buffer.concat(parts);
}

function pageOf(pageNo: number, pageSize: number): Buffer {
  const total = starts.length - 1;
  const from = Math.min(total, (pageNo - 1) * pageSize);
  const to = Math.min(total, from + pageSize);
  const items = bytes.subarray(starts[from], Math.max(starts[from] as number, (starts[to] as number) - 1));
  const pagination = { pageCount: Math.ceil(total / pageSize), pageNo, pageSize, totalRecordCount: total };
  return Buffer.concat([
    Buffer.from('{"items":['),
    items,
    Buffer.from(`],"pagination":${JSON.stringify(pagination)}}`),
  ]);
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
  const pageSize = Math.min(pageSizeMax, Number(url.searchParams.get('pageSize') ?? pageSizeMax));
  const body = url.pathname === '/v2/document-exports' ? pageOf(pageNo, pageSize) : empty;
  if (latencyMs > 0) setTimeout(send, latencyMs, response, body);
  else send(response, body);
});

render('base');
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
