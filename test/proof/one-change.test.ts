import { describe, expect, test } from 'vitest';
import type { Ask } from '../../src/proof/answers.ts';
import { casesOf, playsAll } from '../support/cases.ts';
import { counted, type Entry, proven, type Service } from './play-proof.ts';

// One record comes or goes while a list of a few pages is read: between any two answers, or between the statements that make one. An
// honest service has an ordinary night then.

const largest = 10;
const pageCounts = [1, 2, 3, 4, 5];
const moments = ['between two answers', 'between count and rows', 'between rows and count'] as const;

/** One change: before or in the answer of that number, at that place; null if a record comes. */
interface Change {
  readonly answer: number;
  readonly moment: (typeof moments)[number];
  readonly place: number | null;
}

interface Scene {
  readonly count: number;
  readonly isDown: boolean;
  /** Whether the mirror has all records. */
  readonly isKnown: boolean;
  /** Whether the total of a page that is not full is the place where it ends. */
  readonly isDeduced: boolean;
}

/** What went wrong; null if nothing did, undefined if the run ended before the change. */
function faultOf({ count, isDown, isKnown, isDeduced }: Scene, change: Change): string | null | undefined {
  const listOf = (length: number) => (isDown ? counted(length).toReversed() : counted(length));
  const all = listOf(count);
  const shown = new Set<number>();
  let [total, isNow, hasChanged] = [0, false, false];
  const rowsOf = ({ index, size }: Ask): readonly Entry[] =>
    service.list.slice(index * size, (index + 1) * size);
  const changeNow = () => {
    hasChanged = true;
    service.list = change.place === null ? listOf(count + 1) : service.list.toSpliced(change.place, 1);
  };
  const service: Service = {
    list: all,
    identity: 'id',
    isNew: ({ key }) => !isKnown || all.every(entry => entry.key !== key),
    onAsk(ask, number) {
      isNow = number === change.answer;
      if (isNow && change.moment === moments[0]) changeNow();
      total = service.list.length;
      if (isNow && change.moment === moments[1]) changeNow();
      for (const { key } of rowsOf(ask)) shown.add(key);
    },
    totalOf(ask) {
      const rows = rowsOf(ask).length;
      if (isNow && change.moment === moments[2]) changeNow();
      if (isNow && change.moment === moments[2]) total = service.list.length;
      return isDeduced && rows > 0 && rows < ask.size ? ask.index * ask.size + rows : total;
    },
  };
  const { result, asked } = proven(service, {
    largest,
    learnt: isKnown ? { direction: isDown ? 'down' : 'up', lateness: 0, extraOverlap: 0, outliers: 0 } : null,
    isAfterCleanRun: isKnown,
    totalBefore: isKnown ? count : null,
    absent: () =>
      (isKnown ? all : []).filter(({ key }) => !shown.has(key)).map(({ key }) => ({ id: key, key })),
  });
  if (!hasChanged) return undefined;
  const live = new Set(service.list.map(({ key }) => key));
  const codes = result.findings.map(({ code }) => code);
  const isWrong =
    result.rows.some(({ key, decision }) => decision === 'gone' && live.has(key)) ||
    (codes.length === 0 && all.some(({ key }) => live.has(key) && !shown.has(key)));
  if (codes.length === 0 && !isWrong) return null;
  const pages = asked.map(({ index, size }) => `${index + 1}/${size}`).join(' ');
  return `${count} ${change.moment}, answer ${change.answer}, place ${change.place}: ${isWrong ? 'wrong' : codes}: ${pages}`;
}

/** The places of a list; of a long one each third, with others for each length. */
function placesIn(count: number): number[] {
  const step = count > 3 * largest ? 3 : 1;
  return Array.from({ length: count }, (_, at) => at).filter(at => at % step === count % step);
}

/** A last page has each number of records, or one, four, seven and ten. */
const lengthStep = playsAll ? 1 : 3;

const scenes = [false, true].flatMap(isDown =>
  [false, true].flatMap(isKnown => [false, true].map(isDeduced => ({ isDown, isKnown, isDeduced }))),
);

describe.each(scenes)('falling: $isDown, known: $isKnown, deduced totals: $isDeduced', scene => {
  test.each(casesOf(pageCounts, 2))(
    'one change in a list on %d pages is proven, wherever and whenever it is',
    pages => {
      const faults: string[] = [];
      let played = 0;
      // A list of one record can be empty afterwards, which the next run decides.
      for (let count = Math.max(2, (pages - 1) * largest + 1); count <= pages * largest; count += lengthStep)
        for (const moment of moments)
          for (const place of [null, ...placesIn(count)])
            for (let answer = 1; ; answer++) {
              const fault = faultOf({ ...scene, count }, { answer, moment, place });
              if (fault === undefined) break;
              played++;
              if (fault !== null) faults.push(fault);
            }
      expect({ count: faults.length, some: faults.slice(0, 3) }).toEqual({ count: 0, some: [] });
      expect(played).toBeGreaterThan(300 / lengthStep);
    },
  );
});

/** At which of the gaps between answers something changes, time and again. */
const rhythms = [
  [1, 0],
  [1, 1, 1, 0, 0],
  [0, 0, 1],
];

test.each(rhythms.map(gaps => ({ gaps })))(
  'a list of the newest is proven although one comes and the oldest goes in turn: $gaps',
  ({ gaps }) => {
    const unproven: string[] = [];
    for (let count = largest + 1; count <= 6 * largest; count++) {
      const shown = new Set<number>();
      const listOf = (from: number, end: number) => counted(end - from, from).toReversed();
      let [from, end, changes] = [0, count, 0];
      const service: Service = {
        list: listOf(from, end),
        identity: 'id',
        isNew: ({ key }) => key >= count * 100,
        onAsk({ index, size }, number) {
          if (number > 1 && gaps[number % gaps.length] === 1) changes++ % 2 === 0 ? end++ : from++;
          service.list = listOf(from, end);
          for (const { key } of service.list.slice(index * size, (index + 1) * size)) shown.add(key);
        },
      };
      const { result } = proven(service, {
        largest,
        learnt: { direction: 'down', lateness: 0, extraOverlap: 0, outliers: 0 },
        isAfterCleanRun: true,
        absent: () =>
          listOf(0, count)
            .filter(({ key }) => !shown.has(key))
            .map(({ key }) => ({ id: key, key })),
      });
      if (result.findings.length > 0) unproven.push(`${count}: ${result.findings.map(({ code }) => code)}`);
    }
    expect(unproven).toEqual([]);
  },
);
