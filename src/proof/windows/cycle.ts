/**
 * Whether orders contradict each other. Each order is a row of numbers below `count`. No number can be both before and
 * after another, directly or through others, nor twice in a row. Numbers are taken from the front while one has none
 * before it. Typed arrays, because there are millions.
 */
export function hasCycle(orders: readonly Int32Array[], count: number): boolean {
  const starts = new Int32Array(count + 1);
  for (const order of orders)
    for (let at = 0; at + 1 < order.length; at++) add(starts, (order[at] as number) + 1, 1);
  for (let at = 0; at < count; at++) add(starts, at + 1, starts[at] as number);
  const next = new Int32Array(starts[count] as number);
  const filled = starts.slice(0, count);
  const waitsFor = new Int32Array(count);
  for (const order of orders) {
    for (let at = 0; at + 1 < order.length; at++) {
      const after = order[at + 1] as number;
      next[add(filled, order[at] as number, 1) - 1] = after;
      add(waitsFor, after, 1);
    }
  }
  return takeAll(starts, next, waitsFor, count) < count;
}

/** How many numbers can be taken, each after all that are before it. */
function takeAll(starts: Int32Array, next: Int32Array, waitsFor: Int32Array, count: number): number {
  const queue = new Int32Array(count);
  let queued = 0;
  for (let number = 0; number < count; number++) if (waitsFor[number] === 0) queue[queued++] = number;
  for (let taken = 0; taken < queued; taken++) {
    const number = queue[taken] as number;
    for (let at = starts[number] as number; at < (starts[number + 1] as number); at++) {
      const after = next[at] as number;
      if (add(waitsFor, after, -1) === 0) queue[queued++] = after;
    }
  }
  return queued;
}

function add(numbers: Int32Array, at: number, step: number): number {
  const sum = (numbers[at] as number) + step;
  numbers[at] = sum;
  return sum;
}
