/** How many exports of one kind there were, and when. */
export interface VolumeNumbers {
  /** In the period. */
  readonly now: number;
  /** In the part of the period before with which it is compared. */
  readonly before: number;
  /** At any other time before the period. */
  readonly earlier: number;
  /** The last one up to the end of the period, in milliseconds since 1970; null if there is none. */
  readonly lastMs: number | null;
  /** The usual time from one export to the next, by the last few months, in milliseconds; null if there are too few exports. */
  readonly usualGapMs: number | null;
}

/** Exports of the same kind that were counted together. */
export interface SomeExports {
  readonly when: 'now' | 'before' | 'earlier';
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** The counts of single keys, the most frequent first, and one count for the rest. */
export interface Counted<Key> {
  readonly entries: readonly ({ readonly key: Key } & VolumeNumbers)[];
  /** How many exports of the period, and of the period before, are in no entry. */
  readonly others: { readonly now: number; readonly before: number };
}

/** If there are more keys than this, the rest is counted as one: they are free texts and no kinds. */
const keysMax = 10_000;
/** The usual gap is computed from the exports of this time before the last one, in milliseconds. */
const usualMs = 90 * 86_400_000;
/** With fewer exports there is no usual gap. */
const tellingMin = 5;
/** The usual gap is computed from parts of this length, in milliseconds. The oldest parts are dropped. */
const partMs = 30 * 86_400_000;

/** Exports of one thing, added up. */
export class Volume implements VolumeNumbers {
  now = 0;
  before = 0;
  earlier = 0;
  lastMs: number | null = null;
  /** By 30 days: the number of exports, and the first of them. Only the newest few are kept. */
  readonly #parts = new Map<number, { count: number; firstMs: number }>();

  add({ when, count, firstMs, lastMs }: SomeExports): void {
    this[when] += count;
    this.lastMs = Math.max(lastMs, this.lastMs ?? lastMs);
    const number = Math.floor(firstMs / partMs);
    const part = this.#parts.get(number);
    this.#parts.set(number, {
      count: count + (part?.count ?? 0),
      firstMs: Math.min(firstMs, part?.firstMs ?? firstMs),
    });
    if (this.#parts.size > usualMs / partMs + 1) this.#parts.delete(Math.min(...this.#parts.keys()));
  }

  get usualGapMs(): number | null {
    const { lastMs } = this;
    if (lastMs === null) return null;
    const recent = [...this.#parts.values()].filter(({ firstMs }) => firstMs > lastMs - usualMs);
    const count = recent.reduce((sum, part) => sum + part.count, 0);
    if (count < tellingMin) return null;
    return (lastMs - Math.min(...recent.map(({ firstMs }) => firstMs))) / (count - 1);
  }
}

/** Counts of exports by a key, with a limit on the number of keys. */
export class Volumes<Key> {
  readonly #volumes = new Map<string, { readonly key: Key; readonly volume: Volume }>();
  readonly #others = { now: 0, before: 0, earlier: 0 };

  /** @param name identifies the key. */
  add(name: string, key: Key, some: SomeExports): void {
    let entry = this.#volumes.get(name);
    if (entry === undefined && this.#volumes.size >= keysMax) {
      this.#others[some.when] += some.count;
      return;
    }
    entry ??= { key, volume: new Volume() };
    this.#volumes.set(name, entry);
    entry.volume.add(some);
  }

  counted(): Counted<Key> {
    const entries = [...this.#volumes.values()].map(({ key, volume }) => {
      const { now, before, earlier, lastMs, usualGapMs } = volume;
      return { key, now, before, earlier, lastMs, usualGapMs };
    });
    return {
      entries: entries.sort((a, b) => b.now - a.now || b.before - a.before),
      others: this.#others,
    };
  }
}
