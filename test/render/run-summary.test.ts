import { describe, expect, test } from 'vitest';
import { ServiceError } from '../../src/errors.ts';
import { firstLine, type SharedRunSummary, summaryText } from '../../src/render/run-summary.ts';
import { leftAloneError } from '../../src/service/retry-policy.ts';
import type { ListOutcome } from '../../src/store/tables/run.ts';

const plain: ListOutcome = {
  resource: 'document-exports',
  startedAt: '2026-11-20T10:00:00.000Z',
  completedAt: '2026-11-20T10:00:01.000Z',
  status: 'completed',
  mode: 'full',
  completeness: 'proven',
  firstPageNo: 1,
  pageSize: 500,
  pageCount: 3,
  totalRecordCount: 1_203,
  recordsSeen: 1_203,
  inserted: 0,
  updated: 0,
  removed: 0,
  unchanged: 1_203,
  rejected: 0,
  removalsWithheld: 0,
  undecided: 0,
  newFields: [],
  restlessFields: [],
  unreadableTimes: null,
  readSince: null,
  walks: 1,
  requests: 4,
  retries: 0,
  bytes: 1_000,
  waitedMs: 0,
  error: null,
  reason: null,
  reasons: [],
  retryAfterUntil: null,
  errorOfAnyList: null,
  ignoredFields: [],
  open: null,
  accepted: [],
  checksum: null,
};

function summaryOf(
  resources: readonly ListOutcome[],
  over: Partial<SharedRunSummary> = {},
): SharedRunSummary {
  return {
    runId: 7,
    status: 'completed',
    trigger: 'manual',
    startedAt: '2026-11-20T10:00:00.000Z',
    completedAt: '2026-11-20T10:00:01.200Z',
    receipt: null,
    durationMs: 1_200,
    error: null,
    resources,
    rowsDropped: null,
    versionsPruned: 0,
    serviceChanges: [],
    accepted: [],
    share: null,
    ...over,
  };
}

const unproven: ListOutcome = {
  ...plain,
  status: 'partial',
  completeness: 'unproven',
  inserted: 1_234_567,
  reason:
    'the total went from 1,203 to 1,202 and back while the list was read, in three readings, one after the other',
};
const withheld: ListOutcome = { ...plain, status: 'partial', resource: 'collections', removalsWithheld: 66 };
const failed: ListOutcome = {
  ...plain,
  resource: 'webhooks',
  status: 'failed',
  completeness: null,
  error: {
    code: 'network',
    message: 'GET https://exports.example.com/v2/webhooks failed: connection refused',
  },
};

