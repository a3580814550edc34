import { UsageError } from '../errors.ts';
import { isLoopback } from './parse.ts';

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for an address, by `HTTPS_PROXY` or `HTTP_PROXY`; null if there is none, or `NO_PROXY` excepts the host. `url` has the login;
 * `shown` and errors have not. undici's `EnvHttpProxyAgent` does not say which one it uses, and that decides if http is safe.
 */
export function proxyFor(address: URL, variables: Variables) {
  const name = address.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const [variable, text] = find(name, variables);
  if (text === '' || isExcepted(address, find('NO_PROXY', variables)[1])) return null;
  // `proxy.example:8080` would be read as an address with the scheme `proxy.example`.
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  // A path, a query or a % that encodes nothing can be a part of a password.
  const isWhole = /^https?:\/\/([^%]|%[\da-f]{2})*$/i.test(url?.href ?? '');
  const noAddress = `${variable}: not an address of a proxy; expected something like http://proxy.example:8080, and a % in the user name or password as %25.`;
  if (url === null || !isWhole || !url.href.endsWith(`${url.host}/`)) throw new UsageError(noAddress);
  return { variable, url: url.href, shown: `${url.protocol}//${url.host}` };
}

/** The proxy for an address that a secret is sent to. Without `allowHttp`, plain http is only for this machine, the proxy included. */
export function safeProxyFor(name: string, address: URL, variables: Variables, allowHttp: boolean) {
  const isOpen = address.protocol === 'http:' && !allowHttp;
  const open = `${name}: http is for loopback addresses only, because it shows secrets and records to the network. Use https, or set DOCMIRROR_ALLOW_HTTP=true.`;
  if (isOpen && !isLoopback(address.hostname)) throw new UsageError(open);
  const proxy = proxyFor(address, variables);
  if (isOpen && proxy !== null && !isLoopback(new URL(proxy.url).hostname))
    throw new UsageError(
      `${proxy.variable}: it would carry the token or password for ${name} through the network unencrypted. Name the host in NO_PROXY, use https, or set DOCMIRROR_ALLOW_HTTP=true.`,
    );
  return proxy;
}

function find(name: string, variables: Variables): [variable: string, text: string] {
  const lower = variables[name.toLowerCase()]?.trim();
  return lower ? [name.toLowerCase(), lower] : [name, variables[name]?.trim() ?? ''];
}

/** `NO_PROXY` lists hosts, which include their subdomains, `host:port`, `*.host` for the subdomains alone, and `*`. */
function isExcepted({ hostname, port, protocol }: URL, list: string): boolean {
  const names = [hostname, `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`];
  const entries = list.toLowerCase().match(/[^,\s]+/g) ?? [];
  const fits = (name: string, entry: string) => `.${name}`.endsWith(`.${entry.replace(/^\./, '')}`);
  const fitsStar = (name: string, entry: string) => entry.startsWith('*') && name.endsWith(entry.slice(1));
  return entries.some(entry => names.some(name => fitsStar(name, entry) || fits(name, entry)));
}
