import { desc } from 'drizzle-orm';
import { mirrorIds } from '../tables/initialise-mirror.ts';
import { firstValue } from '../tables/query.ts';
import { syncRuns } from '../tables/schema.ts';
import { select } from '../tables/statement.ts';
import { openOfAnyShape } from './open.ts';

/** What a file says about which mirror it is, or a copy of. */
interface MirrorIdentity {
  readonly mirrorId: string | null;
  /** The address of the service that its newest run synced from; null if there was none. */
  readonly baseUrl: string | null;
}

/** The id of the mirror that a file is, or a copy of; null if it is none, or has none. */
export function mirrorIdOf(path: string): string | null {
  return identityOf(path).mirrorId;
}

/**
 * What tells two files apart that are known to be of different mirrors: their ids or, if one of them has none, the services
 * that they were synced from. Null if they may be of one.
 */
export function differentMirrors(one: string, other: string): [string, string] | null {
  const [a, b] = [identityOf(one), identityOf(other)];
  const hasIds = a.mirrorId !== null && b.mirrorId !== null;
  const [nameOfA, nameOfB] = hasIds ? [a.mirrorId, b.mirrorId] : [a.baseUrl, b.baseUrl];
  return nameOfA === null || nameOfB === null || nameOfA === nameOfB ? null : [nameOfA, nameOfB];
}

/** What a file says about which mirror it is, or a copy of; nothing if it can't be read. */
export function identityOf(path: string): MirrorIdentity {
  try {
    using file = openOfAnyShape(path, () => undefined);
    const { id, baseUrl } = syncRuns;
    const newest = () => select({ baseUrl }).from(syncRuns).orderBy(desc(id)).limit(1);
    return {
      mirrorId: mirrorIds(file.sqlite)[0] ?? null,
      baseUrl: firstValue(file.sqlite, newest) ?? null,
    };
  } catch {
    // A file that can't be read says nothing.
    return { mirrorId: null, baseUrl: null };
  }
}