describe('the summary of a run', () => {
  test('says in one line what changed, and that it is proven', () => {
    const text = summaryText(
      summaryOf([
        { ...plain, inserted: 3, removed: 1 },
        { ...plain, resource: 'webhooks', updated: 2 },
      ]),
      76,
    );
    expect(text).toBe(`List               Seen  New  Changed  Removed  Result
document-exports  1,203    3        0        1  complete: proven
webhooks          1,203    0        2        0  complete: proven

Run 7 completed in 1.2 s. 3 new, 2 changed, 1 removed. All lists proven.
`);
  });

  test('says that nothing was new, and what an incremental run is worth', () => {
    const text = summaryText(summaryOf([{ ...plain, completeness: 'incremental' }]));
    expect(text).toContain(
      'Run 7 completed in 1.2 s. Nothing new. All lists complete (incremental since the last full sync).',
    );
  });

  test('says why a list is not complete, and what to do', () => {
    const text = summaryText(summaryOf([unproven, withheld, failed], { status: 'partial' }));
    expect(text).toContain('Run 7 partial in 1.2 s. 1,234,567 new. Not complete: 3 of 3 lists.');
    expect(text).toContain('document-exports: unproven: the total went');
    expect(text).toContain('collections: the removal of 66 records was withheld');
    expect(text).toContain(
      'webhooks: GET https://exports.example.com/v2/webhooks failed: connection refused',
    );
    const [, advice] = text.split('What to do:\n');
    expect(
      advice,
    ).toBe(`- The next run tries again. If this stays, mend what the reason names, or sync when the list is quiet:
    docmirror sync --resource document-exports --full
- See which records. If they are really gone, remove them:
    docmirror sync --resource collections --allow-mass-removal --dry-run
    docmirror sync --resource collections --allow-mass-removal
- Check that the service runs, and that no firewall is in between. To try it:
    docmirror doctor
`);
  });

  test('says what a reading that ended early has kept, and what it would have in a dry run', () => {
    const early = {
      ...failed,
      completeness: 'unproven',
      recordsSeen: 7,
      totalRecordCount: 9,
      reason: 'it broke off',
    } as const;
    expect(summaryText(summaryOf([early]))).toContain('Kept 7 of 9 records: it broke off.');
    const dry = summaryText(summaryOf([early], { runId: null }));
    expect(dry).toContain('A run would have kept 7 of 9 records.');
    expect(dry).not.toContain('Kept');
  });

  test('says how long a whole reading takes if a deadline ended it', () => {
    const late = {
      ...failed,
      status: 'cancelled',
      completeness: 'unproven',
      error: { code: 'deadline', message: 'Stopped: it took longer than DOCMIRROR_DEADLINE allows.' },
      completedAt: '2026-11-20T10:10:00.000Z',
      requests: 200,
      pageCount: 600,
      recordsSeen: 100_000,
      totalRecordCount: 300_000,
      reason: 'the reading ended early',
    } as const;
    expect(summaryText(summaryOf([late]))).toContain(
      'Kept 100,000 of 300,000 records: the reading ended early. At this pace, a whole reading takes about 30 min.',
    );
    const unread = { ...late, completeness: null, pageCount: null, firstPageNo: null } as const;
    expect(summaryText(summaryOf([unread]))).not.toContain('At this pace');
  });

  test.each(['overloaded', 'server_error', 'timeout', 'network'])(
    'blames no setting if not one page came: %s',
    code => {
      const down = { ...failed, firstPageNo: null, error: { code, message: 'GET … answered 503' } } as const;
      const [, advice] = summaryText(summaryOf([down])).split('What to do:\n');
      expect(advice).toMatch(
        /^- Not one page came, so the service is probably down\. There is nothing to do here/,
      );
      const slow = { ...down, firstPageNo: 1 } as const;
      expect(summaryText(summaryOf([slow]))).not.toContain('nothing to do here');
    },
  );

  test.each([null, 1])(
    'says to wait if the service names a time, whether or not a page came: %s',
    firstPageNo => {
      const { message, retryAfterUntil } = leftAloneError(
        new ServiceError('overloaded', 'GET … answered 429: too many requests', { retryable: true }),
        7_200_000,
        0,
      );
      const error = { code: 'overloaded', message } as const;
      const asked = { ...failed, firstPageNo, error, retryAfterUntil } as const;
      const text = summaryText(summaryOf([asked]));
      expect(text).toContain('until 1970-01-01T02:00:00.000Z');
      expect(text).toMatch(/What to do:\n- Wait until the time that the message names, and run again\./);
    },
  );

  test('shows that the base address ends in /v2, also if the cause is that of all lists', () => {
    const missing = (resource: 'collections' | 'webhooks') => {
      const said = (what: string) =>
        `GET https://api.example.com/v2/v2/${what} answered 404: there is no page at this address`;
      const error = { code: 'not_found', message: said(resource) } as const;
      return { ...failed, resource, firstPageNo: null, error, errorOfAnyList: said('…') } as const;
    };
    const text = summaryText(summaryOf([missing('collections'), missing('webhooks')]));
    expect(text).toContain('GET https://api.example.com/v2/v2/… answered 404');
    expect(text).toContain('it must not end in /v2.');
  });

  test('advises one command for all lists that it is about', () => {
    const lists = [unproven, withheld, { ...unproven, resource: 'webhooks' } as const];
    const text = summaryText(summaryOf(lists));
    expect(text.match(/The next run tries again/g)).toHaveLength(1);
    const flags = '--resource document-exports --resource webhooks --full';
    expect(text).toContain(`    docmirror sync ${flags}\n`);
    const all = summaryText(
      summaryOf([unproven, { ...unproven, resource: 'collections' }, lists[2] as ListOutcome]),
    );
    expect(all).toContain('    docmirror sync --full\n');
  });

  test('tells a cause once, with all lists that have it', () => {
    const { message } = failed.error as { message: string };
    const error = {
      code: 'network',
      message: `${message.replace('webhooks', 'collections?pageSize=1000')}`,
    } as const;
    const tried = {
      ...error,
      message: `${error.message}; it was tried again until DOCMIRROR_GIVE_UP_AFTER was over`,
    };
    const errorOfAnyList = message.replace('webhooks', '…');
    const same = { ...failed, resource: 'collections', error: tried, errorOfAnyList } as const;
    const other = { ...failed, errorOfAnyList };
    const text = summaryText(summaryOf([same, other, { ...unproven, resource: 'document-exports' }]));
    expect(text).toContain(
      'collections, webhooks: GET https://exports.example.com/v2/… failed: connection refused [network]\n',
    );
    expect(text.match(/connection refused/g)).toHaveLength(1);
  });

  test.each([76, 60])('fits a terminal of %i columns, and keeps commands whole', width => {
    const text = summaryText(summaryOf([unproven, withheld, failed], { status: 'partial' }), width);
    const tooLong = text.split('\n').filter(line => line.length > width);
    expect(tooLong.filter(line => !line.startsWith('    docmirror '))).toEqual([]);
    expect(text).toContain('    docmirror sync --resource collections --allow-mass-removal\n');
    expect(text.startsWith('List ')).toBe(width === 76);
    expect(text).toContain('1,234,567');
  });
});

