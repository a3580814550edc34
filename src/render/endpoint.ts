import { cutEndpoint } from '../contract/endpoint.ts';

const more = '…';

/** A webhook's endpoint as a person can see it: scheme and host, and a mark for more, or for a text that is no address. */
export function shownEndpoint(endpoint: string): string {
  const text = endpoint.trim();
  const cut = cutEndpoint(text);
  if (cut === null) return text === '' ? '' : more;
  return text === cut || text === `${cut}/` ? cut : `${cut}/${more}`;
}

/** A text without the user name, password, query and fragment of its addresses. Hosts and paths are shown. */
export function withoutAddressSecrets(text: string): string {
  // A scheme is short. Without this limit, the time would grow with the square of the text's length.
  const address =
    /([a-z][a-z0-9+.-]{0,30}:\\?\/\\?\/[/\\]*)(?:[^\s"<>/\\?#]*@)?([^\s"<>?#]*)([?#][^\s"<>]*)?/gi;
  return text.replace(address, (_all, scheme: string, place: string, hidden?: string) => {
    return `${scheme}${place}${hidden === undefined ? '' : `?${more}`}`;
  });
}
