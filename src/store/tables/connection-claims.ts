import type { ConnectionMention } from '../../contract/item-parser.ts';
import { instantMs } from '../../contract/time.ts';

/** The name and further fields of a connection according to all records of a list; null if no record gives them. */
export interface ConnectionClaim extends ConnectionMention {
  /** The time of the record that gave the name, as the service sent it; null in lists without a time. */
  readonly time: string | null;
  /** The time of the record that gave the further fields. */
  readonly extraTime: string | null;
}

/**
 * Gathers the names and further fields that a reading's records give to connections. The newest name wins; among equally new names,
 * the one that sorts last. Further fields follow the same rule. So the outcome does not depend on the order in which pages arrive.
 */
export class ConnectionClaims {
  readonly #claims = new Map<
    number,
    { -readonly [Field in keyof ConnectionClaim]: ConnectionClaim[Field] }
  >();

  [Symbol.iterator](): Iterator<ConnectionClaim> {
    return this.#claims.values();
  }

  get(id: number): ConnectionClaim | undefined {
    return this.#claims.get(id);
  }

  offer({ id, name, extra }: ConnectionMention, time: string | null, extraTime = time): void {
    const known = this.#claims.get(id);
    if (known === undefined) {
      this.#claims.set(id, { id, name, extra, time, extraTime });
      return;
    }
    if (isStronger(name, time, known.name, known.time)) {
      known.name = name;
      known.time = time;
    }
    if (isStronger(extra, extraTime, known.extra, known.extraTime)) {
      known.extra = extra;
      known.extraTime = extraTime;
    }
  }

  /** Adds the claims of a later reading; if both are equally new, the later one wins. */
  join(later: ConnectionClaims): void {
    for (const claim of later) {
      const known = this.#claims.get(claim.id);
      if (known === undefined) {
        this.#claims.set(claim.id, { ...claim });
        continue;
      }
      if (claim.name !== null && compareTimes(claim.time, known.time) >= 0) {
        known.name = claim.name;
        known.time = claim.time;
      }
      if (claim.extra !== null && compareTimes(claim.extraTime, known.extraTime) >= 0) {
        known.extra = claim.extra;
        known.extraTime = claim.extraTime;
      }
    }
  }
}

function isStronger(
  text: string | null,
  time: string | null,
  knownText: string | null,
  knownTime: string | null,
): boolean {
  if (text === null) return false;
  if (knownText === null) return true;
  return (compareTimes(time, knownTime) || (text > knownText ? 1 : 0)) > 0;
}

/** Orders two times as the service wrote them; a time that is missing or can't be read is the oldest. */
export function compareTimes(left: string | null, right: string | null): number {
  if (left === right) return 0;
  if (left?.length === right?.length && left?.endsWith('Z') && right?.endsWith('Z')) {
    const isOlder = left < right;
    // In one fixed notation of UTC, texts sort as their times do. The lesser text need not be a time: it is then the oldest.
    if (plainInstant.test(isOlder ? right : left)) return isOlder ? -1 : 1;
  }
  return toMs(left) - toMs(right);
}

/** Every month has at least 28 days. */
const plainInstant =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3])(?::[0-5]\d){2}(?:\.\d{1,18})?Z$/;

function toMs(time: string | null): number {
  return (time === null ? null : instantMs(time)) ?? -8.64e15 - 1;
}
