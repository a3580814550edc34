import type { ReadingState } from '../render/progress-line.ts';

/** The rate is measured over this time, in milliseconds, so that it follows the service but does not jump. */
const rateOverMs = 15_000;
/** A rate over less time means nothing, in milliseconds. */
const rateOverMsMin = 1_000;
/** The least time between two samples of the rate, in milliseconds, so that there are few. */
const sampleEveryMs = 500;

interface Sample {
  readonly atMs: number;
  readonly pages: number;
}

/** Follows the reading of one list: its progress, its rate, and what it waits for. */
export class Reading {
  readonly #resource: string;
  #walk = 1;
  #pages = 0;
  #pageCount = 0;
  #samples: Sample[] = [];
  #waitsUntilMs: number | null = null;
  #ended: string | null = null;

  constructor(resource: string) {
    this.#resource = resource;
  }

  walkStarted(walk: number, pageCount: number, nowMs: number): void {
    this.#walk = walk;
    this.#pageCount = pageCount;
    this.#pages = 0;
    this.#samples = [{ atMs: nowMs, pages: 0 }];
  }

  pageDone(pageCount: number, nowMs: number): void {
    this.#pages++;
    this.#pageCount = pageCount;
    if (nowMs - (this.#samples.at(-1)?.atMs ?? 0) < sampleEveryMs) return;
    this.#samples.push({ atMs: nowMs, pages: this.#pages });
    this.#samples = this.#samples.filter(({ atMs }) => nowMs - atMs <= rateOverMs);
  }

  waits(untilMs: number): void {
    this.#waitsUntilMs = Math.max(untilMs, this.#waitsUntilMs ?? 0);
  }

  ended(how: string): void {
    this.#ended = how;
  }

  state(nowMs: number): ReadingState {
    const pagesPerS = this.#pagesPerS(nowMs);
    const pagesLeft = Math.max(0, this.#pageCount - this.#pages);
    const isWaiting = this.#waitsUntilMs !== null && this.#waitsUntilMs > nowMs;
    return {
      resource: this.#resource,
      walk: this.#walk,
      pages: this.#pages,
      pageCount: this.#pageCount,
      pagesPerS,
      leftMs: pagesPerS === null || pagesPerS === 0 ? null : (pagesLeft / pagesPerS) * 1000,
      waitsUntilMs: isWaiting ? this.#waitsUntilMs : null,
      ended: this.#ended,
    };
  }

  #pagesPerS(nowMs: number): number | null {
    const [first] = this.#samples;
    if (first === undefined || nowMs - first.atMs < rateOverMsMin) return null;
    return ((this.#pages - first.pages) * 1000) / (nowMs - first.atMs);
  }
}
