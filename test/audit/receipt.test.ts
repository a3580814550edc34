import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MalformedError } from '../../src/audit/malformed-error.ts';
import {
  type EraseReceipt,
  type ListReceipt,
  type PruneReceipt,
  type RebuildReceipt,
  type Receipt,
  type RunReceipt,
  readReceipt,
  receiptText,
  type UpgradeReceipt,
} from '../../src/audit/receipt.ts';

const mirrorId = '0198c0de-5a11-7e57-8000-00c0ffee0042';
const checksum = '00112233445566778899aabbccddeeff';
const changes = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const ended = 'e5a00aa9991ac8a5ee3109844d84a55583bd20572ad3ffcd42792f3c36b183ad';
const books = '36a9e7f1c95b82ffb99743e0c5c4ce95d83c9a430aac59f84ef3cbfab6145068';
const list: ListReceipt = {
  resource: 'document-exports',
  status: 'completed',
  completeness: 'proven',
  recordCount: 1203,
  inserted: 3,
  updated: 0,
  removed: 0,
  rejected: 0,
  removalsWithheld: 0,
  checksum,
  changes,
  ended,
};
const run: RunReceipt = {
  kind: 'run',
  mirrorId,
  runId: 7,
  status: 'completed',
  trigger: 'manual',
  startedAt: '2026-11-21T10:00:00.000Z',
  completedAt: '2026-11-21T10:00:01.234Z',
  actor: 'ops',
  baseUrl: 'https://service.example',
  docmirrorVersion: '0.2.0',
  books,
  lists: [list, { resource: 'connections', recordCount: 12, checksum, changes, ended }],
};
const upgrade: UpgradeReceipt = {
  kind: 'upgrade',
  mirrorId,
  at: '2026-11-21T10:00:00.000Z',
  fromVersion: '0.1.0',
  docmirrorVersion: '0.2.0',
  lists: [{ resource: 'webhooks', recordCount: 4, checksum }],
  kept: [{ resource: 'webhooks', count: 5, sum: checksum }],
};
const prune: PruneReceipt = {
  kind: 'prune',
  mirrorId,
  at: '2026-11-21T10:00:00.000Z',
  before: '2025-10-17T10:00:00.000Z',
  kept: [{ resource: 'webhooks', count: 5, sum: checksum }],
};
const rebuild: RebuildReceipt = {
  kind: 'rebuild',
  mirrorId,
  at: '2026-11-21T10:00:00.000Z',
  actor: 'ops',
  lists: [{ resource: 'webhooks', recordCount: 4, checksum }],
  kept: [{ resource: 'webhooks', count: 5, sum: checksum }],
};
const erase: EraseReceipt = {
  kind: 'erase',
  mirrorId,
  at: '2026-11-21T10:00:00.000Z',
  actor: 'ops',
  resource: 'document-exports',
  recordId: 12,
  versions: 2,
  ended: [{ runId: 7, ended }],
};

