import { openOfAnyShape } from '../file/open.ts';
import { ReceiptLog } from '../receipts/receipt-log.ts';

/** What a mirror, or a copy or share of one, states of itself; all is null if it can't be read. */
export function identityOf(path: string): {
  readonly mirrorId: string | null;
  /** The address of the service of its newest run; null if there was none. */
  readonly baseUrl: string | null;
} {
  try {
    using file = openOfAnyShape(path, ['mirror', 'share']);
    const newest = file.sqlite.prepare<[], string>('SELECT base_url FROM sync_runs ORDER BY id DESC LIMIT 1');
    return { mirrorId: new ReceiptLog(file.sqlite).mirrorId(), baseUrl: newest.pluck().get() ?? null };
  } catch {
    return { mirrorId: null, baseUrl: null };
  }
}

/** The ids of two files that are of different mirrors; null if both can be of one mirror. */
export function differentMirrors(one: string, other: string): readonly [string, string] | null {
  const [a, b] = [identityOf(one).mirrorId, identityOf(other).mirrorId];
  return a === null || b === null || a === b ? null : [a, b];
}
