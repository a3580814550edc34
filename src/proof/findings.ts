// Phase 8, findings: what any phase can say of a list, by its code and its facts.

/**
 * What a run can find out about a list that people should know, by its code, as facts: numbers, ids, and names of lists and fields, never a
 * text of a record. `src/findings.ts` makes the sentences; nothing reads these. `count` is of records.
 */
interface Facts {
  /** Pages that fail for good: at most 20 of their numbers, from 1 by the list's page size, and how many there are. */
  page_failed: { pages: readonly number[]; count: number; pageSize: number };
  /** No second answer shows where the list ends: a total, and the place after the last record; the same if one answer shows it. */
  end_not_shown: { total: number; end: number };
  total_is_no_count:
    | { kind: 'limit' | 'estimate'; total: number; shown: number }
    /** The total is that of so many pages, whatever their size. */
    | { kind: 'pages'; total: number; pages: number }
    /** Pages that are not full end at these totals, at most two, and a full page has another one. */
    | { kind: 'deduced'; total: number; ends: readonly number[] };
  totals_differ: { least: number; most: number };
  /** The least total of the run, and how many records its pages have shown. */
  total_exceeds_records: { total: number; shown: number };
  records_beyond_total: { total: number; page: number; records: number };
  page_contradicts_total: { total: number; page: number; records: number };
  pages_short: { pageCount: number; total: number; shown: number };
  /** `served` is null if no page of that size came. */
  page_size_ignored: { asked: number; served: number | null };
  /** The number of the page that came; null if it has that number, and the records of another page. */
  page_number_ignored: { asked: number; answered: number | null };
  changes_too_fast: object;
  not_in_order: object;
  order_unstable: object;
  records_repeated: object;
  pages_too_small: { size: number };
  /** Pages overlap by so many records, and more share a time. */
  ties_too_long: { records: number };
  /** The first such id, and how many there are. */
  id_twice: { id: number; count: number };
  /** So many rows stay because of it; null if the totals come by turns, so that nothing is proven. */
  copies_differ: { totals: readonly number[]; count: number | null };
  answers_old: { ageMs: number };
  newest_only: { total: number; count: number };
  not_confirmed: { count: number };
  record_rejected: { count: number };
  /** It is paused if it ended itself so that what it had read is written; the next run goes on with it or begins again. */
  ended_early: { records: number; total: number | null; isPaused: boolean; goesOn: boolean };
  list_emptied: { count: number };
  list_refilled: { count: number };
  records_replaced: { count: number };
  /** `limit` is how many can go; null if it is not that which keeps them, but records that were rejected. */
  removals_withheld: { count: number; limit: number | null; why: 'limit' | 'rejected' };
  field_gone: { field: string; count: number };
  field_new: { field: string; count: number };
  field_volatile: { field: string; count: number };
  time_unreadable: { count: number };
}

/** The code of a finding, as `reasons`, metrics and `docmirror help CODE` name it. */
export type FindingCode = keyof Facts;

/** A finding: its code and its facts. */
export type Finding = { [Code in FindingCode]: Readonly<{ code: Code } & Facts[Code]> }[FindingCode];

/** The findings after one that says more than they do: only that a reading ended early is still worth saying. */
export const insteadOf = (findings: readonly Finding[], cause: Finding): readonly Finding[] => [
  cause,
  ...findings.filter(({ code }) => code === 'ended_early'),
];
