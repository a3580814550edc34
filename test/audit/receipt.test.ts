import { describe, expect, test } from 'vitest';
import { type Receipt, receiptOrNull, receiptText } from '../../src/audit/receipt.ts';

const mirrorId = '0198c0de-5a11-7e57-8000-00c0ffee0042';
const sum = '00112233445566778899aabbccddeeff';
const hash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const work = `"changes":"${hash}","checksum":"${sum}"`;
const counts = '"inserted":3,"recordCount":1203,"rejected":0,"removalsWithheld":0,"removed":0';
const states = `"kept":[{"count":5,"resource":"webhooks","sum":"${sum}"}]`;
const lists = `"lists":[{"checksum":"${sum}","recordCount":4,"resource":"webhooks"}],"mirrorId":"${mirrorId}"`;

/** A receipt of each kind, as it is stored; their form never changes. */
const texts = {
  run: `{"actor":"ops","baseUrl":"https://service.example","books":"${hash}","completedAt":"2026-11-21T10:00:01.234Z","docmirrorVersion":"0.2.0","kind":"run","lists":[{${work},"completeness":"proven","ended":"${hash}",${counts},"resource":"document-exports","status":"completed","updated":0},{${work},"ended":"${hash}","recordCount":12,"resource":"connections"}],"mirrorId":"${mirrorId}","runId":7,"startedAt":"2026-11-21T10:00:00.000Z","status":"completed","trigger":"manual"}`,
  upgrade: `{"at":"2026-11-21T10:00:00.000Z","docmirrorVersion":"0.2.0","fromVersion":"0.1.0",${states},"kind":"upgrade",${lists}}`,
  prune: `{"at":"2026-11-21T10:00:00.000Z","before":"2025-10-17T10:00:00.000Z","kind":"prune","mirrorId":"${mirrorId}"}`,
  'prune by 0.3': `{"at":"2026-11-21T10:00:00.000Z","before":"2025-10-17T10:00:00.000Z",${states},"kind":"prune","mirrorId":"${mirrorId}"}`,
  rebuild: `{"actor":"ops","at":"2026-11-21T10:00:00.000Z",${states},"kind":"rebuild",${lists}}`,
  erase: `{"actor":"ops","at":"2026-11-21T10:00:00.000Z","ended":[{"ended":"${hash}","runId":7}],"kind":"erase","mirrorId":"${mirrorId}","recordId":12,"resource":"document-exports","versions":2}`,
};
const { run } = texts;

describe('a receipt', () => {
  test.each(
    Object.entries({
      ...texts,
      'run that died': run
        .replaceAll('"completed"', '"interrupted"')
        .replace('"2026-11-21T10:00:01.234Z"', 'null')
        .replace('"proven"', 'null'),
    }),
  )('of a %s is read, and written as it was', (_kind, text) => {
    expect(receiptText(receiptOrNull(text) as Receipt)).toBe(text);
  });

  test('is one line, whoever ran it, and has no half surrogate pair', () => {
    const by = (actor: string): Receipt => ({ ...receiptOrNull(texts.rebuild), actor }) as Receipt;
    expect(receiptText(by('a\nb\u2028"c\\'))).not.toContain('\n');
    expect(() => receiptText(by('\ud800'))).toThrow();
  });
});

test.each([
  ['nothing', ''],
  ['no JSON', run.slice(0, -1)],
  ['a space', run.replace(',', ', ')],
  ['a newline at the end', `${run}\n`],
  ['a name twice', run.replace('"actor":"ops"', '"actor":"eve","actor":"ops"')],
  ['another order', run.replace(/^\{("actor":"ops"),(.*)\}$/, '{$2,$1}')],
  ['a number written otherwise', run.replace('"runId":7', '"runId":7.0')],
  ['half a surrogate pair, escaped', run.replace('ops', '\\ud800')],
  ['no actor', run.replace('"actor":"ops",', '')],
  ['another field', run.replace('"runId"', '"note":"x","runId"')],
  ['another kind', texts.prune.replace('"prune"', '"other"')],
  ['no UUID', texts.prune.replace(mirrorId, 'mine')],
  ['a run that goes on', run.replace(/"completed"(?=,"trigger")/, '"running"')],
  ['another list', run.replace('document-exports', 'others')],
  ['a count below 0', run.replace('"removed":0', '"removed":-1')],
  ['a checksum of 64 digits', run.replace(sum, hash)],
  ['books of 32 digits', run.replace(hash, sum)],
  ['another completeness', run.replace('proven', 'count_matched')],
])('a text with %s is no receipt', (_what, written) => {
  expect(receiptOrNull(written)).toBeNull();
});
