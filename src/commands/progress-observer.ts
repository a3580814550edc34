import type { ListObserver } from '../sync/list-task.ts';

/** Something that shows how a run goes on until it is closed. */
export type ProgressObserver = ListObserver & {
  /** The service asked to be left alone until then, in milliseconds since 1970. */
  waiting(untilMs: number): void;
  close(): void;
};
