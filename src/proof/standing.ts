import type { Sum } from '../contract/sum.ts';
import type { Counting } from './answer.ts';

/** The mirror as it stands, as a reading of the list. */
export interface Standing {
  /** M: over the mirror's rows of the list. */
  readonly sum: Sum;
  /**
   * How many rows stood after the last run that was sure of the list and withheld nothing; as many as now where there is none. What
   * came since may stand beside the rows whose place it takes.
   */
  readonly settledCount: number;
  /** True where the last sweep was proven and only incremental runs came since: the mirror then counts as a first reading. */
  readonly isReading: boolean;
  /** True where one content may stand more than once among the rows. */
  readonly mayRepeat: boolean;
  /** From where the list's places are counted, as proven sweeps learnt it; null where they did not. */
  readonly counting: Counting | null;
  /** True where the last proven sweeps found nothing changed or gone: the list is one to which records are only added. */
  readonly hasOnlyGrown: boolean;
  /** The pages of the last proven sweep, each by its digest; null where they are not known as a whole. */
  readonly pageDigests: readonly string[] | null;
}
