import { expect, test } from 'vitest';
import { readAcross } from '../../src/proof/across.ts';
import type { Ask } from '../../src/proof/answers.ts';
import { openRanges, windowsOf } from '../../src/proof/cover.ts';
import { isIn } from '../../src/proof/keys.ts';
import { AnswerLog } from '../../src/proof/log.ts';
import { counted, type Entry, play, proven, type Service } from './play-proof.ts';

// Ties that no page of 20 has inside.

const order = { direction: 'up', lateness: 0, extraOverlap: 0, outliers: 0 } as const;
const facts = {
  identity: 'content',
  largest: 20,
  overlap: 3,
  learnt: order,
  run: 1,
  totalBefore: 0,
} as const;

/** So many records, of which some share the key of the first of them. */
function listWithTie(count: number, from: number, length: number): Entry[] {
  const list = counted(count);
  for (let at = from; at < from + length; at++) list[at] = { key: from * 100, content: at + 1 };
  return list;
}

/** Reads across the records of a key, and tells whether windows cover a key then. */
function coveredAfter(service: Service, tie: { from: number; to: number; key: number }) {
  const run = new AnswerLog(facts);
  play(run.ask([{ index: 0, size: 20 }]), { list: service.list, identity: 'content' });
  const keys = { from: tie.key, to: tie.key, isFromIn: true, isToIn: true };
  play(readAcross(run, order, { ...tie, keys }, { isSecondLook: false }), service);
  const open = openRanges(windowsOf(run, 'witnessed')?.windows ?? []);
  return (key: number) => !open.some(range => isIn(key, range));
}

test('pages that are read across cover the records that share a key', () => {
  const list = listWithTie(600, 380, 50);
  const isCovered = coveredAfter({ list, identity: 'content' }, { from: 380, to: 430, key: 38_000 });
  expect(isCovered(38_000)).toBe(true);
});

test('pages that are read across say nothing of a record before them that moves from one page to another', () => {
  const first = { key: -100, content: 10_000 };
  const list = [first, ...listWithTie(600, 380, 50)];
  // The record at place 379, before the tie, is at 380 when the pages up to there are asked for, and at 379 when those behind it are.
  const onAsk = ({ index, size }: Ask, number: number) => {
    if (index * size === 380) list.push(...list.splice(0, 1));
    else if (number > 1 && (index + 1) * size === 380) list.unshift(...list.splice(-1, 1));
  };
  const isCovered = coveredAfter({ list, identity: 'content', onAsk }, { from: 380, to: 430, key: 38_000 });
  expect(isCovered(38_000)).toBe(true);
  expect(isCovered(37_900)).toBe(false);
});

test('pages count as read together only if the total was the same all the while', () => {
  const list = counted(100);
  const run = new AnswerLog(facts);
  const [one, other, between] = [2, 3, 0].map(index => ({ index, size: 20 }));
  const pages = [one, other].filter(page => page !== undefined);
  const ask = (...some: (typeof one)[]) =>
    play(run.ask(some.filter(page => page !== undefined)), { list, identity: 'content' });
  ask(one);
  expect(run.together(pages)).toBeNull();
  const [added] = counted(1, 100);
  list.push(added as Entry);
  ask(between);
  list.pop();
  ask(other);
  expect(run.together(pages)).toBeNull();
  ask(one);
  expect(run.together(pages)?.map(({ index }) => index)).toEqual([2, 3]);
});

const border = (kind: 'end' | 'offset', place: number, service: { list: Entry[] }) => {
  const [before, behind] = [[...service.list], [] as Entry[]];
  // Behind the border the records of each key come in the order of another plan.
  for (const [, tie] of Map.groupBy(before, ({ key }) => key))
    behind.push(...tie.toSorted((a, b) => ((a.content * 7_919) % 1_009) - ((b.content * 7_919) % 1_009)));
  return ({ index, size }: Ask) => {
    service.list = (kind === 'end' ? (index + 1) * size : index * size) > place ? behind : before;
  };
};

test.each((['end', 'offset'] as const).flatMap(kind => [302, 310, 319].map(place => [kind, place] as const)))(
  'records that share a time in two orders, before and behind a border, are shown by other pages: by the %s, at %d',
  (kind, place) => {
    // Ties of 16, of which most pages of 20 cut one.
    const list = Array.from({ length: 640 }, (_, at) => ({ key: Math.floor(at / 16), content: at + 1 }));
    const service: Service = { list, identity: 'content' };
    const { result, asked } = proven({ ...service, onAsk: () => undefined }, { totalBefore: 640 });
    expect(result.verdict.isProven).toBe(true);
    const bordered: Service = { ...service };
    const met = proven(Object.assign(bordered, { onAsk: border(kind, place, bordered) }), {
      totalBefore: 640,
    });
    expect(met.result.verdict).toMatchObject({ isProven: true });
    expect(new Set(met.result.answers.flatMap(({ page }) => [...page.records])).size).toBe(640);
    expect(met.asked.length).toBeLessThan(2.2 * asked.length);
  },
);

test('records that share a time in another order in each answer are never claimed if no page can hold them', () => {
  const list = counted(400);
  for (let at = 200; at < 250; at++) list[at] = { key: 20_000, content: at + 1 };
  let asked = 0;
  const service: Service = { list, identity: 'content' };
  const onAsk = () => {
    asked++;
    const at = (content: number) => (content * 7_919 * asked) % 1_009;
    service.list = list.toSorted((a, b) => a.key - b.key || at(a.content) - at(b.content));
  };
  const { result } = proven(Object.assign(service, { onAsk }), { totalBefore: 400 });
  expect(result.verdict.isProven).toBe(false);
});
