// Reads all pages by docmirror's own HTTP client and discards them, or parses them first: the least time of any sync.

import { HttpClient } from '../src/service/http-client.ts';
import { AwakeClock } from '../src/service/pace.ts';
import { Secrets } from '../src/service/secrets.ts';

const [baseUrl = '', then = 'throw away', concurrency = '4', pageSize = '500'] = process.argv.slice(2);

const client = new HttpClient(
  {
    baseUrl,
    timeoutMs: 60_000,
    concurrency: Number(concurrency),
    userAgent: 'bench',
    secrets: new Secrets(),
  },
  new AwakeClock(),
);
const { signal } = new AbortController();

async function get(pageNo: number): Promise<Buffer> {
  const path = `/v2/document-exports?pageNo=${pageNo}&pageSize=${pageSize}`;
  return (await client.get(path, 'bench', signal, 60_000)).bytes;
}

const first = JSON.parse((await get(1)).toString());
let next = 2;

async function drain(): Promise<void> {
  while (next <= first.pagination.pageCount) {
    const body = await get(next++);
    if (then === 'parse') JSON.parse(body.toString());
  }
}

await Promise.all(Array.from({ length: Number(concurrency) }, drain));
await client.close();
