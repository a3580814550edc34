import { describe, expect, test } from 'vitest';
import { judge, Ledger, type WalkReport } from '../src/proof/ledger.ts';
import type { PageFindings, WalkEnvelope } from '../src/sync/ports.ts';

const envelope: WalkEnvelope = { firstPageNo: 1, pageSize: 10, pageCount: 3, totalRecordCount: 25 };

/** A page of a walk over 25 records in pages of 10, as it should be, but for what a test says. */
function page(
  pageNo: number,
  over: Partial<Omit<PageFindings, 'pagination'>> & { echo?: Partial<PageFindings['pagination']> } = {},
): PageFindings {
  const { echo, ...rest } = over;
  return {
    pageNo,
    pagination: { pageNo, pageCount: 3, pageSize: 10, totalRecordCount: 25, ...echo },
    itemCount: pageNo === 3 ? 5 : 10,
    itemsDigest: `digest of ${pageNo}`,
    mayRepeat: false,
    sum: Buffer.alloc(16, pageNo),
    seenElsewhere: 0,
    rejected: 0,
    news: { count: 0, first: -1, last: -1, changed: 0 },
    ...rest,
  };
}

const goodPages = [page(1), page(2), page(3)];

function walk(
  pages: readonly (PageFindings | number)[],
  unseen = 0,
  over: Partial<WalkEnvelope> = {},
): WalkReport {
  const ledger = new Ledger({ ...envelope, ...over });
  for (const entry of pages) {
    if (typeof entry === 'number') ledger.addMissing(entry);
    else if (ledger.admit(entry)) ledger.add(entry);
  }
  return ledger.report(unseen);
}

const good = walk(goodPages);

describe('one walk', () => {
  const walks: [what: string, report: WalkReport, verdict: string][] = [
    ['in which all holds is enough', good, 'count_matched'],
    ['is enough whatever order its pages come in', walk([page(3), page(1), page(2)]), 'count_matched'],
    ['that did not see a record of the mirror is not enough', walk(goodPages, 1), 'again'],
    [
      'that saw a record on two pages is not enough',
      walk([page(1), page(2, { seenElsewhere: 1 }), page(3)]),
      'again',
    ],
    [
      'whose total changed is not enough',
      walk([page(1), page(2, { echo: { totalRecordCount: 26 } }), page(3)]),
      'again',
    ],
    [
      'whose page count changed is not enough',
      walk([page(1), page(2), page(3, { echo: { pageCount: 4 } })]),
      'again',
    ],
    [
      'whose page size changed is not enough',
      walk([page(1), page(2, { echo: { pageSize: 11 } }), page(3)]),
      'again',
    ],
    [
      'with a page that is not full is not enough',
      walk([page(1), page(2, { itemCount: 9 }), page(3, { itemCount: 6 })]),
      'again',
    ],
    [
      'with an overfull last page is not enough',
      walk([page(1), page(2, { itemCount: 4 }), page(3, { itemCount: 11 })]),
      'again',
    ],
    [
      'whose records do not add up to the total is not enough',
      walk([page(1), page(2), page(3, { itemCount: 4 })]),
      'again',
    ],
    ['with a page that is gone is not enough', walk([page(1), page(2), 3]), 'again'],
    [
      'with pages past the end that are empty, missing or the last one again is enough',
      walk([
        ...goodPages,
        page(4, { itemCount: 0 }),
        5,
        page(6, { itemsDigest: 'digest of 3', itemCount: 5, echo: { pageNo: 3 } }),
      ]),
      'count_matched',
    ],
    [
      'in which a page comes twice is not enough',
      walk([page(1), page(2, { itemsDigest: 'digest of 1' }), page(3)]),
      'again',
    ],
    [
      'in which two pages of twins are alike is enough',
      walk([
        page(1, { mayRepeat: true, itemsDigest: 'x' }),
        page(2, { mayRepeat: true, itemsDigest: 'x' }),
        page(3),
      ]),
      'count_matched',
    ],
    ['of an empty list is enough', walk([], 0, { pageCount: 0, totalRecordCount: 0 }), 'count_matched'],
    [
      'that answers another page than it was asked for is not enough',
      walk([page(1), page(2, { echo: { pageNo: 1 } }), page(3)]),
      'again',
    ],
  ];

  test.each(walks)('%s', (_what, report, verdict) => {
    expect(judge([report]).kind).toBe(verdict);
  });

  test('is never enough where proof is asked for', () => {
    expect(judge([good], true).kind).toBe('again');
    expect(judge([good, good], true).kind).toBe('proven');
  });
});

