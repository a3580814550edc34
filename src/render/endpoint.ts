/** Stands for what is not shown. */
const more = '…';

const schemeAtStart = /^(?:([a-z][a-z0-9+.-]*):)?[/\\]{2,}/i;
/** What is a host's name without any doubt, also where no scheme says that a host is meant. */
const certainHost = /^(?:localhost|(?:[a-z0-9_-]{1,63}\.)+[a-z]{2,63}|\d+(?:\.\d+){3}|\[[0-9a-f:.]+\])$/;

const plainHost = /^[a-z0-9._-]+$|^\[[0-9a-f:.]+\]$/;

/**
 * A webhook's endpoint as a person may see it: scheme and host, and a mark where there is more. User name, password, path, query
 * and fragment may each be a secret. What is no address shows nothing but the mark.
 */
export function shownEndpoint(endpoint: string): string {
  const text = endpoint.replace(/[\p{Cc}\p{White_Space}]+/gu, '');
  if (text === '') return '';
  const start = schemeAtStart.exec(text);
  const url = URL.parse(`https://${text.slice(start?.[0].length ?? 0)}`);
  if (url === null || (start === null && !certainHost.test(url.hostname))) return more;
  // A semicolon may stand in a host by the rules of addresses, and a secret behind it.
  if (!plainHost.test(url.hostname)) return more;
  const scheme = start?.[1] === undefined ? '' : `${start[1].toLowerCase()}://`;
  const isAll = `${url.pathname}${url.search}${url.hash}${url.username}${url.password}` === '/';
  return `${scheme}${url.host}${isAll ? '' : `/${more}`}`;
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
