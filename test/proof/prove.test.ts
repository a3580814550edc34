import { expect, test } from 'vitest';
import type { Ask } from '../../src/proof/answers.ts';
import { counted, type Entry, proven, type Service } from './play-proof.ts';

// What `prove` asks for, and what it makes of the answers, in lists that are too long for every small world.

test.each(['up', 'down'] as const)(
  'a list in the order of its keys is proven by one reading: %s',
  direction => {
    const list = direction === 'up' ? counted(200) : counted(200).reverse();
    for (const identity of ['id', 'content'] as const) {
      const { result, asked } = proven({ list, identity });
      expect(result.verdict).toMatchObject({ rule: 'key', isProven: true });
      expect(asked.length).toBeLessThanOrEqual(16);
      expect(asked.every(({ isSecondLook }) => !isSecondLook)).toBe(true);
    }
  },
);

test('if records can be anywhere, a row goes only after a second reading of the whole list', () => {
  const list = counted(3_000);
  list.splice(1_500, 0, ...list.splice(2_800, 1));
  const absent = () => [{ id: 1, key: 150_050 }];
  const facts = { largest: 100, absent };
  const { result, asked } = proven({ list, identity: 'content' }, facts);
  expect(result.verdict).toMatchObject({ rule: 'key', isProven: true, windows: { outliers: 1 } });
  expect(result.rows[0]?.decision).toBe('gone');
  expect(asked.filter(({ isSecondLook }) => isSecondLook).length).toBeGreaterThanOrEqual(30);
});

test('a list in order only in long pieces is not proven by key', () => {
  const list = [...counted(300, 300), ...counted(300)];
  const { result } = proven({ list, identity: 'id' });
  expect(result.verdict).toMatchObject({ rule: 'agreement', isProven: true });
});

test('a record at two places proves nothing if the service serves one page size', () => {
  const list = counted(90).reverse();
  list.sort((a, b) => ((a.content * 7919) % 101) - ((b.content * 7919) % 101));
  list[85] = list[5] as Entry;
  const { result } = proven({ list, identity: 'content', hasOneSize: true });
  expect(result.verdict).toMatchObject({ rule: 'agreement', isProven: false });
});

test('a total that is greater than the list refutes its end', () => {
  const list = counted(200);
  for (const total of [201, 240]) {
    const { result } = proven({ list, identity: 'id', totalOf: () => total });
    expect(result.verdict.isProven, `${total}`).toBe(false);
  }
});

test('a total that is less than the list does not, if pages end alike and nothing is behind them', () => {
  const list = counted(200);
  for (const total of [199, 120]) {
    const { result } = proven({ list, identity: 'id', totalOf: () => total });
    expect(result.verdict.isProven, `${total}`).toBe(true);
  }
});

test('a service that leaves a record out of its page proves nothing', () => {
  for (const hidden of [5, 20, 100, 200]) {
    const { result } = proven({ list: counted(210), identity: 'id', hidden });
    expect(result.verdict.isProven, `${hidden}`).toBe(false);
  }
});

test('the readings of a list that grows by a page at each answer come to an end', () => {
  const service: Service = {
    list: counted(200),
    identity: 'id',
    onAsk: () => service.list.push(...counted(20, service.list.length)),
  };
  const { result, asked } = proven(service);
  expect(result.verdict.isProven).toBe(false);
  expect(asked.length).toBeLessThanOrEqual(100 + 12 * 11);
});

test.each([
  ['the oldest row of a mirror that was proven', {}, {}, true],
  ['no row, if the run before was not sure', {}, { isAfterCleanRun: false }, false],
  ['a row, if another one is older', {}, { absent: () => [{ id: 1, key: -100 }] }, false],
  ['a record that is new', { isNew: ({ key }: Entry) => key === 0 }, {}, false],
] as const)(
  'a list of the newest that grows with each answer ends with %s',
  (_, service, facts, isProven) => {
    const list = counted(200).reverse();
    const onAsk = () => list.unshift(...counted(1, list.length));
    const { result } = proven(
      { list, identity: 'id', onAsk, ...service },
      { isAfterCleanRun: true, ...facts },
    );
    expect(result.verdict.isProven).toBe(isProven);
  },
);

