import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rulesThatKeep } from '../../../src/store/copies/retention.ts';

const at = (text: string) => Date.parse(`${text}Z`);

test('what any of several rules keeps stays', () => {
  const times = [
    '2027-03-02T04:00',
    '2027-03-02T02:00',
    '2027-03-01T04:00',
    '2027-02-28T04:00',
    '2027-01-31T04:00',
    '2026-12-31T04:00',
  ];
  expect(rulesThatKeep(times.map(at), { newest: 2, daily: 2, weekly: 2, monthly: 3 })).toEqual([
    ['newest', 'daily', 'weekly', 'monthly'],
    ['newest'],
    ['daily'],
    ['weekly', 'monthly'],
    ['monthly'],
    [],
  ]);
});

test('after each backup of some months, what a rule keeps is the newest of as many periods as it names', () => {
  const hours = fc.array(fc.integer({ min: 0, max: 24 * 200 }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(hours, fc.integer({ min: 1, max: 10 }), (given, daily) => {
      const times = [...new Set(given)]
        .sort((a, b) => b - a)
        .map(hour => at('2027-01-01T00:00') + hour * 3_600_000);
      const kept = times.filter((_, place) => rulesThatKeep(times, { daily })[place]?.includes('daily'));
      const days = [...new Set(times.map(time => Math.floor(time / 86_400_000)))].slice(0, daily);
      expect(kept.map(time => Math.floor(time / 86_400_000))).toEqual(days);
      for (const time of kept)
        expect(times.find(other => Math.floor(other / 86_400_000) === Math.floor(time / 86_400_000))).toBe(
          time,
        );
    }),
  );
});
