const unseen = /[\p{Cc}\p{White_Space}]/u;
const plainHost = /^[a-z0-9._-]+$|^\[[0-9a-f:.]+\]$/i;

/** A webhook's endpoint cut to scheme and host; null if it is no complete address. All that is beside these can be secret. */
export function cutEndpoint(endpoint: string): string | null {
  // Text after a space is not part of the host, but the parser would take it for one.
  const isOneWord = endpoint.isWellFormed() && !unseen.test(endpoint.trim());
  const url = isOneWord ? URL.parse(endpoint.trim()) : null;
  // The rules of addresses allow a semicolon in a host, and the text behind it can be a secret.
  return url !== null && plainHost.test(url.hostname) ? `${url.protocol}//${url.host}` : null;
}
