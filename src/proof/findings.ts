/** Why a removal waits: more would go than are allowed, or records were rejected, of which each could be one that is missing. */
export type WithheldWhy = 'limit' | 'rejected';

/**
 * What a run has found out about a list that people should know, as facts: numbers, ids, and names of lists and fields, never a text of a
 * record. Each has a code. `src/findings.ts` makes the sentences; nothing reads these.
 */
export type Finding =
  /** Pages that fail for good: at most 20 of their numbers, counted from 1 by the list's page size, and how many there are. */
  | {
      readonly code: 'page_failed';
      readonly pages: readonly number[];
      readonly count: number;
      readonly pageSize: number;
    }
  /** No second answer shows where the list ends: a total, and the place after the last record, which is the same if one answer shows it. */
  | { readonly code: 'end_not_shown'; readonly total: number; readonly end: number }
  /** Full pages are behind that total, up to `shown`. */
  | {
      readonly code: 'total_is_no_count';
      readonly kind: 'limit' | 'estimate';
      readonly total: number;
      readonly shown: number;
    }
  /** The total is that of so many pages, whatever their size. */
  | {
      readonly code: 'total_is_no_count';
      readonly kind: 'pages';
      readonly total: number;
      readonly pages: number;
    }
  /** Pages that are not full end at these totals, at most two, and a full page has another one. */
  | {
      readonly code: 'total_is_no_count';
      readonly kind: 'deduced';
      readonly total: number;
      readonly ends: readonly number[];
    }
  | { readonly code: 'totals_differ'; readonly least: number; readonly most: number }
  /** The least total of the run. */
  | { readonly code: 'total_exceeds_records'; readonly total: number; readonly shown: number }
  | {
      readonly code: 'records_beyond_total' | 'page_contradicts_total';
      readonly total: number;
      readonly page: number;
      readonly records: number;
    }
  | {
      readonly code: 'pages_short';
      readonly pageCount: number;
      readonly total: number;
      readonly shown: number;
    }
  /** `served` is null if no page of that size came. */
  | { readonly code: 'page_size_ignored'; readonly asked: number; readonly served: number | null }
  /** The service answers with a page of another number; `answered` is null if the page is the first one again. */
  | { readonly code: 'page_number_ignored'; readonly asked: number; readonly answered: number | null }
  | { readonly code: 'changes_too_fast' | 'not_in_order' | 'order_unstable' | 'records_repeated' }
  | { readonly code: 'pages_too_small'; readonly size: number }
  /** Pages overlap by so many records, and more share a time. */
  | { readonly code: 'ties_too_long'; readonly records: number }
  /** The first such id, and how many there are. */
  | { readonly code: 'id_twice'; readonly id: number; readonly count: number }
  /** `count` rows stay because of it; null if the totals come by turns, so that nothing is proven. */
  | { readonly code: 'copies_differ'; readonly totals: readonly number[]; readonly count: number | null }
  | { readonly code: 'answers_old'; readonly ageMs: number }
  | { readonly code: 'newest_only'; readonly total: number; readonly count: number }
  /** `isPaused` if it ended itself so that what it had read is written, and `goesOn` if the next run goes on from there. */
  | {
      readonly code: 'ended_early';
      readonly records: number;
      readonly total: number | null;
      readonly isPaused: boolean;
      readonly goesOn: boolean;
    }
  | {
      readonly code:
        | 'not_confirmed'
        | 'record_rejected'
        | 'list_emptied'
        | 'list_refilled'
        | 'records_replaced';
      readonly count: number;
    }
  /** `limit` is how many can go; null if it is not that which keeps them. */
  | {
      readonly code: 'removals_withheld';
      readonly count: number;
      readonly limit: number | null;
      readonly why: WithheldWhy;
    }
  | {
      readonly code: 'field_gone' | 'field_new' | 'field_volatile';
      readonly field: string;
      readonly count: number;
    }
  | { readonly code: 'time_unreadable'; readonly count: number };

/** The code of a finding, as `reasons`, metrics and `docmirror help CODE` name it. */
export type FindingCode = Finding['code'];

/** The findings after one that says more than they do: only that a reading ended early is still worth saying. */
export const insteadOf = (findings: readonly Finding[], cause: Finding): readonly Finding[] => [
  cause,
  ...findings.filter(({ code }) => code === 'ended_early'),
];
