// Of all phases, their words: the addresses of pages, and the answers of a run.

import type { Finding } from './findings.ts';
import type { KeyRange } from './keys.ts';
import type { PageItems } from './page-items.ts';

/** Page `index`, from 0, of pages of `size` records: it begins `index × size` records from the front. */
export interface PageAddress {
  readonly index: number;
  readonly size: number;
}

/** A page to ask for. */
export interface Ask extends PageAddress {
  /** The size to ask for if it is another one: a service that ignores it answers with its own. Null if it is the page's size. */
  readonly requestedSize: number | null;
  /** True if it is asked for to confirm removals, after all others had arrived, by other addresses. */
  readonly isSecondLook: boolean;
  /** True if by the newest total there is no page at this address. */
  readonly isBeyond: boolean;
}

/** What is wrong with an answer: it is of another size or another page than was asked for, or the page fails for good. */
export interface PageProblem {
  readonly kind: 'size' | 'page' | 'failed';
  readonly finding: Finding;
}

/** One answer of the run. */
export interface Answer extends Ask {
  /** When it was asked for and when it arrived, by one counter of the run. */
  readonly asked: number;
  readonly arrived: number;
  /** The moment that it is of, in milliseconds since 1970: when it was asked for, or earlier if a cache had kept it. */
  readonly at: number;
  /** Whether it was asked for by an earlier run whose reading ended early. It is then older than all others. */
  readonly isRecalled: boolean;
  /** The answer's own `totalRecordCount`. */
  readonly total: number;
  /** The answer's own `pageCount`; null if it was not kept. */
  readonly pageCount: number | null;
  readonly page: PageItems;
  /** Why it says nothing; null if it says something. */
  readonly wrong: PageProblem | null;
  /** If it is several pages as one: the keys, in the order of the list, of which it says something. */
  readonly only?: KeyRange;
  /** The oldest keys of its records that the mirror does not have like this, at most `outliersMax` + 1; the oldest first. */
  readonly oldestNewKeys: readonly number[];
}

/** The place of a page's first record, from 0. */
export const beginOf = ({ index, size }: PageAddress): number => index * size;
/** The place after a full page. */
export const reachOf = ({ index, size }: PageAddress): number => (index + 1) * size;
/** The place after an answer's last record. */
export const endOf = (answer: Answer): number => beginOf(answer) + answer.page.count;
/** Whether two addresses are one. */
export const isAt = (one: PageAddress, other: PageAddress): boolean =>
  one.index === other.index && one.size === other.size;
/** Whether an answer is of this run. */
export const isOfRun = ({ isRecalled }: Pick<Answer, 'isRecalled'>): boolean => !isRecalled;
/** The name of an address. */
export const addressText = ({ index, size }: PageAddress): string => `${index}/${size}`;

/** What was shown at some moments, in the order in which it was asked for. */
export const inTime = <One extends { readonly asked: number }>(all: readonly One[]): One[] =>
  all.toSorted((a, b) => a.asked - b.asked);

/** What was shown at one moment: a page, or records of several pages that count as one. */
export type Shown = Pick<Answer, 'asked' | 'page'>;

/** Whether two pages show a record at places further apart than that, so that no page need show all of its identity. */
export function areDuplicatesApart(answers: readonly Answer[], apart: number): boolean {
  const first = new Map<number, readonly [answer: Answer, place: number]>();
  for (const answer of answers)
    for (const [at, record] of answer.page.records.entries()) {
      const place = beginOf(answer) + at;
      const [shownBy, before] = first.get(record) ?? [answer, place];
      if (shownBy !== answer && Math.abs(before - place) > apart) return true;
      first.set(record, [shownBy, before]);
    }
  return false;
}
