import { UsageError } from '../errors.ts';
import { isLoopback } from './parse.ts';

/** The proxy through which the service is reached. */
export interface ProxySetting {
  /** The variable that named it. */
  readonly variable: string;
  /** Its address with user name and password, which are secret. */
  readonly url: string;
  /** Its address without user name and password, for messages. */
  readonly shown: string;
}

type Variables = Readonly<Record<string, string | undefined>>;

const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * The proxy for an address: from `HTTPS_PROXY` for https, from `HTTP_PROXY` for http, in lower or upper case. It is null if there is
 * none, or if `NO_PROXY` excepts the host. An empty `https_proxy` counts as not set, so it does not hide `HTTPS_PROXY`.
 *
 * docmirror must know the proxy: it decides whether a token can go over plain http, and `doctor` and errors name it. undici's
 * `EnvHttpProxyAgent` does not say which proxy it uses.
 *
 * @throws UsageError that names the variable and never shows its value, because that might contain a password.
 */
export function proxyFor(address: URL, variables: Variables): ProxySetting | null {
  const name = address.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const [variable, text] = find(name, variables);
  if (text === '' || isExcepted(address, find('NO_PROXY', variables)[1])) return null;
  const url = readProxy(variable, text);
  return { variable, url: url.href, shown: `${url.protocol}//${url.host}` };
}

/**
 * The proxy for an address that a secret is sent to. Without `allowHttp`, plain http is only for a proxy on this machine.
 *
 * @param carried the secret that the proxy would see, and the setting that contains the address, in words for the message.
 * @throws UsageError as `proxyFor` does, and if the proxy would carry the secret through the network.
 */
export function safeProxyFor(
  address: URL,
  variables: Variables,
  { allowHttp, carried }: { readonly allowHttp: boolean; readonly carried: string },
): ProxySetting | null {
  const proxy = proxyFor(address, variables);
  if (proxy === null || address.protocol !== 'http:' || allowHttp) return proxy;
  if (isLoopback(new URL(proxy.url).hostname)) return proxy;
  throw new UsageError(
    `${proxy.variable}: it would carry ${carried} through the network unencrypted. Name the host in NO_PROXY, use https, or set DOCMIRROR_ALLOW_HTTP=true.`,
  );
}

function find(name: string, variables: Variables): [variable: string, text: string] {
  const names = [name.toLowerCase(), name];
  const found = names.find(each => (variables[each] ?? '').trim() !== '') ?? name;
  return [found, variables[found]?.trim() ?? ''];
}

function readProxy(variable: string, text: string): URL {
  // `proxy.example:8080` would be read as an address with the scheme `proxy.example`.
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = URL.parse(address);
  if (url === null || !/^[\w.-]+$|^\[[\da-f:.]+\]$/i.test(url.hostname)) {
    throw new UsageError(`${variable}: not an address; expected something like http://proxy.example:8080.`);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new UsageError(`${variable}: only proxies at http:// and https:// are understood.`);
  }
  if (url.pathname !== '/' || /[?#]/.test(url.href)) {
    throw new UsageError(
      `${variable}: the address must end with its host and port, before any path, ? or #.`,
    );
  }
  if (!canDecode(url.username) || !canDecode(url.password)) {
    throw new UsageError(`${variable}: a % in the user name or password must be written as %25.`);
  }
  return url;
}

function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** `NO_PROXY` lists hosts, which include their subdomains, `host:port`, `*.host` for the subdomains alone, and `*`. */
function isExcepted(address: URL, list: string): boolean {
  const host = plainHost(address.hostname);
  const port = address.port === '' ? defaultPorts[address.protocol] : address.port;
  return list.split(/[,\s]+/).some(entry => {
    const [, name, entryPort] = /^(\[.*\]|[^:]*|.*:.*:.*?)(?::(\d+))?$/.exec(entry) ?? [];
    if (name === undefined || name === '' || (entryPort !== undefined && entryPort !== port)) return false;
    if (name === '*') return true;
    const domain = plainHost(name.replace(/^\*?\./, ''));
    return host.endsWith(`.${domain}`) || (host === domain && !name.startsWith('*'));
  });
}

function plainHost(host: string): string {
  return host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/(.)\.$/, '$1');
}
