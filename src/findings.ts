import type { Finding, FindingCode } from './proof/findings.ts';

// What people read of findings. Programs go by codes and facts, and nothing reads these sentences.

/** The sentences of findings, in one line; null if there are none. */
export function sentencesOf(findings: readonly Finding[]): string | null {
  return findings.map(sentenceOf).join('; ') || null;
}

const records = (count: number) => (count === 1 ? '1 record' : `${count} records`);
const notShown = (count: number) =>
  `${count === 1 ? '1 record of the mirror was' : `${count} records of the mirror were`} not shown`;

/** What a finding says, in a sentence without a full stop. */
export function sentenceOf(finding: Finding): string {
  switch (finding.code) {
    case 'page_failed': {
      const { pages, count, pageSize } = finding;
      const others = count > 1 ? `; and ${count - 1} more` : '';
      return `page_failed: page ${pages[0]} (${pageSize} a page) can't be read${others}`;
    }
    case 'end_not_shown': {
      const { total, end } = finding;
      if (total === end)
        return 'the end of the list was shown by one answer alone: the list changes faster than it can be read, or totals are deduced from pages that are not full';
      const cause = total > end ? 'count records that it does not list' : 'give an old total';
      return `the end of the list was not shown: totalRecordCount says ${total}, and the last page ends at ${end}; the service seems to ${cause}: ask those who run it, if this stays`;
    }
    case 'total_is_no_count':
      return whyNoCount(finding);
    case 'totals_differ':
      return `totalRecordCount was ${finding.least} and ${finding.most} in one reading`;
    case 'total_exceeds_records': {
      const { total, most, shown } = finding;
      const stated = total === most ? total : `${total} to ${most}`;
      return `its pages have shown ${records(shown)}, but the service states a total of ${stated}`;
    }
    case 'page_contradicts_total':
      return `page ${finding.page} has ${records(finding.records)}, which does not fit totalRecordCount ${finding.total}`;
    case 'records_beyond_total':
      return `page ${finding.page} is beyond totalRecordCount ${finding.total} and has ${records(finding.records)}`;
    case 'pages_short':
      return 'pages have fewer records than their size, before the end: the service seems to leave out of pages what the token may not see, or to cut the rows of a join';
    case 'page_size_ignored':
      return finding.served === null
        ? `the service does not serve pages of ${records(finding.asked)}`
        : `the service was asked for pages of ${records(finding.asked)} and sends pages of ${finding.served}`;
    case 'page_number_ignored':
      return finding.answered === null
        ? `page ${finding.asked} is the first one again`
        : `asked for page ${finding.asked}, the service answered with page ${finding.answered}`;
    case 'changes_too_fast':
      return 'the list changes faster than it can be read';
    case 'not_in_order':
      return 'a page is out of order';
    case 'order_unstable':
      return 'the order is not stable: pages repeat some records and skip others; the service should sort by a second, unique key, too';
    case 'records_repeated':
      return 'identical records are on two pages';
    case 'pages_too_small':
      return `pages of ${records(finding.size)} are too small to overlap`;
    case 'ties_too_long':
      return `more records share a time than pages overlap by (${finding.records})`;
    case 'id_twice':
      return `id ${finding.id} is in the list twice${finding.count > 1 ? `; and ${finding.count - 1} more` : ''}`;
    case 'copies_differ': {
      const { totals, count } = finding;
      if (count === null)
        return `answers come from copies of the list that differ: totalRecordCount is ${totals.join(' and ')} in turn`;
      return `${notShown(count)} and stay: totalRecordCount was ${totals.join(' and ')}, so answers can be from copies of the list that differ; a full run in which it does not move removes them`;
    }
    case 'answers_old': {
      const minutes = Math.round(finding.ageMs / 60_000);
      const age = minutes < 120 ? `${minutes} minutes` : `${Math.round(minutes / 60)} hours`;
      return `a cache answered with pages that are ${age} older than the run (Age); let it pass requests with Cache-Control: no-cache on`;
    }
    case 'newest_only':
      return `${notShown(finding.count)} and stay, because the service seems to list only its newest ${finding.total}: its total stands still while records come and go`;
    case 'list_emptied':
      return `${notShown(finding.count)}, because the list is empty all at once; the next run decides if it is empty then, too`;
    case 'list_refilled':
      return `${notShown(finding.count)} and stay: they are the newest, and the list grew while it was read, so it can be one that is being filled again; the next full run decides`;
    case 'not_confirmed':
      return `${notShown(finding.count)}, and could not be looked for a second time`;
    case 'records_replaced':
      return `${records(finding.count)} kept no field but their id, so nothing was written`;
    case 'ended_early': {
      const why = finding.isPaused
        ? 'the reading paused to write what it has read'
        : 'the reading ended early';
      return finding.goesOn ? `${why}; the next run goes on from there` : why;
    }
    case 'record_rejected':
      return `${records(finding.count)} could not be read`;
    case 'removals_withheld':
      return finding.why === 'limit'
        ? 'removals were withheld because they are more than DOCMIRROR_MAX_REMOVALS allows'
        : 'removals were withheld because a missing record might be one that could not be read';
    case 'field_gone':
      return `${finding.field} is missing or null in all ${records(finding.count)}`;
    case 'field_new':
      return `${finding.field} is new in ${records(finding.count)}`;
    case 'field_volatile':
      return `${finding.field} differs in ${records(finding.count)} from what it was before`;
    case 'time_unreadable':
      return `the time of ${records(finding.count)} can't be read`;
  }
}

