import { expect, test } from 'vitest';
import { casesOf } from '../support/cases.ts';
import { honestKinds, honestNights } from '../support/honest-nights.ts';
import { stored } from '../support/in-process.ts';

test.each(casesOf(Object.entries(honestKinds), 3))(
  'an honest list ends each of eight nights with 0: %s',
  async (_name, kind) => {
    const worst = { still: 0, removed: 0 };
    for await (const { night, path, source, outcome, code, requests, gone } of honestNights(kind)) {
      const why = `night ${night}: ${outcome.reason}`;
      expect(code, why).toBe(0);
      expect(outcome.completeness, why).toBe('proven');
      const rows = new Set(stored(path, source.resource));
      expect(
        [...source.throughout].filter(label => !rows.has(label)),
        why,
      ).toEqual([]);
      expect(
        [...rows].filter(label => !source.listed.has(label)),
        why,
      ).toEqual([]);
      // The first run finds out the order of the list.
      const at = gone > 0 ? 'removed' : 'still';
      if (night > 0) worst[at] = Math.max(worst[at], requests / source.pages);
    }
    expect(worst.still).toBeLessThanOrEqual(kind.most.still);
    expect(worst.removed).toBeLessThanOrEqual(kind.most.removed);
  },
);
