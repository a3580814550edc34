import type { ListObserver } from '../sync/list-task.ts';

/** Shows the progress of a run until it is closed. */
export type ProgressObserver = ListObserver & {
  /** The service asked for no requests until then, in milliseconds since 1970. */
  waiting(untilMs: number): void;
  close(): void;
};
