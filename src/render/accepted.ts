import { printable } from '../printable.ts';
import type { Acceptance } from '../store/tables/accepted.ts';
import { instant } from './numbers.ts';
import { renderTable } from './table.ts';

/** An acceptance in a line: what, since when, who, why, and until when. */
export function acceptedLine(acceptance: Acceptance): string {
  const { id, resource, code, rejectedRecordId, atMost, until, why, actor, acceptedAt } = acceptance;
  const what = [
    `${resource}: ${code} is accepted`,
    rejectedRecordId !== null && `for rejected record ${rejectedRecordId}`,
    atMost !== null && `up to ${atMost}`,
    `since ${instant(acceptedAt)}`,
    actor && `by ${actor}`,
    until !== null && `until ${instant(until)}`,
  ];
  return printable(`${what.filter(Boolean).join(' ')} (${id})${why === null ? '' : `: ${why}`}`);
}

/** All acceptances for people, with those that have ended. */
export function acceptedText(accepted: readonly Acceptance[], width: number, nowMs: number): string {
  if (accepted.length === 0) return 'No finding is accepted.\n';
  const rows = accepted.map(each => {
    const { id, resource, code, rejectedRecordId, atMost, until, why, actor, acceptedAt, withdrawnAt } = each;
    const isOver = until !== null && Date.parse(until) <= nowMs;
    const end = until === null ? '' : `${isOver ? 'ended' : 'until'} ${instant(until)}`;
    const state = withdrawnAt === null ? end : `withdrawn ${instant(withdrawnAt)}`;
    const what = rejectedRecordId === null ? code : `${code} ${rejectedRecordId}`;
    return [
      String(id),
      resource,
      what,
      atMost === null ? '' : String(atMost),
      instant(acceptedAt),
      actor,
      state,
      why ?? '',
    ];
  });
  return renderTable(['Id', 'List', 'Finding', 'At most', 'Since', 'By', 'End', 'Why'], rows, width);
}
