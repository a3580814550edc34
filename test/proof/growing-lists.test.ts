import { expect, test } from 'vitest';
import type { Ask } from '../../src/proof/answers.ts';
import { counted, type Entry, proven, type Service } from './play-proof.ts';

// Lists of one page size that change while they are read: two readings can agree up to the newest key.

type Change = (list: Entry[], reading: number) => void;

/** Plays a list of 70 records in pages of 20, with changes before some pages of each reading. */
function played(
  direction: 'up' | 'down',
  changes: Readonly<Record<number, Change>>,
  some: Partial<Service> = {},
) {
  const list = some.list ?? (direction === 'up' ? counted(70) : counted(70).reverse());
  let reading = 0;
  const onAsk = ({ index, size }: Ask) => {
    if (size !== 20) return;
    if (index === 0) reading++;
    changes[index]?.(list, reading);
  };
  return proven({ identity: 'id', ...some, list, hasOneSize: true, onAsk }).result.verdict;
}

const unproven = { rule: 'agreement', isProven: false };
/** Comes in front of the list of the newest, which shifts all others to later places. */
const comes: Change = (list, reading) => list.unshift({ key: 1e6 + reading, content: 1e6 + reading });
const goes: Change = list => list.shift();

test.each(['up', 'down'] as const)('two readings prove a list that only grows: %s', direction => {
  const grow: Change = (list, reading) => {
    const entry = { key: 1e6 + reading, content: 1e6 + reading };
    if (direction === 'up') list.push(entry);
    else list.unshift(entry);
  };
  expect(played(direction, { 1: grow })).toMatchObject({ rule: 'agreement', isProven: true });
});

test('they do not if a record comes between the count and the rows of each page, and pages are cut at that count', () => {
  const list = counted(70).reverse();
  let count = 0;
  const onAsk = () => {
    count = list.length;
    list.unshift({ key: 1e6 + count, content: 1e6 + count });
  };
  const service = {
    list,
    identity: 'id',
    hasOneSize: true,
    isCutAtTotal: true,
    onAsk,
    totalOf: () => count,
  } as const;
  expect(proven(service).result.verdict.isProven).toBe(false);
});

test('they do not if each of them shows a record that then goes and hides another one', () => {
  // One goes and one comes in the same moment, so no total tells it.
  const swaps: Change = (list, reading) => {
    list.splice(5, 1);
    list.splice(-1, 0, { key: 6_800 + reading, content: 1e6 + reading });
  };
  const moves: Change = (list, reading) => {
    if (reading === 1) return;
    list.splice(50, 1);
    list.unshift({ key: -reading, content: 2e6 + reading });
  };
  expect(played('up', { 0: moves, 1: swaps })).toMatchObject(unproven);
});

test('they do not if both show a record less than are listed', () => {
  expect(played('down', { 1: comes, 2: goes })).toMatchObject(unproven);
});

test('they do not if a new record that is not where the list grows makes good the number', () => {
  const makesGood: Change = (list, reading) =>
    reading === 1
      ? list.splice(65, 0, { key: 450, content: 450 })
      : list.splice(60, 0, { key: 2e6 + reading, content: 2e6 + reading });
  expect(played('down', { 1: comes, 2: goes, 3: makesGood })).toMatchObject(unproven);
});

test('they do not if an id goes and is given again with another text', () => {
  const isGivenAgain: Change = (list, reading) => {
    if (reading > 1) list.unshift({ key: 0, content: 1e6 + reading });
  };
  expect(played('up', { 0: isGivenAgain, 1: goes })).toMatchObject(unproven);
});

test('they do not if identical records are on two pages of both, and another record makes good the number', () => {
  const list = counted(70).reverse();
  list[20] = list[19] as Entry;
  const late = { key: 450, content: 450 };
  const leaves: Change = entries => {
    if (entries.includes(late)) entries.splice(entries.indexOf(late), 1);
  };
  const comesLate: Change = entries => entries.splice(65, 0, late);
  expect(played('down', { 0: leaves, 3: comesLate }, { list, identity: 'content' })).toMatchObject(unproven);
});