function whyNoCount(finding: Finding & { code: 'total_is_no_count' }): string {
  const { total } = finding;
  if (finding.kind === 'pages')
    return `totalRecordCount is that of ${finding.pages} pages, whatever their size: the service seems to count no more than ${finding.pages} pages`;
  if (finding.kind === 'deduced')
    return `pages that are not full state totals of ${finding.ends.join(' and ')}, where they end, and full pages one of ${total}: the service seems to deduce totals from pages that lack records`;
  const kept = finding.kind === 'limit' ? 'keep a limit in its total' : 'estimate its total';
  return `totalRecordCount is ${total} in each answer, and full pages are behind it, up to ${finding.shown} at least: the service seems to ${kept}`;
}

const quiet = 'If this stays, sync when the list is quiet.';
const tell = 'If this stays, tell those who run the service.';
const unique = 'Ask those who run the service to sort by a second, unique field, too.';
const mass = 'docmirror sync {list} --allow-mass-removal';

/** What is said of a code: the names of its facts, what it means, and what to do. A command has a line of its own; `{list}` names a list. */
interface About {
  readonly facts: string;
  readonly means: string;
  readonly advice: string;
}

/** All codes, as `docmirror help CODE` and docs/troubleshooting.md explain them. */
export const aboutFindings: Readonly<Record<FindingCode, About>> = {
  page_failed: {
    facts: 'pages count pageSize',
    means: 'The service can not give a page, after all tries.',
    advice:
      'Tell those who run it which page it is. All else is in the mirror, and the next run tries again.',
  },
  end_not_shown: {
    facts: 'total end',
    means:
      'No second answer shows where the list ends: the service cuts pages, or its total is wrong or deduced.',
    advice: tell,
  },
  total_is_no_count: {
    facts: 'kind total shown pages ends',
    means: 'totalRecordCount is a limit, the total of so many pages, or deduced from a page.',
    advice: tell,
  },
  totals_differ: {
    facts: 'least most',
    means: 'totalRecordCount changed within one reading.',
    advice: quiet,
  },
  total_exceeds_records: {
    facts: 'total most shown',
    means:
      'The pages show fewer records than the total: one moved while the list was read, or some are hidden.',
    advice: 'If this stays, compare with the service:\n    docmirror verify --live',
  },
  records_beyond_total: {
    facts: 'total page records',
    means: 'A page beyond totalRecordCount has records.',
    advice: tell,
  },
  page_contradicts_total: {
    facts: 'total page records',
    means: 'A page has more or fewer records than its total allows.',
    advice: tell,
  },
  pages_short: {
    facts: 'pageCount total shown',
    means: 'Pages in the middle are not full: the token may not see all records, or a join is cut.',
    advice: 'Ask whether the token may see the whole list. If it may, tell those who run the service.',
  },
  page_size_ignored: {
    facts: 'asked served',
    means: 'The service sends pages of another size, or none of that size.',
    advice: tell,
  },
  page_number_ignored: {
    facts: 'asked answered',
    means: 'The service answers with another page.',
    advice: tell,
  },
  changes_too_fast: {
    facts: '',
    means: 'Records come or go faster than the list can be read.',
    advice: 'If this stays, sync when the list is quiet, or allow larger pages and more requests.',
  },
  not_in_order: {
    facts: '',
    means: 'The records of a page are in no order that docmirror sees, so it compares whole readings.',
    advice: quiet,
  },
  order_unstable: {
    facts: '',
    means: 'The order of the list changes, so pages repeat some records and skip others.',
    advice: unique,
  },
  records_repeated: {
    facts: '',
    means: 'Identical records are on two pages: one can hide another.',
    advice: unique,
  },
  pages_too_small: {
    facts: 'size',
    means: 'Pages are too small to overlap.',
    advice: 'Set DOCMIRROR_PAGE_SIZE to more.',
  },
  ties_too_long: {
    facts: 'records',
    means: 'More records share a time than pages overlap by.',
    advice: 'Set DOCMIRROR_PAGE_SIZE to more, if the service serves larger pages.',
  },
  id_twice: {
    facts: 'id count',
    means: 'The service lists an id twice. The row keeps its text.',
    advice: 'Tell those who run the service.',
  },
  copies_differ: {
    facts: 'totals count',
    means: 'Answers come from copies of the list that differ: one lags.',
    advice: 'Sync from one of them, or when they agree.',
  },
  answers_old: {
    facts: 'ageMs',
    means: 'A cache gave answers that are older than the run (Age).',
    advice: 'Let the cache pass requests with Cache-Control: no-cache on.',
  },
  newest_only: {
    facts: 'total count',
    means:
      'The service seems to list only its newest records: its total stays, and old ones go. Their rows stay.',
    advice: 'Ask those who run the service for an address that lists all.',
  },
  not_confirmed: {
    facts: 'count',
    means: 'Records that seem gone could not be looked for a second time. Their rows stay.',
    advice: 'The next full run looks again:\n    docmirror sync {list} --full',
  },
  record_rejected: {
    facts: 'count',
    means:
      'Records could not be read, for example because they have no id. A row whose id can be read stays.',
    advice: 'Look at "docmirror rejected", and tell those who run the service.',
  },
  ended_early: {
    facts: 'records total isPaused goesOn',
    means: 'The reading ended before it proved the list. What was read is stored.',
    advice:
      'The next run goes on. If the list ends at the same page each time, tell those who run the service.',
  },
  list_emptied: {
    facts: 'count',
    means: 'The list is empty all at once. Nothing was removed.',
    advice: 'If the next run finds it empty, too, the rows go.',
  },
  list_refilled: {
    facts: 'count',
    means: 'The list seems to be being filled again, so the newest rows stay.',
    advice: 'The next full run decides:\n    docmirror sync {list} --full',
  },
  records_replaced: {
    facts: 'count',
    means: 'Nearly all records kept no field but their id, so nothing was written.',
    advice: `Ask those who run the service. If the records are really others:\n    ${mass}`,
  },
  removals_withheld: {
    facts: 'count limit why',
    means: 'More rows would go than DOCMIRROR_MAX_REMOVALS allows, or a rejected record can be one of them.',
    advice: `See which records. If they are really gone, remove them:\n    ${mass} --dry-run\n    ${mass}`,
  },
  field_gone: {
    facts: 'field count',
    means: 'A field that had values is missing or null in all records.',
    advice: 'Ask those who run the service whether they removed it.',
  },
  field_new: {
    facts: 'field count',
    means: 'The service sends a field that has no column. Its values are in _extra.',
    advice: 'There is nothing to do.',
  },
  field_volatile: {
    facts: 'field count',
    means: 'A field differs in most records from what it was.',
    advice: 'If that is so in each run, name it in DOCMIRROR_IGNORE_FIELDS.',
  },
  time_unreadable: {
    facts: 'count',
    means: 'The time of some records can not be read.',
    advice: 'Tell those who run the service.',
  },
};

/** What a code means and what to do; null if it is no code of a finding. */
export function findingHelp(code: string): string | null {
  if (!isFindingCode(code)) return null;
  const { means, advice } = aboutFindings[code];
  return `${means} ${advice.replaceAll(' {list}', '')}`;
}

const isFindingCode = (code: string): code is FindingCode => Object.hasOwn(aboutFindings, code);
