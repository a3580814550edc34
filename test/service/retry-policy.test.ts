import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PageRequest } from '../../src/contract/page.ts';
import { type ErrorCode, ServiceError } from '../../src/errors.ts';
import { leftAloneError, verdictOn, waitOf } from '../../src/service/retry-policy.ts';

const none = { list: false, any: false, leftMs: 600_000 };
const anyList = { ...none, any: true };
const thisList = { list: true, any: true, leftMs: 600_000 };

const first: PageRequest = { pageNo: null, pageSize: 1000 };
const later: PageRequest = { pageNo: 5, pageSize: 1000 };
const auto: PageRequest = { ...first, triesOfSize: 2 };
const beyond: PageRequest = { pageNo: 9, pageSize: 1000, isBeyond: true };

const failed = (code: ErrorCode, details = {}) =>
  new ServiceError(code, 'no', { retryable: true, ...details });
const verdict = (
  code: ErrorCode,
  seen: typeof none,
  request: PageRequest,
  tryNumber: number,
  {
    waitMs = null,
    ...details
  }: { waitMs?: number | null; retryable?: false; isBare?: true; triesMax?: number } = {},
) => verdictOn(failed(code, details), waitMs, seen, request, tryNumber);

describe('the patience with', () => {
  test.each([
    // A failure, what the first answers of a run that fail like this are followed by, and the same after a page of this list.
    ['overloaded', 'again', 'again', 'smaller'],
    ['server_error', 'again', 'again', 'smaller'],
    ['timeout', 'again', 'again', 'smaller'],
    ['network', 'again', 'again', 'smaller'],
    ['proxy', 'again', 'again', 'again'],
    ['invalid_response', 'end', 'again', 'end'],
    ['unauthorized', 'end', 'again', 'end'],
    ['forbidden', 'end', 'again', 'end'],
    ['redirected', 'end', 'again', 'end'],
    ['certificate', 'end', 'again', 'end'],
    ['tls', 'end', 'again', 'end'],
    ['not_found', 'end', 'end', 'smaller'],
    ['refused', 'end', 'end', 'smaller'],
    ['response_too_large', 'end', 'end', 'smaller'],
    ['token_echoed', 'end', 'end', 'end'],
  ] as const)(
    '%s: first %s, after a page %s, and of the first page of auto %s',
    (code, before, after, ofAuto) => {
      for (const tryNumber of [3, 50]) {
        expect(verdict(code, none, first, tryNumber)).toBe(before);
        expect(verdict(code, thisList, later, tryNumber)).toBe(after);
        expect(verdict(code, none, auto, tryNumber)).toBe(ofAuto);
      }
    },
  );

  test.each([
    'unauthorized',
    'forbidden',
    'redirected',
    'certificate',
    'tls',
    'not_found',
    'refused',
  ] as const)('%s: the first answer is told at once', code =>
    expect(verdict(code, none, first, 1)).toBe('end'),
  );

  test('a list that was never allowed is none, but a token that other lists accepted is tried again', () => {
    expect(verdict('forbidden', anyList, first, 1)).toBe('end');
    expect(verdict('redirected', anyList, first, 1)).toBe('end');
    expect(verdict('unauthorized', anyList, first, 50)).toBe('again');
  });

  test('a first page of a wrong form is three tries, and six if it says that it failed', () => {
    const tries = (details = {}) =>
      [1, 2, 3, 4, 5, 6].filter(
        tryNumber => verdict('invalid_response', anyList, first, tryNumber, details) === 'again',
      ).length + 1;
    expect(tries()).toBe(3);
    expect(tries({ triesMax: 6 })).toBe(6);
  });

  test('a page past the end is two tries without items, and three of a wrong form, whatever was seen', () => {
    expect(verdict('invalid_response', thisList, beyond, 1, { isBare: true })).toBe('again');
    expect(verdict('invalid_response', thisList, beyond, 2, { isBare: true })).toBe('end');
    expect(verdict('invalid_response', thisList, beyond, 2)).toBe('again');
    expect(verdict('invalid_response', thisList, beyond, 3)).toBe('end');
    expect(verdict('server_error', thisList, beyond, 50)).toBe('again');
  });

  test('a page that alone can not be made is as often as it is allowed', () => {
    const limited = { ...later, triesMax: 4 };
    expect(verdict('server_error', thisList, limited, 3)).toBe('again');
    expect(verdict('server_error', thisList, limited, 4)).toBe('end');
    expect(verdict('timeout', thisList, limited, 4)).toBe('again');
  });

  test('a failure that no other try can help is told at once, until the list has worked', () => {
    expect(verdict('proxy', none, first, 1, { retryable: false })).toBe('end');
    expect(verdict('proxy', thisList, later, 1, { retryable: false })).toBe('again');
  });

  test('the first page of auto is two tries of each size, and one if it is refused', () => {
    expect(verdict('server_error', none, auto, 1)).toBe('again');
    expect(verdict('server_error', none, auto, 2)).toBe('smaller');
    expect(verdict('refused', none, auto, 1)).toBe('smaller');
    expect(verdict('response_too_large', none, auto, 1)).toBe('smaller');
  });

  test('a service that was given up is over, also for smaller pages; a refused size is none', () => {
    const over = { ...thisList, leftMs: 0 };
    expect(verdict('timeout', over, auto, 1)).toBe('given up');
    expect(verdict('unauthorized', over, later, 1)).toBe('given up');
    expect(verdict('invalid_response', { ...none, leftMs: 0 }, first, 1)).toBe('given up');
    expect(verdict('refused', over, auto, 1)).toBe('smaller');
    expect(verdict('refused', over, first, 1)).toBe('end');
  });

  test('a wait is kept with any failure, but not if it is longer than what is left', () => {
    for (const code of [
      'unauthorized',
      'not_found',
      'redirected',
      'invalid_response',
      'overloaded',
    ] as const) {
      expect(verdict(code, none, first, 7, { waitMs: 600_000 })).toBe('again');
      expect(verdict(code, none, first, 1, { waitMs: 600_001 })).toBe('left alone');
      expect(verdict(code, { ...none, leftMs: -5 }, first, 1, { waitMs: 1 })).toBe('left alone');
    }
    expect(verdict('overloaded', { ...none, leftMs: -5 }, first, 1, { waitMs: 0 })).toBe('given up');
    expect(verdict('overloaded', none, auto, 2, { waitMs: 5 })).toBe('smaller');
    expect(verdict('invalid_response', thisList, beyond, 2, { isBare: true, waitMs: 5 })).toBe('end');
  });
});

