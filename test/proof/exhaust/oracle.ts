import type { Answer } from '../../../src/proof/window.ts';
import type { Mirror, Night } from './night.ts';
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

/** The truth, from moment to moment. */
export class Moments implements Truth {
  readonly throughout: Counts;
  readonly listed: Set<number>;
  readonly most: Counts;
  readonly texts: Set<number>;
  readonly nameOf: Truth['nameOf'];

  constructor(counts: Counts, texts: readonly number[], nameOf: Truth['nameOf']) {
    this.throughout = new Map(counts);
    this.listed = new Set(counts.keys());
    this.most = new Map(counts);
    this.texts = new Set(texts);
    this.nameOf = nameOf;
  }

  note(counts: Counts, texts: readonly number[]): void {
    for (const [name, count] of this.throughout)
      this.throughout.set(name, Math.min(count, counts.get(name) ?? 0));
    for (const [name, count] of counts) {
      this.listed.add(name);
      this.most.set(name, Math.max(count, this.most.get(name) ?? 0));
    }
    for (const text of texts) this.texts.add(text);
  }
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
export function removedByOne({ removed, answers }: Night, isDown: boolean): [Wrong, number][] {
  return removed.flatMap(({ key, content }) => {
    let showing = 0;
    for (const { index, size, page, total } of answers) {
      // Beyond the end, some services give the last page again: that is an answer, too.
      const isLastAgain = index * size >= total && page.count === (total % size || size);
      const isLast = index * size + page.count === total || isLastAgain;
      const isBefore = isDown ? key > page.greatest : key < page.least;
      const isBehind = isDown ? key < page.least : key > page.greatest;
      const isNext = (other: Answer) =>
        other.index === index + 1 && other.size === size && other.total === total;
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

/** A copy of a mirror's rows, for a comparison with the rows after a night. */
export function copyOf(rows: Mirror['rows']): Mirror['rows'] {
  return new Map([...rows].map(([content, { record, count }]) => [content, { record, count }]));
}
