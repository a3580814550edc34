import { ReceiptLog } from '../receipts/receipt-log.ts';
import { openOfAnyShape } from './open.ts';

/** What a file says of which mirror it is, or a copy of. */
interface MirrorIdentity {
  /** Null where it has none, as those of 0.1.0 have not. */
  readonly mirrorId: string | null;
  /** The address of the service that it last was synced from; null where it never was. */
  readonly baseUrl: string | null;
}

const unknown: MirrorIdentity = { mirrorId: null, baseUrl: null };

/** The id of the mirror that a file is, or a copy of; null where it is none, or has none. */
export function mirrorIdOf(path: string): string | null {
  return identityOf(path).mirrorId;
}

/**
 * What tells two files apart that are known to be of different mirrors: their ids or, where one of them has none, the services
 * that they were synced from. Null where they may be of one.
 */
export function differentMirrors(one: string, other: string): [string, string] | null {
  const [a, b] = [identityOf(one), identityOf(other)];
  const hasIds = a.mirrorId !== null && b.mirrorId !== null;
  const [nameOfA, nameOfB] = hasIds ? [a.mirrorId, b.mirrorId] : [a.baseUrl, b.baseUrl];
  return nameOfA === null || nameOfB === null || nameOfA === nameOfB ? null : [nameOfA, nameOfB];
}

function identityOf(path: string): MirrorIdentity {
  try {
    using file = openOfAnyShape(path, () => undefined);
    const newest = 'SELECT base_url FROM sync_runs ORDER BY id DESC LIMIT 1';
    const baseUrl = file.sqlite.prepare<[], string>(newest).pluck().get() ?? null;
    return { mirrorId: orNull(() => new ReceiptLog(file.sqlite).mirrorId()), baseUrl };
  } catch {
    return unknown;
  }
}

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
