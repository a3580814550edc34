import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { troubleshootingPath, troubleshootingText } from '../docs/reference.ts';
import { findingHelp, findingsThatCount, findingWords, sentenceOf, sentencesOf } from '../src/findings.ts';
import type { Finding, FindingCode } from '../src/proof/findings.ts';

/** One finding of each code, and of each kind of it. */
const samples: { readonly [Code in FindingCode]: readonly (Finding & { code: Code })[] } = {
  page_failed: [{ code: 'page_failed', pages: [3, 7], count: 2, pageSize: 500 }],
  end_not_shown: [
    { code: 'end_not_shown', total: 4_201, end: 4_198 },
    { code: 'end_not_shown', total: 120, end: 120 },
  ],
  total_is_no_count: [
    { code: 'total_is_no_count', kind: 'limit', total: 1_000, shown: 1_250 },
    { code: 'total_is_no_count', kind: 'estimate', total: 1_000, shown: 1_250 },
    { code: 'total_is_no_count', kind: 'pages', total: 100, pages: 5 },
    { code: 'total_is_no_count', kind: 'deduced', total: 205, ends: [32, 55] },
  ],
  totals_differ: [{ code: 'totals_differ', least: 253, most: 260 }],
  total_exceeds_records: [{ code: 'total_exceeds_records', total: 400, shown: 399 }],
  records_beyond_total: [{ code: 'records_beyond_total', total: 100, page: 6, records: 20 }],
  page_contradicts_total: [{ code: 'page_contradicts_total', total: 100, page: 5, records: 12 }],
  pages_short: [{ code: 'pages_short', pageCount: 30, total: 300, shown: 211 }],
  page_size_ignored: [
    { code: 'page_size_ignored', asked: 70, served: 50 },
    { code: 'page_size_ignored', asked: 70, served: null },
  ],
  page_number_ignored: [
    { code: 'page_number_ignored', asked: 3, answered: 4 },
    { code: 'page_number_ignored', asked: 3, answered: null },
  ],
  changes_too_fast: [{ code: 'changes_too_fast' }],
  not_in_order: [{ code: 'not_in_order' }],
  order_unstable: [{ code: 'order_unstable' }],
  records_repeated: [{ code: 'records_repeated' }],
  pages_too_small: [{ code: 'pages_too_small', size: 1 }],
  ties_too_long: [{ code: 'ties_too_long', records: 2 }],
  id_twice: [
    { code: 'id_twice', id: 3, count: 1 },
    { code: 'id_twice', id: 3, count: 2 },
  ],
  copies_differ: [
    { code: 'copies_differ', totals: [400, 380], count: null },
    { code: 'copies_differ', totals: [260, 253], count: 7 },
  ],
  answers_old: [
    { code: 'answers_old', ageMs: 1_200_000 },
    { code: 'answers_old', ageMs: 86_400_000 },
  ],
  newest_only: [{ code: 'newest_only', total: 1_000, count: 12 }],
  not_confirmed: [{ code: 'not_confirmed', count: 1 }],
  record_rejected: [{ code: 'record_rejected', count: 2 }],
  ended_early: [
    { code: 'ended_early', records: 0, total: null, isPaused: false, goesOn: false },
    { code: 'ended_early', records: 200, total: 600, isPaused: true, goesOn: true },
  ],
  list_emptied: [{ code: 'list_emptied', count: 40 }],
  list_refilled: [{ code: 'list_refilled', count: 40 }],
  records_replaced: [{ code: 'records_replaced', count: 40 }],
  removals_withheld: [
    { code: 'removals_withheld', count: 66, limit: 50, why: 'limit' },
    { code: 'removals_withheld', count: 1, limit: null, why: 'rejected' },
  ],
  field_gone: [{ code: 'field_gone', field: 'downloadUrl', count: 40 }],
  field_new: [{ code: 'field_new', field: 'owner', count: 40 }],
  field_volatile: [{ code: 'field_volatile', field: 'downloadUrl', count: 40 }],
  time_unreadable: [{ code: 'time_unreadable', count: 3 }],
};

test('each finding has a sentence of its own without a full stop, which says its facts in one line', () => {
  const all = Object.values(samples).flat();
  const sentences = all.map(sentenceOf);
  expect(new Set(sentences).size).toBe(all.length);
  for (const sentence of sentences) expect(sentence).toMatch(/^[^\n]{10,300}[^.\n]$/);
  expect(sentences.filter(text => /undefined|null|NaN|\[object/.test(text))).toEqual(
    sentences.filter(text => text.includes('missing or null')),
  );
});

test('each code is explained with its facts, for "docmirror help" and docs/troubleshooting.md', () => {
  expect(Object.keys(findingWords).sort()).toEqual(Object.keys(samples).sort());
  const page = readFileSync(troubleshootingPath, 'utf8');
  expect(page).toBe(troubleshootingText());
  for (const [code, all] of Object.entries(samples)) {
    const { says, others = [], advice } = findingWords[code as FindingCode];
    expect(advice, code).toMatch(/\.$|:(\n {4}docmirror [^\n]*)+$/);
    expect(page).toContain(`<a id="${code}"></a>\`${code}\``);
    const told = [...JSON.stringify(says).matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const facts = [...new Set(all.flatMap(sample => Object.keys(sample)))].filter(name => name !== 'code');
    const named = new Set([...told, ...others]).difference(new Set(['age']));
    expect([...named].sort(), code).toEqual(facts.sort());
    const help = findingHelp(code) ?? '';
    for (const name of told) expect(help).toContain(`{${name}}`);
  }
  expect(findingHelp('toString')).toBeNull();
});

test('several findings are one text, and none are null', () => {
  const [one, other] = [samples.not_in_order[0], samples.changes_too_fast[0]] as const;
  expect(sentencesOf([one, other] as Finding[])).toEqual(
    expect.stringMatching(/^a page is out of order, .*; the list changes faster than it can be read$/),
  );
  expect(sentencesOf([])).toBeNull();
});

test('what is told of fields and times leaves a list complete, and everything else does not', () => {
  const told = ['field_gone', 'field_new', 'field_volatile', 'time_unreadable'];
  const all = Object.values(samples).flat();
  const others = all.filter(({ code }) => !told.includes(code));
  expect(findingsThatCount(all)).toEqual(others);
  expect(all.length - others.length).toBe(told.length);
});
