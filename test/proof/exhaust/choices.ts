import { spawnSync } from 'node:child_process';

/**
 * Chooses the worlds that are played if there are too many for all: the commit, so that others are played the next time. With
 * `SEED=… npm run …` those of another time are played again.
 */
export const seed: string = process.env.SEED ?? commit();

function commit(): string {
  const { stdout } = spawnSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' });
  return stdout?.trim() || 'no commit';
}

/**
 * Goes through every way in which something can happen. The player asks `next` each time it could go on in several ways. Played again
 * after `advance`, it goes on in another one, until all were played.
 *
 * If only a share is played, these are all ways to begin, and from there all in which at most one thing happens. Of those in which more
 * happens, the first two decide: by a hash of them with the seed, one of so many is played.
 */
export class Choices {
  readonly #taken: number[] = [];
  readonly #counts: number[] = [];
  readonly #oneOf: number;
  readonly #seed: number;
  #at = 0;
  /** Where the ways to begin end. */
  #begun = 0;

  /**
   * @param oneOf how many ways there are for one that is played; all are if it is 1.
   * @param number the number of the list: of each, others are played.
   */
  constructor(oneOf = 1, number = 0) {
    this.#oneOf = oneOf;
    this.#seed = mix([...seed].map(letter => letter.charCodeAt(0)).reduce(mix, 0), number);
  }

  /** One of so many ways, from 0. */
  next(count: number): number {
    if (this.#at === this.#taken.length) {
      this.#taken.push(0);
      this.#counts.push(count);
    }
    return this.#taken[this.#at++] as number;
  }

  /** What was chosen until now is how it begins. */
  begin(): void {
    this.#begun = this.#at;
  }

  /** Turns to the next way; false if there is none left. */
  advance(): boolean {
    this.#at = 0;
    for (let last = this.#taken.length - 1; last >= 0; last--) {
      for (
        let turned = (this.#taken[last] as number) + 1;
        turned < (this.#counts[last] as number);
        turned++
      ) {
        if (!this.#isPlayed(last, turned)) continue;
        this.#taken[last] = turned;
        this.#taken.length = last + 1;
        this.#counts.length = last + 1;
        return true;
      }
    }
    return false;
  }

  #isPlayed(last: number, turned: number): boolean {
    if (this.#oneOf === 1 || last < this.#begun) return true;
    const happened = this.#taken.slice(this.#begun, last).filter(chosen => chosen > 0).length;
    if (happened !== 1) return true;
    const way = this.#taken.slice(0, last).reduce(mix, this.#seed);
    return mix(way, turned) % this.#oneOf === 0;
  }
}

/** A hash of a number and what was before it (FNV, with its bits mixed at the end). */
function mix(hash: number, next: number): number {
  const mixed = Math.imul(hash ^ (next + 1), 0x9e3779b1);
  return (mixed ^ (mixed >>> 15)) >>> 0;
}