describe('a wait', () => {
  const nowMs = Date.parse('2026-11-20T12:00:00Z');
  const { TZ } = process.env;
  beforeAll(() => {
    process.env.TZ = 'America/New_York';
  });
  afterAll(() => {
    if (TZ === undefined) delete process.env.TZ;
    else process.env.TZ = TZ;
  });
  const tenYearsMs = 10 * 365 * 24 * 3_600_000;

  test.each([
    ['5', 5_000],
    [' 0 ', 0],
    ['1.5', 1_500],
    ['86400', 86_400_000],
    ['9'.repeat(400), tenYearsMs],
    ['1795176030', 30_000],
    ['Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
    ['Friday, 20-Nov-26 12:00:30 GMT', 30_000],
    ['Fri Nov 20 12:00:30 2026', 30_000],
    ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
    ['2026-11-20T14:00:30+02:00', 30_000],
    ['2026-11-20T12:00:30Z', 30_000],
    ['2026-11-20T12:00:30', 30_000],
    ['-5', null],
    ['1e3', null],
    ['5, 5', null],
    ['soon', null],
    ['', null],
    [undefined, null],
  ])('in Retry-After, %j, is %j ms', (text, ms) => {
    expect(waitOf(text === undefined ? {} : { 'retry-after': text }, nowMs)).toBe(ms);
  });

  test.each([
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '30' }, 30_000],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1795176030' }, 30_000],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1795176030000' }, 30_000],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': 'Fri, 20 Nov 2026 12:00:30 GMT' }, 30_000],
    [{ 'x-rate-limit-remaining': '0', 'x-rate-limit-reset': '30' }, 30_000],
    [{ 'ratelimit-remaining': ' 0', 'ratelimit-reset': '30' }, 30_000],
    [{ 'x-ratelimit-remaining': ['0', '0'], 'x-ratelimit-reset': ['30', '30'] }, 30_000],
    [{ 'retry-after': '2', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '30' }, 2_000],
    [{ 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': '30' }, null],
    [{ 'x-ratelimit-remaining': '', 'x-ratelimit-reset': '30' }, null],
    [{ 'x-ratelimit-remaining': '0' }, null],
    [{ 'x-ratelimit-reset': '30' }, null],
  ])('in %j is %j ms', (headers, ms) => expect(waitOf(headers, nowMs)).toBe(ms));

  test('that is too long is named with its end', () => {
    const error = leftAloneError(failed('unauthorized'), 3_600_000, nowMs);
    expect(error).toMatchObject({ code: 'overloaded', retryable: false });
    expect(error.message).toContain('wants no requests until 2026-11-20T13:00:00.000Z');
  });
});
