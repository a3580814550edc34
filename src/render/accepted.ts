import { printable } from '../printable.ts';
import type { Acceptance } from '../store/tables/accepted.ts';
import { instant } from './numbers.ts';

/** An acceptance in a line: what, since when, who, until when, and why. */
export function acceptedLine(each: Acceptance): string {
  const { id, resource, code, rejectedRecordId, atMost, until, why, actor, acceptedAt, withdrawnAt } = each;
  const what = [
    `${resource}: ${code} ${withdrawnAt === null ? 'is' : 'was'} accepted`,
    rejectedRecordId !== null && `for rejected record ${rejectedRecordId}`,
    atMost !== null && `up to ${atMost}`,
    `since ${instant(acceptedAt)}`,
    actor && `by ${actor}`,
    until !== null && `until ${instant(until)}`,
    withdrawnAt !== null && `and withdrawn ${instant(withdrawnAt)}`,
  ];
  return printable(`${what.filter(Boolean).join(' ')} (${id})${why === null ? '' : `: ${why}`}`);
}