describe('several walks', () => {
  const unseen = walk(goodPages, 1);
  const other = walk([page(1, { sum: Buffer.alloc(16, 9) }), page(2), page(3)], 1);
  const moved = walk([page(1), page(2, { echo: { totalRecordCount: 26 } }), page(3)], 1);
  const wrongTotal = walk(goodPages, 1, { totalRecordCount: 99 });
  const ignored = walk([page(1), page(2, { echo: { pageNo: 1 } })]);
  const twins = walk([page(1), page(2, { seenElsewhere: 1 }), page(3)]);
  const sets: [what: string, walks: WalkReport[], verdict: string][] = [
    ['prove what two in a row saw alike', [unseen, unseen], 'proven'],
    ['prove twins that stand on two pages', [twins, twins], 'proven'],
    ['prove what the last two saw alike', [moved, unseen, unseen], 'proven'],
    ['prove nothing where two saw different records', [unseen, other], 'again'],
    ['prove nothing where only the first and the last agree', [unseen, other, unseen], 'unproven'],
    ['match by count where the second one is sound', [moved, good], 'count_matched'],
    ['do not agree under different envelopes', [unseen, walk(goodPages, 1, { pageCount: 4 })], 'again'],
    ['do not make a third where two agree on a total that is wrong', [wrongTotal, wrongTotal], 'unproven'],
    ['end unproven after three', [moved, moved, other], 'unproven'],
    ['end in an error where pageNo is ignored all the time', [ignored, ignored], 'pagination_ignored'],
    ['end well where pageNo seemed ignored once', [ignored, good], 'count_matched'],
  ];

  test.each(sets)('%s', (_what, walks, verdict) => {
    expect(judge(walks).kind).toBe(verdict);
  });

  test('say in words what contradicted what', () => {
    expect(judge([walk([page(1), page(2), page(3, { itemCount: 4 })])])).toEqual({
      kind: 'again',
      reason: 'the pages held 24 records, but totalRecordCount was 25',
    });
    expect(judge([moved])).toMatchObject({
      reason: expect.stringContaining('totalRecordCount was 25 on the first page and 26 on page 2'),
    });
    expect(judge([unseen])).toMatchObject({ reason: '1 records of the mirror were not seen' });
  });
});

describe('the ledger', () => {
  test('asks for as many pages as the service says, and as its total needs', () => {
    expect(new Ledger(envelope).lastPageNo).toBe(3);
    expect(new Ledger({ ...envelope, pageCount: 1 }).lastPageNo).toBe(3);
    expect(new Ledger({ ...envelope, firstPageNo: 0 }).lastPageNo).toBe(2);
    expect(new Ledger({ ...envelope, pageCount: 0, totalRecordCount: 0 }).lastPageNo).toBe(1);
  });

  test('follows a list that grows or shrinks while it is read', () => {
    const ledger = new Ledger(envelope);
    ledger.admit(page(2, { echo: { totalRecordCount: 41, pageCount: 5 } }));
    expect(ledger.lastPageNo).toBe(5);
    ledger.admit(page(3, { echo: { totalRecordCount: 12, pageCount: 2 } }));
    expect(ledger.lastPageNo).toBe(2);
  });

  test('ends a walk that finds no end', () => {
    const ledger = new Ledger({ ...envelope, totalRecordCount: 1_000_000_000 });
    for (let pageNo = 4; pageNo < 14; pageNo++) {
      expect(ledger.isPointless).toBe(false);
      ledger.addMissing(pageNo);
    }
    expect(ledger.isPointless).toBe(true);
  });
});
