import type { CaseKind } from './regressions.ts';

/** One place of the program, and what stands there instead where a guard is switched off. */
export interface Edit {
  /** From the root of the repository. */
  readonly file: string;
  /** As it stands in the file, exactly once. */
  readonly text: string;
  readonly instead: string;
}

/** A part of the program that keeps a promise. */
export interface Guard {
  /** Names the kept scenario, too. */
  readonly name: string;
  /** What it sees to, in a sentence. */
  readonly holds: string;
  /** What switches it off. */
  readonly off: readonly Edit[];
  /** Other guards that hide it, and are switched off beside it: without them alone, the kept scenario breaks nothing. */
  readonly behind?: readonly Edit[];
  /** What comes of the kept scenario without it. */
  readonly breaks: CaseKind;
}
