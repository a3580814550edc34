import { cutEndpoint } from '../contract/endpoint.ts';

/** The mark for a hidden part. */
const more = '…';

/**
 * A webhook's endpoint as a person can see it: scheme and host, and a mark if there is more, because that can be secret. A text that is
 * not an address shows nothing but the mark.
 */
export function shownEndpoint(endpoint: string): string {
  const text = endpoint.trim();
  const cut = cutEndpoint(text);
  if (cut === null) return text === '' ? '' : more;
  return text === cut || text === `${cut}/` ? cut : `${cut}/${more}`;
}

/** A text without the user name, password, query and fragment of its addresses. Hosts and paths are shown. */
export function withoutAddressSecrets(text: string): string {
  // A scheme is short. Without this limit, the time would grow with the square of the text's length.
  return text.replace(/[a-z][a-z0-9+.-]{0,30}:\\?\/\\?\/[^\s"<>]*/gi, address => {
    const end = address.search(/[?#]/);
    const open = end < 0 ? address : address.slice(0, end);
    const [scheme = ''] = /^[^/\\]*[/\\]{2,}/.exec(open) ?? [];
    const [host = ''] = /^[^/\\]*/.exec(open.slice(scheme.length)) ?? [];
    return `${scheme}${open.slice(scheme.length + host.lastIndexOf('@') + 1)}${end < 0 ? '' : `?${more}`}`;
  });
}
