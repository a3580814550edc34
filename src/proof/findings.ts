/** Why a total is no count of a list: a limit is kept in it, it counts pages, it is deduced from a page, or it is estimated. */
export type TotalKind = 'limit' | 'pages' | 'deduced' | 'estimate';

/** Why a removal waits: more would go than are allowed, or records were rejected, of which each could be one that is missing. */
export type WithheldWhy = 'limit' | 'rejected';

/**
 * What a run has found out about a list that people should know, as facts: numbers, ids, and names of lists and fields, never a text of a
 * record. Each has a code. `src/findings.ts` makes the sentences; nothing reads these.
 */
export type Finding =
  /** Pages that fail for good: at most 20 of their numbers, counted from 1 by the list's page size, and how many there are. */
  | { readonly code: 'page_failed'; readonly pages: readonly number[]; readonly count: number }
  /** No second answer shows where the list ends: its total, and the place after the last record. */
  | { readonly code: 'end_not_shown'; readonly total: number; readonly end: number }
  | { readonly code: 'total_is_no_count'; readonly kind: TotalKind; readonly total: number }
  | { readonly code: 'totals_differ'; readonly least: number; readonly most: number }
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
  | { readonly code: 'page_size_ignored'; readonly asked: number; readonly served: number }
  /** The service answers with a page of another number; `answered` is null if all pages are the same. */
  | { readonly code: 'page_number_ignored'; readonly asked: number; readonly answered: number | null }
  | { readonly code: 'changes_too_fast' | 'order_unstable' | 'records_repeated' }
  | { readonly code: 'ties_too_long'; readonly records: number }
  | { readonly code: 'id_twice'; readonly id: number; readonly count: number }
  | { readonly code: 'copies_differ'; readonly totals: readonly number[] }
  | { readonly code: 'answers_old'; readonly ageMs: number }
  | { readonly code: 'newest_only'; readonly total: number; readonly count: number }
  | { readonly code: 'ended_early'; readonly records: number; readonly total: number | null }
  | {
      readonly code:
        | 'not_confirmed'
        | 'record_rejected'
        | 'list_emptied'
        | 'list_refilled'
        | 'records_replaced';
      readonly count: number;
    }
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
