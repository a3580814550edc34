import type { Ask } from './answers.ts';
import { eachList } from './mirror-rows.ts';
import type { Complaint } from './oracle.ts';
import type { ListName } from './scenario.ts';

/** A total that falls by so many records from one answer to the next can be that of another copy. */
const copyStepMin = 3;
/** So many rows, and this share of the list, can be those that are not filled in yet. */
const filledMin = 10;
const filledShare = 1 / 10;

/** The totals of a run's answers, in the order in which they were asked for. */
export class Totals {
  #sent = eachList((): (number | null)[] => []);

  beginRun(): void {
    this.#sent = eachList(() => []);
  }

  /** Notes a request; the result notes the total of its answer. */
  note({ list }: Ask): (total: number) => void {
    const sent = this.#sent[list];
    const at = sent.push(null) - 1;
    return total => {
      sent[at] = total;
    };
  }

  /** Whether a total was so much less than the one before that it can be that of a copy that lags. */
  haveFallen(list: ListName): boolean {
    return this.#steps(list).some(step => step <= -copyStepMin);
  }

  /**
   * What is wrong if rows went of a list that is being filled again. If its totals only rose, as many as that are not gone, but not there
   * yet.
   *
   * @param gone how many rows went at the growing end, of records that the list had before it was emptied.
   */
  judgeFilled(list: ListName, gone: number): Complaint[] {
    const steps = this.#steps(list);
    const isRising = steps.every(step => step >= 0) && steps.some(step => step > 0);
    const last = this.#known(list).at(-1) ?? 0;
    const isFilled = isRising && gone >= Math.max(filledMin, filledShare * (last + gone));
    const what = `${gone} rows went of a list that was being filled: its totals only rose, to ${last}`;
    return isFilled ? [{ kind: 'removed-wrongly', what }] : [];
  }

  #known(list: ListName): readonly number[] {
    return this.#sent[list].filter(total => total !== null);
  }

  #steps(list: ListName): readonly number[] {
    const totals = this.#known(list);
    return totals.slice(1).map((total, at) => total - (totals[at] as number));
  }
}
