import type { Finding, FindingCode } from './proof/findings.ts';

// What people read of findings: in `reason`, in the log, by `docmirror help CODE` and in docs/troubleshooting.md. Programs go by codes and facts.

/** A finding in words. `{name}` is a fact, and `{list}` in a command names a list. Commands have lines of their own. */
interface Words {
  /** What it says, without a full stop; of some codes by the variant that `variantOf` tells. */
  readonly says: string | Readonly<Record<string, string>>;
  /** Facts that it does not name. */
  readonly others?: readonly string[];
  /** What to do. */
  readonly advice: string;
}

const quiet = 'If this stays, sync when the list is quiet.';
const tell = 'If this stays, tell those who run the service.';
const unique = 'Ask those who run the service to sort by a second, unique field, too.';
const mass = 'docmirror sync {list} --allow-mass-removal';
const notShown = 'no answer shows {count} records of the mirror';

/** All codes. */
export const findingWords: Readonly<Record<FindingCode, Words>> = {
  page_failed: {
    says: "page_failed: page {pages} ({pageSize} a page) can't be read, {count} pages in all",
    advice: 'Tell those who run the service. All else is in the mirror, and the next run tries again.',
  },
  end_not_shown: {
    says: {
      alone:
        'the end of the list was shown by one answer alone: the list changes faster than it can be read, or totals are deduced from pages that are not full',
      other:
        'the end of the list was not shown: totalRecordCount says {total}, and the last page ends at {end}; the service seems to count records that it does not list, or to give an old total',
    },
    advice: tell,
  },
  total_is_no_count: {
    says: {
      limit:
        'totalRecordCount is {total} in each answer, and full pages are behind it, up to {shown} at least: the service seems to keep a limit in its total',
      estimate: 'totalRecordCount is {total}, and pages show {shown} records: it seems to be an estimate',
      pages:
        'totalRecordCount is that of {pages} pages, whatever their size: the service seems to count no more',
      deduced:
        'pages that are not full state totals of {ends}, where they end, and full pages one of {total}: the service seems to deduce totals from pages that lack records',
    },
    others: ['kind'],
    advice: tell,
  },
  totals_differ: { says: 'totalRecordCount was {least} and {most} in one reading', advice: quiet },
  total_exceeds_records: {
    says: 'its pages have shown {shown} records, but the service states a total of {total}',
    advice: 'If this stays, compare with the service:\n    docmirror verify --live',
  },
  records_beyond_total: {
    says: 'page {page} is beyond totalRecordCount {total} and has {records} records',
    advice: tell,
  },
  page_contradicts_total: {
    says: 'page {page} has {records} records, which does not fit totalRecordCount {total}',
    advice: tell,
  },
  pages_short: {
    says: 'pages have fewer records than their size, before the end ({shown} of {total}, on {pageCount} pages): the service seems to leave out of pages what the token may not see, or to cut the rows of a join',
    advice: 'Ask whether the token may see the whole list. If it may, tell those who run the service.',
  },
  page_size_ignored: {
    says: {
      none: 'the service does not serve pages of {asked} records',
      other: 'the service was asked for pages of {asked} records, and sends pages of {served}',
    },
    advice: tell,
  },
  page_number_ignored: {
    says: {
      again: 'page {asked} has the records of another page',
      other: 'asked for page {asked}, the service answered with page {answered}',
    },
    advice: tell,
  },
  changes_too_fast: {
    says: 'the list changes faster than it can be read',
    advice: 'If this stays, sync when the list is quiet, or allow larger pages and more requests.',
  },
  not_in_order: {
    says: 'a page is out of order, so only whole readings that agree can prove the list',
    advice: quiet,
  },
  order_unstable: {
    says: 'the order is not stable: pages repeat some records and skip others; the service should sort by a second, unique key, too',
    advice: unique,
  },
  records_repeated: { says: 'identical records are on two pages', advice: unique },
  pages_too_small: {
    says: 'pages of {size} records are too small to overlap',
    advice: 'Set DOCMIRROR_PAGE_SIZE to more.',
  },
  ties_too_long: {
    says: 'more records share a time than pages overlap by, which is {records}',
    advice: 'Set DOCMIRROR_PAGE_SIZE to more, if the service serves larger pages.',
  },
  id_twice: {
    says: 'id {id} is in the list twice, one of {count} such ids; the rows keep their texts',
    advice: 'Tell those who run the service.',
  },
  copies_differ: {
    says: {
      turns: 'answers come from copies of the list that differ: totalRecordCount is {totals} in turn',
      stay: `${notShown}, and they stay: totalRecordCount was {totals}, so answers can be from copies of the list that differ; a full run in which it does not move removes them`,
    },
    advice: 'Sync from one of them, or when they agree.',
  },
  answers_old: {
    says: 'a cache answered with pages that are {age} older than the run (Age)',
    others: ['ageMs'],
    advice: 'Let the cache pass requests with Cache-Control: no-cache on.',
  },
  newest_only: {
    says: `${notShown}, and they stay: the service seems to list only its newest {total}, because its total stands still while records come and go`,
    advice: 'Ask those who run the service for an address that lists all.',
  },
  not_confirmed: {
    says: `${notShown}, and they could not be looked for a second time`,
    advice: 'The next full run looks again:\n    docmirror sync {list} --full',
  },
  record_rejected: {
    says: '{count} records could not be read',
    advice: 'Look at "docmirror rejected", and tell those who run the service.',
  },
  ended_early: {
    says: {
      paused: 'the reading paused to write what it has read',
      ended: 'the reading ended early',
    },
    others: ['records', 'total', 'isPaused', 'goesOn'],
    advice: 'If the list ends at the same page in each run, tell those who run the service.',
  },
  list_emptied: {
    says: `${notShown}, because the list is empty all at once`,
    advice: 'If the next run finds it empty, too, the rows go.',
  },
  list_refilled: {
    says: `${notShown}, and they stay: they are the newest, and the list grew while it was read, so it can be one that is being filled again`,
    advice: 'The next full run decides:\n    docmirror sync {list} --full',
  },
  records_replaced: {
    says: '{count} records kept no field but their id, so nothing was written',
    advice: `Ask those who run the service. If the records are really others:\n    ${mass}`,
  },
  removals_withheld: {
    says: {
      limit: 'removals were withheld because they are more than DOCMIRROR_MAX_REMOVALS allows',
      rejected: 'removals were withheld because a missing record might be one that could not be read',
    },
    others: ['count', 'limit', 'why'],
    advice: `See which records. If they are really gone, remove them:\n    ${mass} --dry-run\n    ${mass}`,
  },
  field_gone: {
    says: '{field} had values, and is missing or null in all {count} records',
    advice: 'Ask those who run the service whether they removed it.',
  },
  field_new: {
    says: '{field} has no column, and is in {count} records',
    advice: 'Its values are in _extra.',
  },
  field_volatile: {
    says: '{field} differs in {count} records from what it was before',
    advice: 'If that is so in each run, name it in DOCMIRROR_IGNORE_FIELDS.',
  },
  time_unreadable: {
    says: "the time of {count} records can't be read",
    advice: 'Tell those who run the service.',
  },
};

