import type { Shown } from './answers.ts';
import { eachList } from './mirror-rows.ts';
import type { Entry } from './records.ts';
import type { ListName } from './scenario.ts';
import type { ServiceList } from './service-list.ts';

interface Cut {
  /** The number of the answer. */
  readonly answerNo: number;
  readonly entries: readonly Entry[];
}

/** A whole list as pages of one size showed it last, in the order of the pages. */
type Reading = readonly Cut[];

interface Sight {
  /** Before which answer a record was first listed as it is. */
  readonly entered: Map<Entry, number>;
  /** Which answer showed a record last. */
  readonly shown: Map<Entry, number>;
  /** By size of page, then by offset: what was shown there last. */
  readonly cuts: Map<number, Map<number, Cut>>;
}

/**
 * Knows which records the service's order hid from readings that could only agree: whole readings by different sizes of page
 * that hid the same records and showed the same ones twice. It is the residue of the design, a service that lies in the
 * same way to readings with different cuts, and it is told by what the service did.
 */
export class Residue {
  readonly #sights: Readonly<Record<ListName, Sight>> = eachList(() => ({
    entered: new Map(),
    shown: new Map(),
    cuts: new Map(),
  }));
  #answerNo = 0;

  /** Notes an answer; `list` is as it stood then. */
  note(list: ServiceList, { size, offset, entries }: Shown): void {
    const { entered, shown, cuts } = this.#sights[list.name];
    const answerNo = ++this.#answerNo;
    for (const entry of list.entries) if (!entered.has(entry)) entered.set(entry, answerNo);
    for (const entry of entries) shown.set(entry, answerNo);
    const cutsOfSize = cuts.get(size) ?? new Map<number, Cut>();
    cuts.set(size, cutsOfSize.set(offset, { answerNo, entries }));
  }

  /** The records of a list, as it stands, that are missing from agreeing readings and were shown by none. */
  hidden(list: ServiceList): Entry[] {
    const { entered, shown, cuts } = this.#sights[list.name];
    return list.entries.filter(entry => {
      const enteredAt = entered.get(entry);
      if (enteredAt === undefined) return false;
      const since = Math.max(shown.get(entry) ?? 0, enteredAt - 1);
      const readings = [...cuts].flatMap(([size, ofSize]) =>
        readSince(ofSize, size, list.entries.length, since),
      );
      return mustAgree(readings, new Set(list.entries));
    });
  }
}

/** The reading by one size, where all its pages came later than that answer; none otherwise. */
function readSince(cuts: ReadonlyMap<number, Cut>, size: number, total: number, since: number): Reading[] {
  const reading: Cut[] = [];
  for (let offset = 0; offset < total; offset += size) {
    const cut = cuts.get(offset);
    if (cut === undefined || cut.answerNo <= since) return [];
    reading.push(cut);
  }
  return [reading];
}

/** Two readings by different sizes are enough, or three where the same record stands on neighbouring pages in both. */
function mustAgree(readings: readonly Reading[], listed: ReadonlySet<Entry>): boolean {
  return readings.some((one, at) => {
    const agreeing = readings.slice(at + 1).filter(other => textOf(other, listed) === textOf(one, listed));
    const [other] = agreeing;
    if (other === undefined) return false;
    const isDoubtful = neighbours(one).some(uid => neighbours(other).includes(uid));
    return agreeing.length >= (isDoubtful ? 2 : 1);
  });
}

/** Who was shown and how often, of those that are still listed as they were. */
function textOf(reading: Reading, listed: ReadonlySet<Entry>): string {
  const entries = reading.flatMap(cut => cut.entries).filter(entry => listed.has(entry));
  return entries
    .map(({ uid }) => uid)
    .sort((a, b) => a - b)
    .join();
}

/** Records that stand on two neighbouring pages. */
function neighbours(reading: Reading): number[] {
  return reading.flatMap(({ entries }, at) => {
    const next = reading[at + 1]?.entries ?? [];
    return entries.filter(entry => next.includes(entry)).map(({ uid }) => uid);
  });
}
