/** The entity tag of a revision. It is weak, for the same content is sent both compressed and not. */
export function etagOf(revision: string): string {
  return `W/"${revision}"`;
}

/** Whether the client says, by its `If-None-Match`, that it has this content already. */
export function isKnown(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === '*') return true;
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '');
  return ifNoneMatch.split(',').some(tag => opaque(tag) === opaque(etag));
}
