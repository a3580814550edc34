import { isIP } from 'node:net';

// Each of these reads one setting's text. If it can't be used, they throw an Error whose message completes "NAME: …".

/** The service's base address. */
export function baseUrl(text: string): URL {
  const url = httpUrlIn(text);
  if (url === null) throw new Error('not an address; expected something like https://service.example');
  if (url.username + url.password + url.search + url.hash !== '')
    throw new Error('the address must have no user name or password, and end before any ? or #');
  return url;
}

/** The address of a check, which can have a query. `%c` in it stays as it is. The message never shows it, because it is secret. */
export function pingUrl(text: string): string {
  const url = httpUrlIn(text);
  if (url === null || url.username + url.password + url.hash !== '')
    throw new Error('not an address; expected something like https://hc-ping.com/UUID');
  return text;
}

/** A space would be sent as %20. If a user means that, they can write %20. */
function httpUrlIn(text: string): URL | null {
  const url = /\s/.test(text) ? null : URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url : null;
}

/** True for a host that is always this machine. Other names, for example `a.localhost`, could resolve to another machine. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '');
  if (isIP(address) === 4) return address.startsWith('127.');
  return address === '::1' || address === 'localhost';
}

/** `true` or `false`; also `1`, `yes`, `on`, and `0`, `no`, `off`. */
export function boolean(text: string): boolean {
  if (/^(true|1|yes|on)$/i.test(text)) return true;
  if (/^(false|0|no|off)$/i.test(text)) return false;
  throw new Error('expected true or false');
}

/** A bearer token, trimmed; the message never shows it. */
export function token(text: string): string {
  const token = text.trim();
  if (token === '') throw new Error('the token is empty');
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new Error('the token contains characters that no HTTP header can carry');
  return token;
}

/** Any text that is not empty, for example a path. The message never shows it, because it can be a password. */
export function text(text: string): string {
  if (text === '' || text.includes('\0')) throw new Error('it is empty or not a text');
  return text;
}

function got(expected: string, text: string): Error {
  return new Error(`expected ${expected}, got ${JSON.stringify(text)}`);
}

function matching(form: RegExp, expected: string): (text: string) => string {
  return text => {
    if (form.test(text)) return text;
    throw got(expected, text);
  };
}

/** A name that can be part of a table, a label and a file's name. */
export const name = matching(/^[A-Za-z0-9._-]{1,64}$/, '1 to 64 letters, digits, ".", "_" or "-"');

/** Who runs docmirror, in a line. */
export const actor = matching(
  /^(?=.*\S)[^\p{Cc}\p{Bidi_Control}\u2028\u2029]{1,200}$/u,
  'a name of 1 to 200 characters that can be printed',
);

/** Something like a cron expression; the library that reads it says more. */
export const cron = matching(
  /^\s*(\S+(\s+\S+){4,5}|@[a-z]+)\s*$/,
  'a cron expression of five fields, or six with seconds first, such as "0 * * * *"',
);

/** The least level of a log line. */
export const logLevel = matching(
  /^(trace|debug|info|warn|error|fatal|silent)$/,
  'one of trace, debug, info, warn, error, fatal, silent',
);

/** Records of a page; null if docmirror finds out what the service allows. */
export function pageSize(text: string): number | null {
  return text === 'auto' ? null : integer(text, 1, 100_000, 'auto or ');
}

/** A whole number between two bounds, both included; `alternative` is what the message says is allowed, too. */
export function integer(text: string, min: number, max: number, alternative = ''): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw got(`${alternative}a whole number from ${min} to ${max}`, text);
}

/** A decimal number between two bounds, both included. */
export function decimal(text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value >= min && value <= max) return value;
  throw got(`a number from ${min} to ${max}, such as 2.5`, text);
}

/** A share from 0 to 1, from a text like `50%`. */
export function share(text: string): number {
  const share = Number(/^(\d+(?:\.\d+)?)\s*%$/.exec(text)?.[1]) / 100;
  if (share >= 0 && share <= 1) return share;
  throw got('a share from 0% to 100%', text);
}

const dayMs = 24 * 3_600_000;
const unitsMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: dayMs, w: 7 * dayMs };
/** Node's timers count up to 2^31 milliseconds, some days more than this. */
const timerMsMax = 24 * dayMs;
/** About a thousand years. Dates that are farther away are not supported. */
const timeMsMax = 365_000 * dayMs;

function msIn(text: string): number {
  const [, number, unit = 'ms'] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)$/.exec(text) ?? [];
  return Number(number) * unitsMs[unit as keyof typeof unitsMs];
}

/** A length of time in milliseconds, from a text like `26h`. */
export function time(text: string, maxMs = timeMsMax): number {
  const ms = text === '0' ? 0 : msIn(text);
  if (ms <= maxMs) return ms;
  throw got(`a time such as 90s, 30m, 24h or 7d, or 0, of no more than ${maxMs / dayMs}d`, text);
}

/** A length of time that a timer can count, in milliseconds. */
export function timer(text: string): number {
  return time(text, timerMsMax);
}

/** How long a run can take, in milliseconds. 0 is refused, because nothing could be done in that time. */
export function deadline(text: string): number {
  const ms = timer(text);
  if (ms === 0) throw new Error('expected a time such as 50m; without it a run can take any time');
  return ms;
}

/** How long history is kept, in milliseconds; null means forever. 0 is refused, because it would delete all history. */
export function keepHistory(text: string): number | null {
  if (text === 'forever') return null;
  const ms = msIn(text);
  if (ms > 0 && ms <= timeMsMax) return ms;
  throw got('forever, or a time such as 400d', text);
}

/** The name of a time zone that this machine knows. */
export function timezone(text: string): string {
  // Every machine knows UTC, and loading the table of all zones takes as long as all other settings together.
  if (text === 'UTC') return text;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone && text;
  } catch {
    throw new Error(
      `there is no time zone ${JSON.stringify(text)}; expected a name such as Europe/Berlin or UTC`,
    );
  }
}

/** Names that log lines and metrics use themselves. */
const labelsTaken =
  /^(time|level|msg|runId|resource|status|trigger|completeness|version|mirror|state|error|err|le|quantile)$/;

/** Names and values by which an operator recognises a mirror, for example its tenant. */
export type Labels = Readonly<Record<string, string>>;

/** Labels from a text like `tenant=acme,env=prod`; none from an empty text. */
export function labels(text: string): Labels {
  const pairs = text.trim() === '' ? [] : text.split(',').map(pairIn);
  const labels = Object.fromEntries(pairs);
  if (Object.keys(labels).length < pairs.length) throw new Error('a name is given twice');
  return labels;
}

function pairIn(text: string): readonly [name: string, value: string] {
  const pair = /^([A-Za-z][A-Za-z0-9_]*)\s*=\s*([^\s\p{Cc}\p{Bidi_Control}][^\p{Cc}\p{Bidi_Control}]*)$/u;
  const [, name = '', value = ''] = pair.exec(text.trim()) ?? [];
  if (name === '' || value.length > 200)
    throw got(
      'NAME=VALUE pairs such as tenant=acme,env=prod, with letters, digits and "_" in each name, and at most 200 characters in each value',
      text,
    );
  if (labelsTaken.test(name))
    throw new Error(`${name} can't be a label, because log lines and metrics have it themselves`);
  return [name, value];
}
