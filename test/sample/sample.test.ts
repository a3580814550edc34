import { describe, expect, it } from 'vitest';
import { lists } from '../../src/contract/lists.ts';
import { readContent } from '../../src/contract/page.ts';
import { readRecords } from '../../src/contract/record.ts';
import { changeSample, generateSample, type Sample } from '../../src/sample/sample.ts';

const now = new Date('2026-11-20T12:00:00Z');
const later = new Date('2026-11-20T15:00:00Z');
const sample = generateSample({ now });
const log = sample['document-exports'];
const changed = changeSample(sample, later);
const counts = (of: Sample) => lists.map(list => of[list.resource].length);

describe('a sample', () => {
  it('is the same for the same options, and has as many records as it says', () => {
    expect(generateSample({ now })).toEqual(sample);
    expect(generateSample({ now, seed: 7 })).not.toEqual(sample);
    expect(counts(sample)).toEqual([4_000, 24, 8]);
    for (const documentExports of [0, 1, 11, 12])
      expect(counts(generateSample({ now, documentExports }))).toEqual([documentExports, 24, 8]);
  });

  it('lists exports newest first, with one pair of identical twins', () => {
    const times = log.map(item => item.exportedAt);
    expect(times).toEqual(times.toSorted().reverse());
    expect(Date.parse(times[0] ?? '')).toBeLessThanOrEqual(now.getTime());
    expect(new Set(log.map(item => JSON.stringify(item))).size).toBe(log.length - 1);
  });

  it.each(lists)('contains only items that the mirror can read: $resource', list => {
    for (const each of [sample, changed]) {
      const page = readContent(Buffer.from(JSON.stringify(each[list.resource])));
      expect(readRecords(list, page).rejections).toEqual([]);
    }
  });

  it('changes by new exports at the head, removals, and a connection that is renamed', () => {
    expect(counts(changed)).toEqual([4_023, 24, 7]);
    const times = changed['document-exports'].map(item => item.exportedAt);
    expect(times).toEqual(times.toSorted().reverse());
    expect([...changed.names.values()]).toEqual([expect.stringMatching(/ \(EU\)$/)]);
    expect(counts(changeSample(changed, new Date('2026-11-21T12:00:00Z'), 3))).toEqual([4_046, 24, 6]);
  });
});
