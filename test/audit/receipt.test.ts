import { describe, expect, test } from 'vitest';
import {
  type ListReceipt,
  MalformedError,
  type ReceiptOf,
  type RunReceipt,
  readReceipt,
  receiptText,
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
const upgrade: ReceiptOf<'upgrade'> = {
  kind: 'upgrade',
  mirrorId,
  at: '2026-11-21T10:00:00.000Z',
  fromVersion: '0.1.0',
  docmirrorVersion: '0.2.0',
  lists: [{ resource: 'webhooks', recordCount: 4, checksum }],
  kept: [{ resource: 'webhooks', count: 5, sum: checksum }],
};
const prune: ReceiptOf<'prune'> = {
  kind: 'prune',
  mirrorId,
  at: '2026-11-21T10:00:00.000Z',
  before: '2025-10-17T10:00:00.000Z',
};
const rebuild: ReceiptOf<'rebuild'> = {
  kind: 'rebuild',
  mirrorId,
  at: '2026-11-21T10:00:00.000Z',
  actor: 'ops',
  lists: [{ resource: 'webhooks', recordCount: 4, checksum }],
  kept: [{ resource: 'webhooks', count: 5, sum: checksum }],
};
const erase: ReceiptOf<'erase'> = {
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
      `{"at":"2026-11-21T10:00:00.000Z","before":"2025-10-17T10:00:00.000Z","kind":"prune","mirrorId":"${mirrorId}"}`,
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

  const { kept } = upgrade;
  test.each([run, upgrade, prune, { ...prune, kept }, rebuild, erase])(
    'is read back as it was written: $kind',
    receipt => {
      expect(readReceipt(receiptText(receipt))).toEqual(receipt);
    },
  );

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
    ['half a surrogate pair, escaped', text.replace('ops', '\\ud800')],
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
    ['a mirror has a UUID', { ...prune, mirrorId: 'mine' }],
    ['a run that goes on has none', { ...run, status: 'running' }],
    ['a list is known', withList({ resource: 'others' })],
    ['a count is not below 0', withList({ removed: -1 })],
    ['a checksum has 32 digits', withList({ checksum: changes })],
    ['books have 64 digits', { ...run, books: checksum }],
    ['completeness is known', withList({ completeness: 'count_matched' })],
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
