import type { Contents } from './records.ts';

interface Step {
  readonly left: string | null;
  readonly entered: string | null;
}

/** How a list stood since a run began, change by change. */
export class Instants {
  readonly #first: Contents;
  readonly #steps: Step[] = [];

  /** @param first the list as the run begins, which must not change. */
  constructor(first: Contents) {
    this.#first = first;
  }

  /** Notes one change: what left and what entered by it, null where nothing did. */
  note(left: string | null, entered: string | null): void {
    if (left !== entered) this.#steps.push({ left, entered });
  }

  /** True where it stood still. */
  get isOne(): boolean {
    return this.#steps.length === 0;
  }

  /**
   * True where there was an instant at which all that was listed is in `kept`, and what `kept` has besides came later: a reading
   * takes its time, and may see a new record after one that it has read was changed.
   */
  explain(kept: Contents): boolean {
    const balance = new Map(kept);
    for (const [content, count] of this.#first) balance.set(content, (balance.get(content) ?? 0) - count);
    const add = (content: string | null, count: number) => {
      if (content !== null) balance.set(content, (balance.get(content) ?? 0) + count);
    };
    if (isExplained(balance, this.#steps)) return true;
    return this.#steps.some(({ left, entered }, at) => {
      add(left, 1);
      add(entered, -1);
      return isExplained(balance, this.#steps.slice(at + 1));
    });
  }
}

/** @param balance how often each content is kept, less how often it is listed. */
function isExplained(balance: Contents, later: readonly Step[]): boolean {
  for (const [content, count] of balance) {
    if (count < 0) return false;
    if (count > 0 && later.filter(({ entered }) => entered === content).length < count) return false;
  }
  return true;
}
