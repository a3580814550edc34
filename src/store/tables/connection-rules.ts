import { connectionContent } from '../../contract/content.ts';
import { type ConnectionClaim, compareTimes } from './connection-claims.ts';
import { columnsOf, type Said, saidIn } from './connection-columns.ts';
import type { StandingConnection } from './standing-record.ts';

// Whose word on a connection counts: pure, and told of one row and one claim at a time.

/** A connection's row, with what is known of where its name comes from. */
export interface ConnectionRow extends StandingConnection {
  /** How much the list counts that gave the name; see `unclaimed` and `givenUpBy`. */
  readonly nameRank: number;
  readonly nameTime: string | null;
  /** The same of the further fields. */
  readonly extraRank: number;
  /** 16 bytes, as they are in the row; null if another program took them away. */
  readonly content: Buffer | null;
}

/** Nobody knows which list gives it. */
export const unclaimed = 0;
/** A list of that rank gave it, and gives it no more: those that count less may, and where none does, it is gone. */
export function givenUpBy(rank: number): number {
  return -rank;
}

/** Whether a row says just that of its connection: nulls among the further fields, and their order, say nothing. */
export function saysTheSame(row: ConnectionRow, said: Said): boolean {
  const { name, extra } = columnsOf(said);
  if (name === row.name && extra === row.extra) return true;
  return connectionContent(row).equals(connectionContent({ id: row.id, name, extra }));
}

/**
 * Whether a name counts more than the one of the row.
 *
 * @param isComplete whether the claim is all that a list of that rank says of the connection.
 */
export function isNameBelieved(
  claim: ConnectionClaim,
  row: ConnectionRow,
  rank: number,
  isComplete: boolean,
): boolean {
  if (row.nameRank !== rank) return rank > row.nameRank;
  return isComplete || compareTimes(claim.time, row.nameTime) >= 0;
}

/**
 * Whether a claim of some pages tells what a list of that rank says of a connection. It does not where these pages may hold the
 * record that gave the row its name, or its further fields, and say something else: what then counts may stand on any other page.
 */
export function isTold(claim: ConnectionClaim, row: ConnectionRow, rank: number): boolean {
  return isNameTold(claim, row, rank) && isExtraTold(claim, row, rank);
}

function isNameTold({ name, time, lastTime }: ConnectionClaim, row: ConnectionRow, rank: number): boolean {
  if (row.nameRank !== rank || compareTimes(lastTime, row.nameTime) < 0) return true;
  const age = compareTimes(time, row.nameTime);
  return name !== null && (age > 0 || (age === 0 && name === saidIn(row).name));
}

function isExtraTold({ extra }: ConnectionClaim, row: ConnectionRow, rank: number): boolean {
  return row.extraRank !== rank || saysTheSame(row, { name: saidIn(row).name, extra });
}