describe('a receipt', () => {
  test('is the canonical text that the contract shows', () => {
    expect(receiptText(run)).toBe(
      `{"actor":"ops","baseUrl":"https://service.example","books":"${books}","completedAt":"2026-11-21T10:00:01.234Z","docmirrorVersion":"0.2.0","kind":"run","lists":[{"changes":"${changes}","checksum":"${checksum}","completeness":"proven","ended":"${ended}","inserted":3,"recordCount":1203,"rejected":0,"removalsWithheld":0,"removed":0,"resource":"document-exports","status":"completed","updated":0},{"changes":"${changes}","checksum":"${checksum}","ended":"${ended}","recordCount":12,"resource":"connections"}],"mirrorId":"${mirrorId}","runId":7,"startedAt":"2026-11-21T10:00:00.000Z","status":"completed","trigger":"manual"}`,
    );
    expect(receiptText(upgrade)).toBe(
      `{"at":"2026-11-21T10:00:00.000Z","docmirrorVersion":"0.2.0","fromVersion":"0.1.0","kept":[{"count":5,"resource":"webhooks","sum":"${checksum}"}],"kind":"upgrade","lists":[{"checksum":"${checksum}","recordCount":4,"resource":"webhooks"}],"mirrorId":"${mirrorId}"}`,
    );
    expect(receiptText(prune)).toBe(
      `{"at":"2026-11-21T10:00:00.000Z","before":"2025-10-17T10:00:00.000Z","kept":[{"count":5,"resource":"webhooks","sum":"${checksum}"}],"kind":"prune","mirrorId":"${mirrorId}"}`,
    );
    expect(receiptText(rebuild)).toBe(
      `{"actor":"ops","at":"2026-11-21T10:00:00.000Z","kept":[{"count":5,"resource":"webhooks","sum":"${checksum}"}],"kind":"rebuild","lists":[{"checksum":"${checksum}","recordCount":4,"resource":"webhooks"}],"mirrorId":"${mirrorId}"}`,
    );
    expect(receiptText(erase)).toBe(
      `{"actor":"ops","at":"2026-11-21T10:00:00.000Z","ended":[{"ended":"${ended}","runId":7}],"kind":"erase","mirrorId":"${mirrorId}","recordId":12,"resource":"document-exports","versions":2}`,
    );
  });

  test('of a run that died says so, and that nobody knows when', () => {
    const died: RunReceipt = {
      ...run,
      status: 'interrupted',
      completedAt: null,
      lists: [{ ...list, status: 'interrupted', completeness: null }],
    };
    expect(readReceipt(receiptText(died))).toEqual(died);
  });

  test('of any kind and content is read back as it was written', () => {
    fc.assert(
      fc.property(anyReceipt(), receipt => {
        expect(readReceipt(receiptText(receipt))).toEqual(receipt);
      }),
    );
  });

  test('is one line, whoever ran it', () => {
    expect(receiptText({ ...run, actor: 'a\nb\u2028"c\\' })).not.toContain('\n');
  });

  test('with half a surrogate pair can not be written', () => {
    expect(() => receiptText({ ...run, actor: '\ud800' })).toThrow();
  });
});

describe('a text that docmirror did not write so is no receipt:', () => {
  const text = receiptText(run);
  test.each([
    ['nothing', ''],
    ['no JSON', text.slice(0, -1)],
    ['a space', text.replace(',', ', ')],
    ['a newline at the end', `${text}\n`],
    ['a name twice', text.replace('"actor":"ops"', '"actor":"eve","actor":"ops"')],
    ['another order', JSON.stringify(run)],
    ['a number written otherwise', text.replace('"runId":7', '"runId":7.0')],
    ['a letter escaped', text.replace('ops', '\\u006fps')],
    ['half a surrogate pair, escaped', text.replace('ops', '\\ud800')],
    ['half a surrogate pair', text.replace('ops', '\ud800')],
    ['null', 'null'],
    ['a list', `[${text}]`],
  ])('%s', (_, written) => {
    expect(() => readReceipt(written)).toThrow(MalformedError);
  });
});

describe('a receipt has the fields of its kind, each with an allowed value:', () => {
  const { actor, ...withoutActor } = run;
  const withList = (change: object) => ({ ...run, lists: [{ ...list, ...change }] });
  test.each<[string, object]>([
    ['none is missing', withoutActor],
    ['there is no other', { ...run, note: actor }],
    ['the kind is known', { ...prune, kind: 'other' }],
    ['the kind fits', { ...prune, kind: 'run' }],
    ['a mirror has a UUID', { ...prune, mirrorId: 'mine' }],
    ['a run has a number from 1', { ...run, runId: 0 }],
    ['a run that goes on has none', { ...run, status: 'running' }],
    ['a time is in ISO 8601', { ...run, startedAt: '2026-11-21 10:00:00' }],
    ['a time is a time', { ...run, startedAt: 'yesterday' }],
    ['a time is on the calendar', { ...run, startedAt: '2026-02-30T10:00:00.000Z' }],
    ['a start is known', { ...run, startedAt: null }],
    ['an actor is a text', { ...run, actor: null }],
    ['a version is not empty', { ...upgrade, fromVersion: '' }],
    ['lists are a list', { ...run, lists: {} }],
    ['a list is known', withList({ resource: 'others' })],
    [
      'a list has its fields',
      { ...run, lists: [{ resource: 'collections', recordCount: 12, checksum, changes, ended }] },
    ],
    ['connections have no others', withList({ resource: 'connections' })],
    ['a count is whole', withList({ inserted: 0.5 })],
    ['a count is not below 0', withList({ removed: -1 })],
    ['a count is a number', withList({ updated: '0' })],
    ['a checksum has 32 digits', withList({ checksum: changes })],
    ['digits are in lower case', withList({ checksum: checksum.toUpperCase() })],
    ['a changes hash has 64 digits', withList({ changes: checksum })],
    ['an ended hash has 64 digits', withList({ ended: checksum })],
    ['books have 64 digits', { ...run, books: checksum }],
    ['erased versions are counted', { ...erase, versions: -1 }],
    ['a record has a number', { ...erase, recordId: '12' }],
    ['what was erased is in the mirror', { ...erase, resource: 'sync-runs' }],
    ['a rebuild states no changes', { ...rebuild, lists: run.lists }],
    ['completeness is known', withList({ completeness: 'count_matched' })],
    ['a list stands once', { ...run, lists: [list, list] }],
    ['lists are in order', { ...run, lists: [{ ...list, resource: 'webhooks' }, list] }],
    ['connections stand last', { ...run, lists: run.lists.toReversed() }],
    ['an upgrade states no changes', { ...upgrade, lists: run.lists }],
  ])('%s', (_, value) => {
    expect(() => readReceipt(canonical(value))).toThrow(/with exactly the fields of its kind/);
  });
});

