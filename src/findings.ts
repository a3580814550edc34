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

const again = 'The next run tries again. If this stays,';
const quiet = `${again} sync when the list is quiet.`;
const tell = `${again} tell those who run the service.`;

/** What to do about a finding, by its code. A command has a line of its own. */
export const findingAdvice: Readonly<Record<FindingCode, string>> = {
  page_failed:
    'Tell those who run the service which page it can not give. All else is in the mirror, and the next run tries again.',
  end_not_shown: tell,
  total_is_no_count: tell,
  totals_differ: quiet,
  total_exceeds_records: tell,
  records_beyond_total: tell,
  page_contradicts_total: tell,
  pages_short: 'Ask whether the token may see the whole list. If it may, tell those who run the service.',
  page_size_ignored: tell,
  page_number_ignored: tell,
  changes_too_fast: quiet,
  not_in_order: quiet,
  order_unstable: 'Ask those who run the service to sort by a second, unique key, too.',
  records_repeated: 'Ask those who run the service to sort by a second, unique key, too.',
  pages_too_small: 'Set DOCMIRROR_PAGE_SIZE to more.',
  ties_too_long: 'Set DOCMIRROR_PAGE_SIZE to more, if the service serves larger pages.',
  id_twice: tell,
  copies_differ: `${again} ask those who run the service to let all copies catch up, or for one address that is no copy.`,
  answers_old: 'Let the cache pass requests with Cache-Control: no-cache on.',
  newest_only: 'Ask those who run the service for an address that lists all records.',
  not_confirmed: 'The next full run looks for them again:\n    docmirror sync {list} --full',
  record_rejected: 'Look at "docmirror rejected", and tell those who run the service.',
  ended_early: 'The next run goes on with the list.',
  list_emptied: 'If the list should not be empty, tell those who run the service before the next run.',
  list_refilled: 'The next full run decides:\n    docmirror sync {list} --full',
  records_replaced:
    'Ask those who run the service whether these are the same records. If they are really replaced:\n    docmirror sync {list} --allow-mass-removal',
  removals_withheld:
    'See which records. If they are really gone, remove them:\n    docmirror sync {list} --allow-mass-removal --dry-run\n    docmirror sync {list} --allow-mass-removal',
  field_gone: 'Ask those who run the service whether they have removed the field.',
  field_new: 'Its values are in _extra.',
  field_volatile: 'If that is so in each run, name the field in DOCMIRROR_IGNORE_FIELDS.',
  time_unreadable: 'Tell those who run the service.',
};
