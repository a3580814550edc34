import { expect } from 'vitest';
import { listNames } from './database.ts';
import type { ListNight, Night, NightName } from './nights.ts';

// What is expected of six nights with a service.

/** Requests by page at most, and four more. A still night needs 1.4 times the pages of the exports: many exports share their time. */
const requestsByPage: Readonly<Record<NightName, number>> = {
  first: 1.7,
  same: 1.35,
  edits: 1.7,
  'new exports': 1.35,
  busy: 3,
  quiet: 1.7,
};

/** The same, if the last page can have more records than its size: some ends are asked for again. */
export const requestsWithOrphans: typeof requestsByPage = {
  ...requestsByPage,
  edits: 3,
  busy: 5,
  quiet: 3,
};

/** All lists are proven each night, row by row, and no change is told that is none. */
export function expectProven(nights: readonly Night[], mostByPage = requestsByPage): void {
  for (const { name, run, lists } of nights) {
    expect(run.code, `${name}: ${run.stderr}`).toBe(0);
    const hasChanged = lists['document-exports'].changed === null;
    expect(hasChanged, `${name}: exports changed during the run`).toBe(name === 'busy');
    for (const list of listNames) {
      const { said, count, missing, extra, changed } = lists[list];
      const isIncremental = name === 'new exports' && list === 'document-exports';
      expect({ ...said, missing, extra }, `${name}: ${list}`).toMatchObject({
        completeness: isIncremental ? 'incremental' : 'proven',
        reason: null,
        missing: [],
        extra: [],
      });
      if (changed !== null) expect(said.updated, `${name}: ${list}`).toBe(changed);
      const most = isIncremental ? 2 : mostByPage[name] * pagesOf(lists[list]) + 4;
      expect(said.requests, `${name}: ${list} of ${count}`).toBeLessThanOrEqual(most);
    }
  }
}

function pagesOf({ count }: ListNight): number {
  return Math.ceil(count / 100);
}

/** Webhooks are unproven each night for this cause, and nothing is lost. */
export function expectUnprovenWebhooks(nights: readonly Night[], cause: RegExp): void {
  for (const { name, run, lists } of nights) {
    expect(run.code, name).toBe(3);
    const { webhooks } = lists;
    expect(webhooks.said, name).toMatchObject({
      completeness: 'unproven',
      reason: expect.stringMatching(cause),
    });
    for (const list of listNames) expectNothingFalse(lists[list], `${name}: ${list}`);
    // While others write, a record can be on a page that is being cut.
    if (name !== 'busy') expect(webhooks.absent, name).toEqual([]);
  }
}

/** What is proven is so; nothing that is listed was removed; and the service was not asked too often. */
export function expectNothingFalse({ said, missing, extra, lost }: ListNight, of: string): void {
  expect(lost, of).toEqual([]);
  if (said.completeness !== 'unproven') expect({ missing, extra }, of).toEqual({ missing: [], extra: [] });
  else expect(said.reason, of).toBeTypeOf('string');
  // The bound for one reading of any service: 12 requests for each page, and 100.
  expect(said.requests, of).toBeLessThanOrEqual(12 * Number(said.pageCount) + 100);
}
