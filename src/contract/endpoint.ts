/** What of a webhook's endpoint is no secret: user name, password, path, query and fragment can each be one. */
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
/** What is a host's name without any doubt, also if no scheme says that a host is meant. */
const certainHost = /^(?:localhost|(?:[a-z0-9_-]{1,63}\.)+[a-z]{2,63}|\d+(?:\.\d+){3}|\[[0-9a-f:.]+\])$/;

const plainHost = /^[a-z0-9._-]+$|^\[[0-9a-f:.]+\]$/;

const unseen = /[\p{Cc}\p{White_Space}]+/gu;

/** Finds the host in an endpoint, however it is written; null if it is no address. */
export function hostOfEndpoint(endpoint: string): EndpointHost | null {
  const text = endpoint.replace(unseen, '');
  const start = schemeAtStart.exec(text);
  const url = URL.parse(`https://${text.slice(start?.[0].length ?? 0)}`);
  if (url === null || (start === null && !certainHost.test(url.hostname))) return null;
  // By the rules of addresses, a semicolon and a secret behind it can be part of a host.
  if (!plainHost.test(url.hostname)) return null;
  return {
    scheme: start?.[1] === undefined ? '' : `${start[1].toLowerCase()}://`,
    host: url.host,
    isAll: `${url.pathname}${url.search}${url.hash}${url.username}${url.password}` === '/',
  };
}

/** An endpoint cut to scheme and host, such as `https://hooks.example.com`; null if it is no whole address. */
export function cutEndpoint(endpoint: string): string | null {
  // What follows a space is no part of the host, and would be read as one.
  if (!endpoint.isWellFormed() || endpoint.trim().search(unseen) >= 0) return null;
  const found = hostOfEndpoint(endpoint);
  return found === null || found.scheme === '' ? null : `${found.scheme}${found.host}`;
}
