import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Course, type CourseOptions } from '../../../src/proof/windows/course.ts';
import { fateOf, needsTwoRuns } from '../../../src/proof/windows/decide.ts';
import { addressText, type Identity, type PageAnswer, summaryOf } from '../../../src/proof/windows/page.ts';
import type { Ask } from '../../../src/proof/windows/requests.ts';
import { isIn } from '../../../src/proof/windows/window.ts';
import { ids, itemsOf, largest } from './lists.ts';

/** Reads a list by a course. The list can be another one for each request. */
class Reader {
  readonly course: Course;
  readonly asked: Ask[] = [];
  readonly #lists = new Map<PageAnswer, readonly number[]>();

  constructor(identity: Identity, over: Partial<CourseOptions>) {
    const base = { identity, largest: 50, learnt: null, expectedTotal: 0, hasTwins: false };
    const read = (answer: PageAnswer) => this.#cut(this.#lists.get(answer) ?? [], answer);
    this.course = new Course({ ...base, isUsed: () => false, itemsOf: read, ...over });
  }

  read(listAt: (request: number) => readonly number[]): void {
    for (let ask = this.course.next(); ask !== null; ask = this.course.next()) {
      const list = listAt(this.asked.length);
      this.asked.push(ask);
      const items = this.#cut(list, ask);
      const digest = Buffer.from(items.contents).toString('hex');
      this.#lists.set(this.course.answered(ask, list.length, summaryOf(items, digest, 'id')), list);
    }
  }

  #cut(list: readonly number[], { index, size }: { index: number; size: number }) {
    const items = itemsOf(list);
    const [from, to] = [index * size, (index + 1) * size];
    return { keys: items.keys.slice(from, to), contents: items.contents.slice(from * 16, to * 16) };
  }
}

describe('a full sync', () => {
  test('of a list on one page that is not full takes one request, and a second one before a row goes', () => {
    const reader = new Reader('id', {});
    reader.read(() => [3, 1, 2]);
    expect(reader.course.verdict).toEqual({ rule: 'page', isProven: true, isConfirmed: false });
    expect(reader.asked).toHaveLength(1);
    expect(reader.course.lookAgain(Float64Array.of(9))).toBe(true);
    reader.read(() => [3, 1, 2]);
    expect(reader.course.verdict).toEqual({ rule: 'page', isProven: true, isConfirmed: true });
    expect(new Set(reader.asked.map(addressText)).size).toBe(2);
  });

  test('looks again, at unused addresses, at the rows that would go, and never far from them', () => {
    fc.assert(
      fc.property(
        ids,
        largest,
        fc.uniqueArray(fc.integer({ min: 0, max: 5_000 }), { minLength: 1, maxLength: 6 }),
        (list, size, some) => {
          const gone = some.map(key => key + 0.5);
          const used = new Set<string>();
          for (let night = 0; night < 3; night++) {
            const before = new Set(used);
            const reader = new Reader('id', { largest: size, isUsed: page => before.has(addressText(page)) });
            reader.read(() => list);
            const { length } = reader.asked;
            expect(reader.course.lookAgain(Float64Array.from(gone))).toBe(true);
            reader.read(() => list);
            const { verdict } = reader.course;
            if (verdict?.rule === 'key')
              expect(gone.filter(key => verdict.unconfirmed.some(part => isIn(key, part)))).toEqual([]);
            else expect(verdict).toMatchObject({ rule: 'page', isConfirmed: true });
            const seconds = reader.asked.slice(length);
            expect(seconds.filter(page => before.has(addressText(page)))).toEqual([]);
            expect(seconds.length).toBeLessThanOrEqual(Math.max(gone.length, length + 1));
            for (const page of reader.asked) used.add(addressText(page));
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('the fate of records', () => {
  const facts = {
    known: 3,
    shown: 1,
    isSpokenOf: true,
    isConfirmed: true,
    needsTwoRuns: false,
    wasGone: false,
  };
  test.each([
    [
      'goes, if no answer shows it and two windows speak of it',
      facts,
      { kept: 1, added: 0, gone: 2, waiting: 0, undecided: 0 },
    ],
    [
      'stays, if no window speaks of it',
      { ...facts, isSpokenOf: false },
      { kept: 1, added: 0, gone: 0, waiting: 0, undecided: 2 },
    ],
    [
      'stays, if no second window does',
      { ...facts, isConfirmed: false },
      { kept: 1, added: 0, gone: 0, waiting: 0, undecided: 2 },
    ],
    [
      'waits for the next run, if two are needed',
      { ...facts, needsTwoRuns: true },
      { kept: 1, added: 0, gone: 0, waiting: 2, undecided: 0 },
    ],
    [
      'goes in the second of two runs',
      { ...facts, needsTwoRuns: true, wasGone: true },
      { kept: 1, added: 0, gone: 2, waiting: 0, undecided: 0 },
    ],
    [
      'is added as often as the fullest page shows it',
      { ...facts, shown: 5 },
      { kept: 3, added: 2, gone: 0, waiting: 0, undecided: 0 },
    ],
  ] as const)('a record %s', (_what, given, expected) => {
    expect(fateOf(given)).toEqual(expected);
  });

  test('two runs are needed if nobody sees the order, and if a list is empty all at once', () => {
    expect(needsTwoRuns('overlap', 5)).toBe(true);
    expect(needsTwoRuns('key', 0)).toBe(true);
    expect(needsTwoRuns('key', 5)).toBe(false);
  });
});
