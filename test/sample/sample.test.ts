import { describe, expect, it } from 'vitest';
import { type ListDefinition, lists } from '../../src/contract/lists.ts';
import { readContent } from '../../src/contract/page.ts';
import { readRecords } from '../../src/contract/record.ts';
import { changeSample } from '../../src/sample/change.ts';
import { generateSample } from '../../src/sample/generate.ts';
import type { DocumentExport, Sample } from '../../src/sample/shapes.ts';

const now = new Date('2026-11-20T12:00:00Z');
const later = new Date('2026-11-20T15:00:00Z');
const dayMs = 86_400_000;
const sample = generateSample({ now });
const log = sample['document-exports'];
const changed = changeSample(sample, { now: later });

describe('generateSample', () => {
  it('gives the same sample for the same options, and another for another seed', () => {
    expect(generateSample({ now })).toEqual(sample);
    expect(generateSample({ now, seed: 7 })).not.toEqual(sample);
  });

  it('gives as many records as it says', () => {
    expect(counts(sample)).toEqual([4_000, 24, 8]);
    for (const documentExports of [0, 1, 11, 12, 50]) {
      expect(generateSample({ now, documentExports })['document-exports']).toHaveLength(documentExports);
    }
  });

  it('lists exports newest first, within the 120 days before now', () => {
    const times = log.map(item => item.exportedAt);
    expect(times).toEqual(times.toSorted().reverse());
    expect(Date.parse(times[0] ?? '')).toBeLessThanOrEqual(now.getTime());
    expect(Date.parse(times.at(-1) ?? '')).toBeGreaterThanOrEqual(now.getTime() - 120 * dayMs);
  });

  it('is quieter on weekends than in the week', () => {
    const weekend = log.filter(item => [0, 6].includes(new Date(item.exportedAt).getUTCDay()));
    expect(weekend.length).toBeGreaterThan(0);
    expect(weekend.length).toBeLessThan(log.length * 0.15);
  });

  it('contains one pair of identical twins', () => {
    expect(new Set(log.map(item => JSON.stringify(item))).size).toBe(log.length - 1);
    expect(log[10]).toEqual(log[11]);
  });

  it('contains nulls, titles beyond ASCII and documents that were exported as several versions', () => {
    expect(log.some(item => item.sourceDocumentTitle === null)).toBe(true);
    expect(log.some(item => item.destinationReference === null)).toBe(true);
    expect(log.some(item => /[^\p{ASCII}]/u.test(item.sourceDocumentTitle ?? ''))).toBe(true);
    expect(log.some(item => item.sourceDocumentVersion?.startsWith('3'))).toBe(true);
    expect(sample.collections.some(item => item.destinationConnection === null)).toBe(true);
    expect(sample.webhooks.some(item => item.description === null)).toBe(true);
  });

  it('refers to 12 connections, each under one name', () => {
    const names = namesById(sample);
    expect(names.size).toBe(12);
    for (const ofOne of names.values()) expect(ofOne.size).toBe(1);
  });

  it('gives every webhook an endpoint of its own with a secret', () => {
    expect(new Set(sample.webhooks.map(item => item.endpoint)).size).toBe(8);
    for (const { endpoint } of sample.webhooks)
      expect(endpoint).toMatch(/^https:\/\/hooks\.example\.com\/.+\?sig=\w{32}$/);
  });

  it.each(lists)('contains only items that the mirror can read: $resource', list => {
    for (const each of [sample, changed]) expect(rejections(list, each)).toEqual([]);
  });
});

describe('changeSample', () => {
  it('leaves the sample that it is given as it was, and is the same for the same options', () => {
    expect(sample).toEqual(generateSample({ now }));
    expect(changeSample(sample, { now: later })).toEqual(changed);
  });

  it('adds 25 exports at the head, in order, none later than now', () => {
    const times = changed['document-exports'].map(item => item.exportedAt);
    expect(times).toEqual(times.toSorted().reverse());
    const added = times.slice(0, 25).map(Date.parse);
    expect(Math.min(...added)).toBeGreaterThan(Date.parse(log[0]?.exportedAt ?? ''));
    expect(Math.max(...added)).toBeLessThanOrEqual(later.getTime());
  });

  it('corrects 3 titles and removes 2 exports', () => {
    const before = new Map(log.map(item => [identity(item), item.sourceDocumentTitle]));
    const after = new Map(
      changed['document-exports'].slice(25).map(item => [identity(item), item.sourceDocumentTitle]),
    );
    const kept = [...before].filter(([key]) => after.has(key));
    expect(before.size - kept.length).toBe(2);
    expect(kept.filter(([key, title]) => after.get(key) !== title)).toHaveLength(3);
    expect(counts(changed)).toEqual([4_023, 24, 7]);
  });

  it('renames one collection', () => {
    const names = new Set(sample.collections.map(item => item.name));
    expect(changed.collections.filter(item => !names.has(item.name))).toHaveLength(1);
    expect(changed.collections.map(item => item.id)).toEqual(sample.collections.map(item => item.id));
  });

  it('renames one connection wherever it is referred to', () => {
    const before = namesById(sample);
    const after = namesById(changed);
    const renamed = [...after].filter(
      ([id, names]) => [...names].join() !== [...(before.get(id) ?? [])].join(),
    );
    expect(renamed).toHaveLength(1);
    for (const names of after.values()) expect(names.size).toBe(1);
  });

  it('can change a sample again and again, also an empty one', () => {
    const again = changeSample(changed, { now: new Date('2026-11-21T12:00:00Z'), seed: 3 });
    expect(counts(again)).toEqual([4_046, 24, 6]);
    for (const names of namesById(again).values()) expect(names.size).toBe(1);
    const empty: Sample = { 'document-exports': [], collections: [], webhooks: [] };
    expect(counts(changeSample(empty, { now }))).toEqual([25, 0, 0]);
  });
});

function counts(of: Sample): number[] {
  return lists.map(list => of[list.resource].length);
}

function identity(item: DocumentExport): string {
  const {
    sourceConnection,
    sourceDocumentReference,
    sourceDocumentVersion,
    destinationReference,
    exportedAt,
  } = item;
  return [
    sourceConnection.id,
    sourceDocumentReference,
    sourceDocumentVersion,
    destinationReference,
    exportedAt,
  ].join();
}

function namesById(of: Sample): Map<number, Set<string>> {
  const names = new Map<number, Set<string>>();
  for (const [, id, name] of JSON.stringify(of).matchAll(/\{"id":(\d+),"name":("[^"]*")\}/g)) {
    names.set(Number(id), (names.get(Number(id)) ?? new Set()).add(name ?? ''));
  }
  return names;
}

function rejections(list: ListDefinition, of: Sample) {
  const page = readContent(Buffer.from(JSON.stringify(of[list.resource])));
  return readRecords(list, page).rejections;
}
