import { addressText, type PageAddress, type PageAnswer, type PageSummary } from './page.ts';

/** A page to ask for now. */
export interface Ask extends PageAddress {
  readonly asked: number;
  readonly isSecondLook: boolean;
  readonly reading: number;
}

/** The requests of a run and their answers, with one counter for both, which shows which answer is later. */
export class Requests {
  readonly answers: PageAnswer[] = [];
  readonly #queue: Omit<Ask, 'asked'>[] = [];
  readonly #asked = new Set<string>();
  readonly #isUsedBefore: (address: PageAddress) => boolean;
  #newest: PageAnswer | null = null;
  #tick = 0;
  #underWay = 0;

  /** @param isUsedBefore whether a run of the last days has used an address. */
  constructor(isUsedBefore: (address: PageAddress) => boolean) {
    this.#isUsedBefore = isUsedBefore;
  }

  /** True while an answer is still to come. */
  get areUnderWay(): boolean {
    return this.#underWay > 0;
  }

  get areQueued(): boolean {
    return this.#queue.length > 0;
  }

  /** The answer that was asked for last, of those that have arrived. */
  get newest(): PageAnswer | null {
    return this.#newest;
  }

  /** Whether this run has used an address. */
  readonly isUsedNow = (address: PageAddress): boolean => this.#asked.has(addressText(address));

  /** Whether this run or one of the last days has used an address. */
  readonly isUsed = (address: PageAddress): boolean => this.isUsedNow(address) || this.#isUsedBefore(address);

  /** Adds a page to ask for. */
  add(page: PageAddress, reading: number, isSecondLook = false): void {
    this.#queue.push({ index: page.index, size: page.size, reading, isSecondLook });
    this.#asked.add(addressText(page));
  }

  /** The next page to ask for, which is then under way; null if none is left. */
  send(): Ask | null {
    const page = this.#queue.shift();
    if (page === undefined) return null;
    this.#underWay++;
    return { ...page, asked: ++this.#tick };
  }

  /** Notes an answer. */
  enter(ask: Ask, total: number, summary: PageSummary): PageAnswer {
    const answer = { ...ask, arrived: ++this.#tick, total, summary };
    this.answers.push(answer);
    if (this.#newest === null || answer.asked > this.#newest.asked) this.#newest = answer;
    this.#underWay--;
    return answer;
  }
}
