import type { FastifyReply } from 'fastify';

/** Whether the client says, by its `If-None-Match`, that it has this content already. */
function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.split(',').some(tag => opaque(tag) === opaque(etag));
}

/** Tags the answer with its revision, and makes it an empty 304 where the client has that revision already. */
export function isKnownTo(
  ifNoneMatch: string | undefined,
  reply: FastifyReply,
  revision: string | undefined,
): boolean {
  if (revision === undefined) return false;
  // The tag is weak, for the same content is sent both compressed and not.
  const etag = `W/"${revision}"`;
  // A cache may keep the answer for this client alone, and must ask each time whether it still holds.
  reply.header('etag', etag).header('cache-control', 'private, no-cache').header('vary', 'authorization');
  if (!isKnown(etag, ifNoneMatch)) return false;
  reply.code(304);
  return true;
}
