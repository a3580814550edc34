import { openOfAnyShape } from './open.ts';

/** The identity of a mirror, as the mirror or a copy of it states it. */
interface MirrorIdentity {
  readonly mirrorId: string | null;
  /** The address of the service of its newest run; null if there was none. */
  readonly baseUrl: string | null;
}

/** The identity that a file states; all fields are null if it can't be read. */
export function identityOf(path: string): MirrorIdentity {
  try {
    using file = openOfAnyShape(path, () => undefined);
    const stated = file.sqlite.prepare<[], MirrorIdentity>(
      `SELECT (SELECT mirror_id FROM _mirror) AS mirrorId,
        (SELECT base_url FROM sync_runs ORDER BY id DESC LIMIT 1) AS baseUrl`,
    );
    return stated.get() as MirrorIdentity;
  } catch {
    return { mirrorId: null, baseUrl: null };
  }
}

/** The id of the mirror that a file is, or is a copy of; null if it has none. */
export function mirrorIdOf(path: string): string | null {
  return identityOf(path).mirrorId;
}

/**
 * The proof that two files are of different mirrors: their ids or, if one of them has no id, the addresses of their services. Null
 * if both can be of one mirror.
 */
export function differentMirrors(one: string, other: string): [string, string] | null {
  const [a, b] = [identityOf(one), identityOf(other)];
  const hasIds = a.mirrorId !== null && b.mirrorId !== null;
  const [nameOfA, nameOfB] = hasIds ? [a.mirrorId, b.mirrorId] : [a.baseUrl, b.baseUrl];
  return nameOfA === null || nameOfB === null || nameOfA === nameOfB ? null : [nameOfA, nameOfB];
}
