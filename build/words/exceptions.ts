/** A sentence, or a part of one, that is exempt from the rules. */
export interface Exception {
  readonly sentence: string;
  readonly reason: string;
}

/** At most 20, each with its reason. One that is not needed any more is a fault. */
export const exceptions: readonly Exception[] = [];
