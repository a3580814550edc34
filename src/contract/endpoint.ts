/**
 * The part of a webhook's endpoint that is not secret. User name, password, path, query and fragment can each be
 * secret.
 */
export interface EndpointHost {
  /** Ends with `://`; empty if the endpoint has none. */
  readonly scheme: string;
  /** With its port, if the endpoint has one. */
  readonly host: string;
  /** True if the endpoint says nothing else. */
  readonly isAll: boolean;
}

/** The scheme of an address, if it has one, and the slashes before its host. */
export const schemeAtStart: RegExp = /^(?:([a-z][a-z0-9+.-]*):)?[/\\]{2,}/i;
/** Certainly a host's name, even without a scheme. */
const certainHost = /^(?:localhost|(?:[a-z0-9_-]{1,63}\.)+[a-z]{2,63}|\d+(?:\.\d+){3}|\[[0-9a-f:.]+\])$/;

const plainHost = /^[a-z0-9._-]+$|^\[[0-9a-f:.]+\]$/;

const unseen = /[\p{Cc}\p{White_Space}]+/gu;

/** Finds the host in an endpoint, in any notation; null if it is no address. */
export function hostOfEndpoint(endpoint: string): EndpointHost | null {
  const text = endpoint.replace(unseen, '');
  const start = schemeAtStart.exec(text);
  const url = URL.parse(`https://${text.slice(start?.[0].length ?? 0)}`);
  if (url === null || (start === null && !certainHost.test(url.hostname))) return null;
  // The rules of addresses allow a semicolon in a host, and the text behind it can be a secret.
  if (!plainHost.test(url.hostname)) return null;
  return {
    scheme: start?.[1] === undefined ? '' : `${start[1].toLowerCase()}://`,
    host: url.host,
    isAll: `${url.pathname}${url.search}${url.hash}${url.username}${url.password}` === '/',
  };
}

/** An endpoint cut to scheme and host, for example `https://hooks.example.com`; null if it is no complete address. */
export function cutEndpoint(endpoint: string): string | null {
  // Text after a space is not part of the host, but the parser would take it for one.
  if (!endpoint.isWellFormed() || endpoint.trim().search(unseen) >= 0) return null;
  const found = hostOfEndpoint(endpoint);
  return found === null || found.scheme === '' ? null : `${found.scheme}${found.host}`;
}