/** The sentences of findings, in one line; null if there are none. */
export function sentencesOf(findings: readonly Finding[]): string | null {
  return findings.map(sentenceOf).join('; ') || null;
}

/** What a finding says, in a sentence without a full stop. */
export function sentenceOf(finding: Finding): string {
  const { says } = findingWords[finding.code];
  const words = typeof says === 'string' ? says : (says[variantOf(finding)] ?? '');
  const facts = new Map<string, unknown>(Object.entries(finding));
  if (finding.code === 'answers_old') facts.set('age', ageText(finding.ageMs));
  const goesOn = finding.code === 'ended_early' && finding.goesOn ? '; the next run goes on from there' : '';
  return (words + goesOn).replaceAll(
    /\{(\w+)\}( such)?( (?:record|page|id)s)?/g,
    (_, name, such = '', things = '') => {
      const fact = facts.get(name);
      const shown = Array.isArray(fact) ? fact.join(name === 'pages' ? ', ' : ' and ') : String(fact);
      return shown + such + (fact === 1 ? things.slice(0, -1) : things);
    },
  );
}

/** Which of several sentences a finding has. */
function variantOf(finding: Finding): string {
  switch (finding.code) {
    case 'end_not_shown':
      return finding.total === finding.end ? 'alone' : 'other';
    case 'total_is_no_count':
      return finding.kind;
    case 'page_size_ignored':
      return finding.served === null ? 'none' : 'other';
    case 'page_number_ignored':
      return finding.answered === null ? 'again' : 'other';
    case 'copies_differ':
      return finding.count === null ? 'turns' : 'stay';
    case 'ended_early':
      return finding.isPaused ? 'paused' : 'ended';
    case 'removals_withheld':
      return finding.why;
    default:
      return '';
  }
}

function ageText(ageMs: number): string {
  const minutes = Math.round(ageMs / 60_000);
  return minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
}

/** What a code means and what to do, with `{name}` in the place of a fact; null if it is no code of a finding. */
export function findingHelp(code: string): string | null {
  if (!isFindingCode(code)) return null;
  const { says, advice } = findingWords[code];
  const words = typeof says === 'string' ? says : Object.values(says).join('; or ');
  return `${words}. ${advice.replaceAll(' {list}', '')}`;
}

const isFindingCode = (code: string): code is FindingCode => Object.hasOwn(findingWords, code);
