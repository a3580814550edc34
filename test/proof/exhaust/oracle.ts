import type { Mirror, Night } from './night.ts';
import type { WorldRecord } from './records.ts';

/** The errors that are possible after a night. */
export type Wrong = 'lost' | 'wrongly removed' | 'invented' | 'kept although gone';

/** The records that were really listed. */
export interface Truth {
  /** How many of each record were listed at every moment since the run began. */
  readonly throughout: ReadonlyMap<number, number>;
  /** The records that were listed at any moment since the run began. */
  readonly listed: ReadonlySet<number>;
  /** The number that identifies a record. */
  nameOf(record: WorldRecord): number;
}

/**
 * Compares a mirror after a night with what was listed, and returns what is wrong. A claim is false if a record that was listed all
 * the time is missing, or one is there that was gone before. A record that was listed all the time must never be removed, claim or
 * not.
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
  return found;
}

function countsBy(truth: Truth, rows: Mirror['rows']): Map<number, number> {
  const counts = new Map<number, number>();
  for (const { record, count } of rows.values()) {
    const name = truth.nameOf(record);
    counts.set(name, (counts.get(name) ?? 0) + count);
  }
  return counts;
}

/** A copy of a mirror's rows, for a comparison with the rows after a night. */
export function copyOf(rows: Mirror['rows']): Mirror['rows'] {
  return new Map([...rows].map(([content, { record, count }]) => [content, { record, count }]));
}
