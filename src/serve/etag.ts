import type { FastifyReply } from 'fastify';

/** True if the client's `If-None-Match` says that it already has this content. */
function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.split(',').some(tag => opaque(tag) === opaque(etag));
}

/** Sets the answer's `ETag`. Returns true, and sets status 304, if the client already has that revision. */
export function isKnownTo(
  ifNoneMatch: string | undefined,
  reply: FastifyReply,
  revision: string | undefined,
): boolean {
  if (revision === undefined) return false;
  // The tag is weak, because the same content is sent both compressed and not.
  const etag = `W/"${revision}"`;
  // A cache can keep the answer for this client only, and must ask each time if it is still current.
  reply.header('etag', etag).header('cache-control', 'private, no-cache').header('vary', 'authorization');
  if (!isKnown(etag, ifNoneMatch)) return false;
  reply.code(304);
  return true;
}