/** Canonical as far as these values need it: names in order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}

function anyReceipt(): fc.Arbitrary<Receipt> {
  const count = fc.maxSafeInteger().map(Math.abs);
  const digits = (length: number) =>
    fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });
  const text = fc.string({ unit: 'binary' });
  const time = fc
    .date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) })
    .map(date => date.toISOString());
  const status = fc.constantFrom<ListReceipt['status']>(
    'completed',
    'partial',
    'failed',
    'cancelled',
    'interrupted',
  );
  const state = { recordCount: count, checksum: digits(32) };
  const some = <T>(lists: readonly fc.Arbitrary<T>[]) =>
    fc.tuple(...lists.map(one => fc.option(one))).map(all => all.filter(one => one !== null));
  const names = ['document-exports', 'collections', 'webhooks'] as const;
  const lists = names.map(resource =>
    fc.record<ListReceipt>({
      ...state,
      resource: fc.constant(resource),
      changes: digits(64),
      ended: digits(64),
      status,
      completeness: fc.constantFrom('proven', 'incremental', 'unproven', null),
      inserted: count,
      updated: count,
      removed: count,
      rejected: count,
      removalsWithheld: count,
    }),
  );
  const connections = fc.record({
    ...state,
    resource: fc.constant('connections' as const),
    changes: digits(64),
    ended: digits(64),
  });
  const sums = some(
    [...names, 'connections' as const].map(resource =>
      fc.record({ ...state, resource: fc.constant(resource) }),
    ),
  );
  const kept = some(
    [...names, 'connections' as const].map(resource =>
      fc.record({ resource: fc.constant(resource), count, sum: digits(32) }),
    ),
  );
  return fc.oneof(
    fc.record<RunReceipt>({
      kind: fc.constant('run'),
      mirrorId: fc.uuid(),
      runId: fc.integer({ min: 1 }),
      status,
      trigger: fc.constantFrom('manual', 'schedule'),
      startedAt: time,
      completedAt: fc.option(time),
      actor: text,
      baseUrl: text,
      docmirrorVersion: fc.constant('0.2.0'),
      books: digits(64),
      lists: some<RunReceipt['lists'][number]>([...lists, connections]),
    }),
    fc.record<UpgradeReceipt>({
      kind: fc.constant('upgrade'),
      mirrorId: fc.uuid(),
      at: time,
      fromVersion: fc.constant('0.1.0'),
      docmirrorVersion: fc.constant('0.2.0'),
      lists: sums,
      kept,
    }),
    fc.record<PruneReceipt>({
      kind: fc.constant('prune'),
      mirrorId: fc.uuid(),
      at: time,
      before: time,
      kept,
    }),
    fc.record<RebuildReceipt>({
      kind: fc.constant('rebuild'),
      mirrorId: fc.uuid(),
      at: time,
      actor: text,
      lists: sums,
      kept,
    }),
    fc.record<EraseReceipt>({
      kind: fc.constant('erase'),
      mirrorId: fc.uuid(),
      at: time,
      actor: text,
      resource: fc.constantFrom(...names, 'connections' as const, 'rejected-records' as const),
      recordId: fc.maxSafeInteger(),
      versions: count,
      ended: fc
        .uniqueArray(fc.record({ runId: fc.integer({ min: 1 }), ended: digits(64) }), {
          selector: each => each.runId,
        })
        .map(all => all.toSorted((one, other) => one.runId - other.runId)),
    }),
  );
}
