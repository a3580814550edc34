import { hostOfEndpoint, schemeAtStart } from '../contract/endpoint.ts';

/** Stands for what is not shown. */
const more = '…';

/**
 * A webhook's endpoint as a person may see it: scheme and host, and a mark where there is more. User name, password, path, query
 * and fragment may each be a secret. What is no address shows nothing but the mark.
 */
export function shownEndpoint(endpoint: string): string {
  const found = hostOfEndpoint(endpoint);
  if (found !== null) return `${found.scheme}${found.host}${found.isAll ? '' : `/${more}`}`;
  return /^[\p{Cc}\p{White_Space}]*$/u.test(endpoint) ? '' : more;
}

/** A text in which no address shows its user name, password, query or fragment; what it leads to, such as a document, is shown. */
export function withoutAddressSecrets(text: string): string {
  // A scheme is short. Without that bound, a long text takes time by the square of its length.
  return text.replace(/[a-z][a-z0-9+.-]{0,30}:\\?\/\\?\/[^\s"<>]*/gi, address => {
    const end = address.search(/[?#]/);
    const open = end < 0 ? address : address.slice(0, end);
    const [scheme = ''] = schemeAtStart.exec(open) ?? [];
    const [host = ''] = /^[^/\\]*/.exec(open.slice(scheme.length)) ?? [];
    return `${scheme}${open.slice(scheme.length + host.lastIndexOf('@') + 1)}${end < 0 ? '' : `?${more}`}`;
  });
}