test.each([
  [
    'leaves by a record that goes before it',
    (list: Entry[], hidden: Entry, size: number) => {
      while (list.indexOf(hidden) < size) list.unshift({ key: 1e6 + list.length, content: 0 });
      return () => void list.shift();
    },
  ],
  [
    'moves to a page that was read',
    (list: Entry[], hidden: Entry) => {
      list.splice(list.indexOf(hidden), 1);
      list.splice(30, 0, hidden);
      return () => list.unshift(...list.splice(list.indexOf(hidden), 1));
    },
  ],
] as const)('readings that all hide one record prove nothing: %s', (_, hide) => {
  const list = counted(60, 1);
  const hidden = list[20] as Entry;
  let hideNow = () => {};
  const onAsk = ({ index, size }: Ask) => {
    if (index === 0) hideNow = hide(list, hidden, size) as () => void;
    else if (index === 1) hideNow();
  };
  const { result } = proven({ list, identity: 'id', onAsk }, { learnt: 'none' });
  expect(result.verdict).toMatchObject({ rule: 'agreement', isProven: false });
});

test('two readings that differ prove nothing, although each fits its totals', () => {
  const list = counted(60).reverse();
  list.sort((a, b) => ((a.content * 7919) % 101) - ((b.content * 7919) % 101));
  let next = 100;
  const onAsk = ({ index }: Ask) => {
    // The first record of the second page is then on no page of this reading.
    if (index !== 1) return;
    list.shift();
    list.push(...counted(1, next++));
  };
  const { result } = proven({ list, identity: 'id', hasOneSize: true, onAsk }, { learnt: 'none' });
  expect(result.verdict).toMatchObject({ rule: 'agreement', isProven: false });
});

test('a batch that no page can hold is proven by two readings across it that agree', () => {
  const list = counted(400);
  for (let at = 200; at < 250; at++) list[at] = { key: 20_000, content: at + 1 };
  const still = proven({ list: [...list], identity: 'content' });
  expect(still.result.verdict).toMatchObject({ rule: 'key', isProven: true });
  let edits = 0;
  const onAsk = ({ index, size }: Ask) => {
    if (size === 19 && index === 13 && edits++ === 0) list[248] = { key: 20_000, content: 5_000 };
  };
  const changed = proven({ list, identity: 'content', onAsk });
  expect(edits).toBeGreaterThan(0);
  expect(changed.asked.length).toBeGreaterThan(still.asked.length);
});

test('two identical records of a batch that no page can hold are counted by readings that agree', () => {
  const list = counted(400);
  for (let at = 200; at < 250; at++) list[at] = { key: 20_000, content: at === 245 ? 206 : at + 1 };
  const { result } = proven({ list, identity: 'content' });
  expect(result.verdict).toMatchObject({
    rule: 'agreement',
    isProven: true,
    repeated: { page: { count: 2 } },
  });
});

test('two identical records without a time that no page shows together are counted by readings that agree', () => {
  const list = counted(3_000);
  for (const at of [500, 2_500]) list[at] = { key: Number.NaN, content: 5_000 };
  const { result } = proven({ list, identity: 'content' }, { largest: 100 });
  expect(result.verdict).toMatchObject({
    rule: 'agreement',
    isProven: true,
    repeated: { page: { count: 2 } },
  });
});

test.each([20, 90])(
  'two identical records on two pages of each reading of a list that grows prove no order: places 18 and %i',
  place => {
    const list = counted(200).map(({ content }) => ({ key: Number.NaN, content }));
    list[place] = list[18] as Entry;
    const onAsk = (_: Ask, number: number) => {
      if (number % 4 === 0) list.push({ key: Number.NaN, content: 1_000 + number });
    };
    const { result } = proven({ list, identity: 'content', onAsk });
    expect(result.verdict.isProven).toBe(false);
  },
);

test('a list without keys is found out at its first page', () => {
  const list = counted(200).map(({ content }) => ({ key: Number.NaN, content }));
  const { result, asked } = proven({ list, identity: 'content' });
  expect(result.verdict).toMatchObject({ rule: 'agreement', isProven: true });
  expect(asked.length).toBeLessThanOrEqual(22);
});

