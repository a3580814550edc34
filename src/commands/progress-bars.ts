import { MultiBar, Presets } from 'cli-progress';
import type { ListDefinition } from '../contract/lists.ts';
import { progressLine } from '../render/progress-line.ts';
import type { ListOutcome } from '../sync/ports.ts';
import type { Output } from './io.ts';
import type { ProgressObserver } from './progress-observer.ts';
import { Reading } from './reading.ts';

const widthUnknown = 80;

/** Shows one bar for each list on a terminal: its progress, its rate, the time left, and what it waits for. */
export class BarObserver implements ProgressObserver {
  readonly #bars: MultiBar;
  readonly #readings = new Map<string, Reading>();

  constructor(stream: Output) {
    // The last column stays free: some terminals break the line there.
    const format = (_options: unknown, _params: unknown, { reading }: { reading: Reading }) => {
      const nowMs = Date.now();
      return progressLine(reading.state(nowMs), nowMs, (stream.columns ?? widthUnknown) - 1);
    };
    this.#bars = new MultiBar(
      { stream, format, hideCursor: true, clearOnComplete: false, gracefulExit: false },
      Presets.shades_classic,
    );
  }

  listStarted({ resource }: ListDefinition): void {
    const reading = new Reading(resource);
    this.#readings.set(resource, reading);
    this.#bars.create(1, 0, { reading });
  }

  walkStarted({ resource }: ListDefinition, walk: number, pageCount: number): void {
    this.#readings.get(resource)?.walkStarted(walk, pageCount, Date.now());
  }

  pageDone({ resource }: ListDefinition, _pageNo: number, pageCount: number): void {
    this.#readings.get(resource)?.pageDone(pageCount, Date.now());
  }

  walkAgain(): void {}

  waiting(untilMs: number): void {
    for (const reading of this.#readings.values()) reading.waits(untilMs);
  }

  listEnded({ resource }: ListDefinition, { status, completeness }: ListOutcome): void {
    this.#readings.get(resource)?.ended(status === 'completed' ? (completeness ?? status) : status);
  }

  close(): void {
    this.#bars.stop();
  }
}
