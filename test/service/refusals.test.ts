import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { lists } from '../../src/contract/lists.ts';
import { ServiceError } from '../../src/errors.ts';
import { numbersIn } from '../../src/service/refusals.ts';
import { Secrets } from '../../src/service/secrets.ts';
import { Service } from '../../src/service/service.ts';

describe('a refusal names the largest size', () => {
  test.each([
    [
      'Directus',
      '{"errors":[{"message":"Invalid query. \\"limit\\" must be less than or equal to 100."}]}',
      [100],
    ],
    [
      'NestJS',
      '{"statusCode":400,"message":["pageSize must not be greater than 100"],"error":"Bad Request"}',
      [100],
    ],
    [
      'FastAPI',
      '{"detail":[{"type":"less_than_equal","loc":["query","pageSize"],"msg":"Input should be less than or equal to 100","input":"1000","ctx":{"le":100}}]}',
      [100],
    ],
    [
      'Spring Boot',
      '{"timestamp":"2026-11-28T21:45:33.654+00:00","status":400,"error":"Bad Request","message":"must be less than or equal to 200","path":"/v2/collections"}',
      [200],
    ],
    [
      'ASP.NET Core',
      '{"type":"https://tools.ietf.org/html/rfc9110#section-15.5.1","status":400,"errors":{"PageSize":["The field PageSize must be between 1 and 500."]},"traceId":"00-84c1fd4063c38d9f3900d06e56542d48-85d1d4a1b2c3d4e5-00"}',
      [500, 1],
    ],
    [
      'Ajv',
      '[{"instancePath":"/pageSize","keyword":"maximum","params":{"comparison":"<=","limit":100}}]',
      [100],
    ],
    ['Zod', '{"issues":[{"code":"too_big","maximum":250,"path":["pageSize"]}]}', [250]],
    ['Laravel', '{"message":"The page size may not be greater than 75.","errors":{"pageSize":[]}}', [75]],
    ['a range', 'pageSize: 1-200 expected, got 1000', [200, 1]],
    ['a range with dots', 'pageSize must be in [1..120]', [120, 1]],
    ['no number', '{"error":"pageSize too large"}', []],
    ['greater numbers alone', '{"max":"1,000","got":5000,"share":0.25,"id":"E-17","at":"12:30:45"}', []],
    ['a page for people', '<html><style>p{width:600px;margin:7 12}</style>100</html>', []],
    ['an address', '{"help":"https://service.example.com/errors/17#300"}', []],
  ])('in the words of %s', (_who, body, numbers) => {
    expect(numbersIn(body, 400)).toEqual(numbers);
  });

  test('among the eight greatest numbers that it has', () => {
    const body = Array.from({ length: 30 }, (_, n) => `${n + 1}`).join(' ');
    expect(numbersIn(body, 29)).toEqual([30, 28, 27, 26, 25, 24, 23, 22]);
  });
});

describe('the body of a refusal', () => {
  const words = '{"error":"pageSize must be at most 100"}';
  const bodies: [name: string, body: Buffer | null, headers: Record<string, string>, numbers: number[]][] = [
    ['is read', Buffer.from(words), {}, [100]],
    ['is unpacked', gzipSync(words), { 'content-encoding': 'gzip' }, [100]],
    ['that is no gzip says nothing', Buffer.from(words), { 'content-encoding': 'gzip' }, []],
    ['that is no text says nothing', Buffer.from([0x31, 0x30, 0x30, 0xff]), {}, []],
    ['is read as far as 16 KiB', Buffer.from(`120 ${' '.repeat(20_000)}500`), {}, [120]],
    ['that never ends is not waited for', null, {}, []],
  ];

  test.each(bodies)('%s', async (_what, body, headers, numbers) => {
    const server = createServer((_request, response) => {
      response.writeHead(422, { ...headers, ...(body === null && { 'content-length': 100 }) });
      if (body === null) response.write('{"max":100');
      else response.end(body);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const service = new Service({
      baseUrl: `http://127.0.0.1:${port}`,
      readToken: async () => 'secret-token',
      secrets: new Secrets(),
      timeoutMs: 20_000,
      giveUpAfterMs: 0,
      concurrency: 1,
      userAgent: 'docmirror-test',
    });
    const beganMs = performance.now();
    try {
      const [list] = lists;
      if (list === undefined) throw new Error('no list');
      const page = service.getPage(list, { pageNo: null, pageSize: 1000 }, new AbortController().signal);
      const error = await page.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ServiceError);
      expect(error).toMatchObject({ code: 'refused', numbers });
      expect(performance.now() - beganMs).toBeLessThan(5_000);
    } finally {
      await service.close();
      server.closeAllConnections();
      server.close();
    }
  });
});