describe('the first line after a run that did not end with 0', () => {
  const nowMs = Date.parse('2026-11-20T13:00:00.000Z');
  const freshness = (runId: number | null, readSince: string | null) =>
    ({ resource: 'webhooks', runId, lastCompletedAt: readSince, readSince }) as const;
  const [older, newer] = [
    freshness(41, '2026-11-20T10:00:00.000Z'),
    freshness(42, '2026-11-20T12:59:00.000Z'),
  ];
  const endedBy = (code: string, status: 'failed' | 'cancelled' = 'failed') =>
    ({ ...failed, status, error: { code, message: '' } }) as const;
  const exports = { ...plain, resource: 'document-exports' } as const;
  const collections = { ...endedBy('timeout'), resource: 'collections' } as const;
  const error = { code: 'overloaded', message: '' } as const;
  const share = {
    path: 'share.sqlite',
    error: { code: 'share_failed', message: '' },
  } as SharedRunSummary['share'];
  const since = 'The mirror is complete as of run 41, 3 h ago.';

  test.each<[string, Partial<SharedRunSummary>, ReturnType<typeof freshness>[]]>([
    [
      `failed (overloaded). ${since}`,
      {
        status: 'failed',
        error,
        resources: [endedBy('overloaded'), { ...collections, ...endedBy('overloaded') }],
      },
      [older, older],
    ],
    [
      `failed (webhooks: overloaded; collections: timeout). ${since}`,
      { status: 'failed', error, resources: [endedBy('overloaded'), collections] },
      [older],
    ],
    [
      `partial (webhooks: overloaded). ${since}`,
      { status: 'partial', error, resources: [exports, endedBy('overloaded')] },
      [newer, older],
    ],
    [
      `partial (document-exports: unproven; collections: removals withheld). ${since}`,
      { status: 'partial', resources: [unproven, withheld, { ...plain, resource: 'webhooks' }] },
      [older, newer, newer],
    ],
    [
      `cancelled (collections, webhooks: deadline). ${since}`,
      {
        status: 'cancelled',
        resources: [
          exports,
          { ...collections, ...endedBy('deadline'), resource: 'collections' },
          endedBy('deadline', 'cancelled'),
        ],
      },
      [older, newer],
    ],
    [`cancelled. ${since}`, { status: 'cancelled', resources: [endedBy('cancelled', 'cancelled')] }, [older]],
    [
      'completed, no share (share_failed). The mirror is complete as of run 42, 1 min ago.',
      { share },
      [newer],
    ],
    [
      'failed (overloaded). The mirror was never complete.',
      { status: 'failed', resources: [endedBy('overloaded')] },
      [newer, freshness(null, null)],
    ],
    ['failed (disk_full).', { status: 'failed', resources: [endedBy('disk_full')] }, []],
  ])('says whose, how and since when: %s', (expected, over, lists) => {
    expect(firstLine('acme: ', summaryOf([exports], over), lists, nowMs)).toBe(`acme: ${expected}`);
  });

  test('is above the table, and fits the terminal', () => {
    const line = firstLine('acme: ', summaryOf([failed], { status: 'failed' }), [older], nowMs);
    const text = summaryText(summaryOf([failed]), 60, [], line);
    expect(text).toMatch(
      /^acme: failed \(network\)\. The mirror is complete as of run 41,\n {2}3 h ago\.\n\nList /,
    );
  });
});
