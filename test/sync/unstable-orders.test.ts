import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { BusyTable, type TableRow } from '../support/busy-table.ts';
import { inTurn } from '../support/cases.ts';
import { memoryFolder } from '../support/in-process.ts';
import type { AskedPage } from '../support/paged-service.ts';
import { passNight } from '../support/witness.ts';

// A service that sorts by something that many records share, or by nothing: each query can have them in another order.

const groups: Record<string, (row: TableRow) => number> = {
  'ORDER BY status': ({ reference }) => reference % 3,
  'ORDER BY title': ({ reference }) => reference % 37,
  'ORDER BY the day': ({ at }) => Math.floor(at / 86_400_000),
  'no ORDER BY': () => 0,
};

/** The rows by groups, and in each of them as it happens. */
function asItHappens(groupOf: (row: TableRow) => number) {
  return (rows: readonly TableRow[], { n }: AskedPage) => {
    const placed = rows.map(row => ({
      row,
      group: groupOf(row),
      place: crc32(`${row.reference} ${n}`),
    }));
    return placed.sort((a, b) => a.group - b.group || a.place - b.place).map(({ row }) => row);
  };
}

const sizes: readonly [name: string, hasOneSize: boolean][] = [
  ['several page sizes', false],
  ['one page size', true],
];

describe.each(Object.entries(groups))('%s', (name, groupOf) => {
  test.each(inTurn(sizes, Object.keys(groups).indexOf(name)))(
    'with ties in another order in each query is called an order that is not stable: %s',
    async (_sizes, hasOneSize) => {
      await using folder = await memoryFolder();
      const path = join(folder.path, 'mirror.sqlite');
      await using service = await new BusyTable({
        order: 'begun',
        count: 1_600,
        hasOneSize,
        query: asItHappens(groupOf),
      }).listen();
      for (let night = 0; night < 3; night++) {
        const { code, outcome, readings } = await passNight(path, service);
        expect({ code, completeness: outcome.completeness, removed: outcome.removed }).toEqual({
          code: 3,
          completeness: 'unproven',
          removed: 0,
        });
        expect(outcome.reason).toContain('the order is not stable');
        expect(outcome.reason).toContain('sort by a second, unique key');
        // Each reading of a first copy shows some of what the others skip.
        if (night === 0) expect(readings).toBeGreaterThan(3.9);
        expect(readings).toBeLessThanOrEqual(night === 0 ? 4.2 : 2.2);
        service.passDay();
      }
    },
  );
});
