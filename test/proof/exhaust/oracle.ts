import type { Answer } from '../../../src/proof/answers.ts';
import type { Mirror } from './mirror.ts';
import type { Night } from './night.ts';
import type { WorldRecord } from './records.ts';

/** The errors that are possible after a night. */
export type Wrong =
  | 'lost'
  | 'wrongly removed'
  | 'removed by one answer'
  | 'invented'
  | 'kept although gone'
  | 'too many'
  | 'an older text';

/** The records that were really listed. */
export interface Truth {
  /** How many of each record were listed at every moment since the run began. */
  readonly throughout: ReadonlyMap<number, number>;
  /** The records that were listed at any moment since the run began. */
  readonly listed: ReadonlySet<number>;
  /** The most of each record that were listed at once. */
  readonly most: ReadonlyMap<number, number>;
  /** The texts that records had since then. */
  readonly texts: ReadonlySet<number>;
  /** The number that identifies a record. */
  nameOf(record: WorldRecord): number;
}

/** How many there are of each record. */
export type Counts = Map<number, number>;

/** What was listed at one moment. */
export interface Moment {
  readonly counts: Counts;
  readonly texts: readonly number[];
}

/** What was listed at some moments that follow each other. */
export function truthOf(moments: readonly Moment[], nameOf: Truth['nameOf']): Truth & { most: Counts } {
  const throughout: Counts = new Map(moments[0]?.counts);
  const most: Counts = new Map(throughout);
  for (const { counts } of moments.slice(1)) {
    for (const [name, count] of throughout) throughout.set(name, Math.min(count, counts.get(name) ?? 0));
    for (const [name, count] of counts) most.set(name, Math.max(count, most.get(name) ?? 0));
  }
  const texts = new Set(moments.flatMap(moment => moment.texts));
  return { throughout, listed: new Set(most.keys()), most, texts, nameOf };
}

/**
 * What is wrong with a mirror after a night. A claim is false if a record that was listed all the time is missing, or one is there that
 * was gone before, more often than it was listed at once, or with a text from before. A record that was listed all the time must never
 * be removed, claim or not.
 */
export function wrongs(
  truth: Truth,
  mirror: Mirror,
  before: Mirror['rows'],
  night: Night,
): [Wrong, number][] {
  const found: [Wrong, number][] = [];
  const held = countsBy(truth, mirror.rows);
  const known = countsBy(truth, before);
  for (const [name, count] of truth.throughout) {
    const has = held.get(name) ?? 0;
    if (has >= count) continue;
    if (has < Math.min(count, known.get(name) ?? 0)) found.push(['wrongly removed', name]);
    else if (night.verdict.isProven) found.push(['lost', name]);
  }
  for (const [name, count] of held) {
    if (truth.listed.has(name) || count === 0) continue;
    if (!known.has(name)) found.push(['invented', name]);
    else if (night.isProven) found.push(['kept although gone', name]);
  }
  for (const [name, count] of held)
    if (night.isProven && truth.listed.has(name) && count > (truth.most.get(name) ?? 0))
      found.push(['too many', name]);
  for (const { record } of night.isProven ? mirror.rows.values() : [])
    if (truth.listed.has(truth.nameOf(record)) && !truth.texts.has(record.content))
      found.push(['an older text', truth.nameOf(record)]);
  return found;
}

/** Removals that rest on one answer: a row goes only if two would have shown it. */
export function removedByOne({ removed, answers, verdict }: Night, isDown: boolean): [Wrong, number][] {
  // Pages of one reading can have totals of other moments: that readings agree, or show one order, shows that nothing is between them.
  const canDiffer = verdict.rule === 'agreement' || verdict.rule === 'order';
  return removed.flatMap(({ key, content }) => {
    let showing = 0;
    for (const { index, size, page, total } of answers) {
      // Beyond the end, some services give the last page again: that is an answer, too.
      const isLastAgain = index * size >= total && page.count === (total % size || size);
      const isLast = index * size + page.count === total || isLastAgain;
      const isBefore = isDown ? key > page.greatest : key < page.least;
      const isBehind = isDown ? key < page.least : key > page.greatest;
      const isNext = (other: Answer) =>
        other.index === index + 1 && other.size === size && (canDiffer || other.total === total);
      const isBetween = () =>
        answers.some(other => isNext(other) && (isDown ? key > other.page.greatest : key < other.page.least));
      const mayShow = !(isBefore && index > 0) && (!isBehind || isLast || isBetween());
      if (Number.isNaN(key) || page.count === 0 || mayShow) showing++;
    }
    return showing > 1 ? [] : [['removed by one answer', content]];
  });
}

function countsBy(truth: Truth, rows: Mirror['rows']): Counts {
  const counts: Counts = new Map();
  for (const { record, count } of rows.values())
    counts.set(truth.nameOf(record), (counts.get(truth.nameOf(record)) ?? 0) + count);
  return counts;
}
