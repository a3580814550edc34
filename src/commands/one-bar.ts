import { Presets, SingleBar } from 'cli-progress';
import type { Output } from './io.ts';

/** A progress bar on a terminal; without a terminal it shows nothing. */
export class OneBar {
  readonly #bar: SingleBar;

  /** @param format as cli-progress has it, for example `copying {bar} {percentage}%`. */
  constructor(stream: Output, format: string) {
    this.#bar = new SingleBar(
      { stream, format, barsize: 24, hideCursor: true, clearOnComplete: true, gracefulExit: false },
      Presets.shades_classic,
    );
  }

  readonly update = (done: number, total: number): void => {
    if (this.#bar.isActive) this.#bar.update(done);
    else this.#bar.start(total, done);
  };

  stop(): void {
    this.#bar.stop();
  }
}