test('a list by name is found out by its first page, and one with an id twice is not proven', () => {
  const byName = counted(90).sort((a, b) => ((a.content * 7919) % 101) - ((b.content * 7919) % 101));
  expect(proven({ list: byName, identity: 'id' }).result.verdict.rule).toBe('agreement');
  for (const at of [5, 6, 50]) {
    const twice = counted(90);
    twice[at] = twice[4] as Entry;
    expect(proven({ list: twice, identity: 'id' }).result.verdict.isProven, `${at}`).toBe(false);
  }
});

test('a row stays if no further reading of a list on one page is complete', () => {
  const absent = () => [{ id: 55, key: 5_500 }];
  const totalOf = ({ size }: Ask) => (size === 20 ? 12 : 13);
  const { result } = proven({ list: counted(12), identity: 'id', totalOf }, { absent });
  expect(result.rows[0]?.decision).toBe('undecided');
});

test('rows stay if a list is empty all at once, and go if it was so before', () => {
  const absent = () => [{ id: 1, key: 100 }];
  const decisionAfter = (totalBefore: number) =>
    proven({ list: [], identity: 'id' }, { totalBefore, absent }).result.rows[0]?.decision;
  expect(decisionAfter(3)).toBe('undecided');
  expect(decisionAfter(0)).toBe('gone');
});

test('rows older than all that is listed stay if the total stands still at a round number', () => {
  const absent = () => [{ id: 1, key: 50 }];
  const decisionAt = (count: number) =>
    proven({ list: counted(count, 1), identity: 'content' }, { largest: 100, absent }).result.rows[0]
      ?.decision;
  expect(decisionAt(1_000)).toBe('undecided');
  expect(decisionAt(999)).toBe('gone');
});

test.each([2, 3])('copies of the list that differ prove nothing, and no row goes: one of %i is old', of => {
  const [fresh, old] = [counted(400), counted(380)];
  old.splice(100, 0, { key: 9_950, content: 1_000 });
  for (const direction of ['up', 'down'] as const) {
    const lists = [fresh, old].map(list => (direction === 'up' ? [...list] : list.toReversed()));
    const service: Service = {
      list: lists[0] as Entry[],
      identity: 'content',
      onAsk: (_, number) => {
        service.list = lists[Number(number % of === 0)] as Entry[];
      },
    };
    const absent = () => [{ id: 1, key: 150 }];
    const { result } = proven(service, { absent });
    const totals = expect.arrayContaining([400, 381]);
    expect(result.findings).toEqual([{ code: 'copies_differ', totals, count: null }]);
    expect(result.verdict.isProven).toBe(false);
    expect(result.rows[0]?.decision).toBe('undecided');
  }
});

test('a record that moves to the front of a list of the newest while it is read is seen there', () => {
  const list = counted(200).reverse();
  const moved = { key: 1e6, content: 1e6 };
  const shown: number[] = [];
  const onAsk = ({ index, size }: Ask, number: number) => {
    if (number === 6) list.unshift(moved);
    if (number === 6)
      list.splice(
        list.findIndex(({ key }) => key === 500),
        1,
      );
    if (list.slice(index * size, (index + 1) * size).includes(moved)) shown.push(number);
  };
  const { result, asked } = proven({ list, identity: 'id', onAsk });
  expect(result.verdict).toMatchObject({ rule: 'key', isProven: true });
  // The end is looked at once more behind it, because something has moved.
  const last = asked.findLastIndex(({ isSecondLook }) => !isSecondLook);
  expect(asked[last]).toMatchObject({ index: 0 });
  expect(shown).toEqual([last + 1]);
});

test('a service that ignores page sizes and states those that it was asked for is read by its own', () => {
  for (const echoes of [10, 15, 20, 38])
    for (let count = echoes + 1; count <= 3 * echoes; count++) {
      const { result } = proven({ list: counted(count), identity: 'id', echoes }, { largest: echoes });
      expect(result.verdict.isProven, `${count} records on pages of ${echoes}`).toBe(true);
    }
});

test('identical records on pages of any size are no sign that sizes are ignored', () => {
  const list = Array.from({ length: 7 }, () => ({ key: 100, content: 1 }));
  const { result, asked } = proven({ list, identity: 'content' }, { largest: 4 });
  expect(result.verdict.isProven).toBe(true);
  expect(new Set(asked.map(({ size }) => size)).size).toBeGreaterThan(2);
});
