import { MultiBar, Presets, type SingleBar } from 'cli-progress';
import type { ListDefinition } from '../contract/lists.ts';
import type { ListObserver } from '../sync/list-task.ts';
import type { ListOutcome } from '../sync/ports.ts';

/** Shows a bar a list on a terminal. */
export class BarObserver implements ListObserver {
  readonly #bars: MultiBar;
  readonly #byResource = new Map<string, SingleBar>();

  constructor(stream: NodeJS.WriteStream) {
    const format = '{resource} {bar} {value}/{total} pages  {note}';
    this.#bars = new MultiBar(
      { stream, format, barsize: 16, hideCursor: true, clearOnComplete: false, gracefulExit: false },
      Presets.shades_classic,
    );
  }

  listStarted({ resource }: ListDefinition): void {
    const bar = this.#bars.create(1, 0, { resource: resource.padEnd(16), note: '' });
    this.#byResource.set(resource, bar);
  }

  walkStarted({ resource }: ListDefinition, walk: number, pageCount: number, pagesKnown: number): void {
    const bar = this.#byResource.get(resource);
    bar?.setTotal(pageCount);
    bar?.update(pagesKnown, { note: walk === 1 ? '' : `walk ${walk}` });
  }

  pageDone({ resource }: ListDefinition, _pageNo: number, pageCount: number): void {
    const bar = this.#byResource.get(resource);
    bar?.setTotal(pageCount);
    bar?.increment();
  }

  walkAgain(): void {}

  listEnded({ resource }: ListDefinition, outcome: ListOutcome): void {
    this.#byResource.get(resource)?.update({ note: outcome.status });
  }

  close(): void {
    this.#bars.stop();
  }
}
