import { timeFieldOf } from '../../contract/lists.ts';
import type { Finding } from '../../proof/findings.ts';
import type { PageItems } from '../../proof/window.ts';
import { firstValue } from '../tables/ask.ts';
import type { ListContext } from './mirror.ts';
import type { ReadList, SavedState } from './sync-state.ts';

/** The greatest time of a list's rows before a run writes it, in milliseconds since 1970; null if nothing can be late. */
export function newestBefore({ list, sqlite, sum, runs }: ListContext): number | null {
  const time = timeFieldOf(list);
  // Rows of a reading that ended early are not all older ones.
  const isWhole = runs.last('clean', list.resource)?.runId === runs.last('written', list.resource)?.runId;
  if (time === undefined || sum.count === 0 || !isWhole) return null;
  return firstValue(sqlite, `SELECT max(${time.column}_ms) FROM ${list.table}`);
}

/** Notes how late the records came that a run has inserted; not if others went, which can be the same ones. */
export function seeLate({ list, sqlite, runId, facts }: ListContext, newest: number | null): void {
  if (newest === null) return;
  const time = `${timeFieldOf(list)?.column}_ms`;
  const inserted = `FROM ${list.table} WHERE _changed_run_id = @runId AND _first_seen_run_id = @runId`;
  const late = sqlite
    .prepare<object, { count: number; late: number; oldest: number | null }>(
      `SELECT count(*) AS count, sum(${time} < @newest) AS late, min(${time}) AS oldest ${inserted}`,
    )
    .get({ runId, newest });
  if (late === undefined || late.count === 0) return;
  const mostMs = Math.max(0, newest - (late.oldest ?? newest));
  facts.see(list.resource, 'late', { count: late.late ?? 0, mostMs }, { new: late.count });
}

const codesOfTotals: readonly Finding['code'][] = [
  ...(['total_is_no_count', 'total_exceeds_records', 'records_beyond_total'] as const),
  ...(['page_contradicts_total', 'pages_short', 'copies_differ', 'newest_only', 'answers_old'] as const),
];

/** Notes what a whole reading shows of a list's order and of its totals. */
export function seeReading(
  { list, facts }: ListContext,
  { proof, findings, answers }: ReadList,
  { order }: SavedState,
): void {
  if (proof === null) return;
  const { resource } = list;
  const time = timeFieldOf(list)?.name;
  const ofAnswers = { answers: answers.length };
  if (order === 'none') facts.see(resource, 'order', { by: null }, ofAnswers);
  else if (order !== null) {
    const { direction, lateness, outliers } = order;
    const value = { by: time ?? 'id', direction, isExact: lateness === 0 && outliers === 0 };
    facts.see(resource, 'order', value, { ...ofAnswers, outOfOrderBy: lateness, outliers });
  }
  const isUnstable = findings.some(({ code }) => code === 'order_unstable');
  const isSeen = proof.verdict.isProven && proof.verdict.rule === 'key' && answers.length > 1;
  if (isUnstable || isSeen) facts.see(resource, 'order_stable', !isUnstable, ofAnswers);
  if (time !== undefined && order !== null && order !== 'none')
    facts.see(
      resource,
      'ties',
      answers.reduce((most, { page }) => Math.max(most, tiesOn(page)), 0),
      ofAnswers,
    );
  const ofTotal = findings.find(({ code }) => codesOfTotals.includes(code));
  if (ofTotal?.code === 'total_is_no_count') facts.see(resource, 'total', ofTotal.kind, ofAnswers);
  else if (ofTotal !== undefined) facts.see(resource, 'total', ofTotal.code, ofAnswers);
  else if (proof.verdict.isProven) facts.see(resource, 'total', 'fits', ofAnswers);
}

/** The most neighbours on a page that share a key. */
function tiesOn({ keys }: PageItems): number {
  let [most, count] = [0, 0];
  for (let at = 0; at < keys.length; at++) {
    count = keys[at] === keys[at - 1] ? count + 1 : 1;
    if (count > most) most = count;
  }
  return most;
}
