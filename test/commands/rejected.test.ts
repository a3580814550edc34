import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Scene, setScene } from '../support/scene.ts';

const secret = 'https://me:hunter2@hooks.example.com/';

let scene: Scene;
beforeAll(async () => {
  scene = await setScene({}, { exports: 3 });
  const { collections, webhooks } = scene.service.lists;
  collections.push('{"id":"x\\u001b[31m"}', '{"id":1.5}', '{"name":"no id"}');
  webhooks.push(`{"id":"y","endpoint":"${secret}"}`);
  await scene.sync();
  collections.splice(-1);
  await scene.sync();
});
afterAll(() => scene[Symbol.asyncDispose]());

interface Rejected {
  readonly counts: readonly Record<string, unknown>[];
  readonly records: readonly Record<string, unknown>[];
}

async function json(...args: string[]): Promise<Rejected> {
  const { code, stdout } = await scene.run('rejected', '--json', ...args);
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

describe('rejected', () => {
  test('counts the records by list and reason, and says which are still rejected', async () => {
    const { counts } = await json();
    expect(counts).toEqual([
      {
        resource: 'collections',
        reason: 'id: must be integer',
        count: 2,
        firstRunId: 1,
        lastRunId: 2,
        isCurrent: true,
      },
      {
        resource: 'webhooks',
        reason: 'id: must be integer',
        count: 1,
        firstRunId: 1,
        lastRunId: 2,
        isCurrent: true,
      },
      {
        resource: 'collections',
        reason: 'id: must be integer',
        count: 1,
        firstRunId: 1,
        lastRunId: 1,
        isCurrent: false,
      },
    ]);
  });

  test('has whole texts as JSON, and as many records as --limit says', async () => {
    const { records } = await json();
    expect(records.map(({ record }) => record)).toEqual([
      '{"id":"x\\u001b[31m"}',
      '{"id":1.5}',
      `{"id":"y","endpoint":"${secret}"}`,
      '{"name":"no id"}',
    ]);
    expect(records[0]).toMatchObject({ id: 1, resource: 'collections', runId: 1, lastRunId: 2, pageNo: 1 });
    expect((await json('--limit', '1')).records).toEqual(records.slice(0, 1));
  });

  test('shows people no secret of a webhook, and nothing that steers a terminal', async () => {
    const { code, stdout } = await scene.run('rejected', '--limit', '3');
    expect(code).toBe(0);
    expect(stdout).toContain('must be integer');
    expect(stdout).toContain('{"id":1.5}');
    expect(stdout).toContain('… and 1 more');
    expect(stdout).not.toMatch(/hunter2/);
    expect(stdout).not.toContain('\u001b');
  });
});
