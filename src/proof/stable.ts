import { contentBytes } from '../contract/sum.ts';
import { ContentNumbers } from './numbers.ts';
import type { Answer, Identity } from './window.ts';

/**
 * Whether readings show one order of records that nobody sees. They do if their pages are linked by records that they share, and no
 * record is before another one on one page and, by whatever pages, behind it on others. If the order is stable, each page covers all
 * places between its first and its last record, as a window does, and linked pages leave none out. A record on two pages of one
 * reading links none: it might be two that are the same. There are only as many of them as the total says that records came: if there
 * are more, a record was moved, or two are the same.
 */
export function showOneOrder(readings: readonly (readonly Answer[])[], identity: Identity): boolean {
  const contents = new ContentNumbers();
  const ids = new Map<number, number>();
  const numberOf = ({ page }: Answer, at: number): number => {
    if (identity === 'content') return contents.numberOf(page.contents, at * contentBytes);
    const key = page.keys[at] as number;
    if (!ids.has(key)) ids.set(key, ids.size);
    return ids.get(key) as number;
  };
  const repeated = new Set<number>();
  const pages: number[][] = [];
  for (const answers of readings) {
    const before = new Set<number>();
    let [rises, again, total] = [0, 0, Number.POSITIVE_INFINITY];
    for (const answer of answers) {
      rises += Math.max(0, answer.total - total);
      total = answer.total;
      const page = Array.from(answer.page.keys, (_, at) => numberOf(answer, at));
      for (const number of page)
        if (before.has(number)) {
          repeated.add(number);
          again++;
        }
      for (const number of page) before.add(number);
      pages.push(page);
    }
    if (again > rises) return false; // guard: only new records shift others to the next page
  }
  const count = identity === 'content' ? contents.count : ids.size;
  const groups = pages.map((_, at) => at);
  const groupOf = (at: number): number => (groups[at] === at ? at : groupOf(groups[at] as number));
  const newest = new Int32Array(count).fill(-1);
  const waits = new Int32Array(count);
  // Records that come right after others, linked to the next one that comes after the same record.
  const after: { number: number; next: number }[] = [];
  const afters = new Int32Array(count).fill(-1);
  for (const [at, page] of pages.entries()) {
    for (const [place, number] of page.entries()) {
      const other = newest[number] as number;
      if (other >= 0 && !repeated.has(number)) groups[groupOf(other)] = groupOf(at);
      newest[number] = at;
      if (place === 0) continue;
      const before = page[place - 1] as number;
      (waits[number] as number)++;
      after.push({ number, next: afters[before] as number });
      afters[before] = after.length - 1;
    }
  }
  if (groups.some((_, at) => groupOf(at) !== groupOf(0))) return false; // guard: linked pages
  const free = [...waits.keys()].filter(number => waits[number] === 0);
  let placed = 0;
  for (let number = free.pop(); number !== undefined; number = free.pop()) {
    placed++;
    for (let at = afters[number] as number; at >= 0; at = after[at]?.next as number) {
      const next = after[at]?.number as number;
      if (--(waits[next] as number) === 0) free.push(next);
    }
  }
  return placed === count; // guard: one order
}
