import type { ConnectionMention } from '../../contract/record.ts';
import { instantMs } from '../../contract/time.ts';

/** What a list says of a connection, taken together over its records. */
export interface ConnectionClaim {
  readonly id: number;
  readonly name: string | null;
  readonly extra: string | null;
  /** When the record says it that is believed, as the service sent it; null in lists without a time. */
  readonly time: string | null;
}

/**
 * Gathers what a walk's records say of connections. Where they disagree, the newest record is believed, and among equally
 * new ones the name that sorts last: so the outcome does not depend on the order in which pages arrive.
 */
export class ConnectionClaims {
  readonly #claims = new Map<
    number,
    { -readonly [Field in keyof ConnectionClaim]: ConnectionClaim[Field] }
  >();
  readonly #conflicts = new Set<number>();

  /** How many connections have more than one name in this walk. */
  get conflictCount(): number {
    return this.#conflicts.size;
  }

  [Symbol.iterator](): Iterator<ConnectionClaim> {
    return this.#claims.values();
  }

  has(id: number): boolean {
    return this.#claims.has(id);
  }

  offer(mention: ConnectionMention, time: string | null): void {
    const known = this.#claims.get(mention.id);
    if (known === undefined) {
      this.#claims.set(mention.id, { ...mention, time });
    } else if (known.name === mention.name && known.extra === mention.extra) {
      if (compareTimes(time, known.time) > 0) known.time = time;
    } else {
      if (known.name !== null && mention.name !== null && known.name !== mention.name)
        this.#conflicts.add(mention.id);
      if (isStronger({ ...mention, time }, known)) this.#claims.set(mention.id, { ...mention, time });
    }
  }

  /** Adds what another walk said; where both are equally new, the later walk is believed. */
  join(later: ConnectionClaims): void {
    for (const claim of later) {
      const known = this.#claims.get(claim.id);
      const order = known === undefined ? 1 : compareTimes(claim.time, known.time);
      if (known === undefined || (claim.name !== null && order >= 0)) this.#claims.set(claim.id, claim);
    }
  }
}

function isStronger(claim: ConnectionClaim, known: ConnectionClaim): boolean {
  if ((claim.name === null) !== (known.name === null)) return known.name === null;
  const order = compareTimes(claim.time, known.time);
  if (order !== 0) return order > 0;
  return `${claim.name}\0${claim.extra ?? ''}` > `${known.name}\0${known.extra ?? ''}`;
}

/** Orders two points in time as the service wrote them; none, or one that can't be read, is the oldest. */
export function compareTimes(left: string | null, right: string | null): number {
  if (left === right) return 0;
  // In one fixed notation of UTC, texts sort as their times do.
  if (left?.length === right?.length && left?.endsWith('Z') && right?.endsWith('Z'))
    return left < right ? -1 : 1;
  return toMs(left) - toMs(right) || 0;
}

function toMs(time: string | null): number {
  const ms = time === null ? Number.NaN : instantMs(time);
  return Number.isNaN(ms) ? -8.64e15 - 1 : ms;
}
