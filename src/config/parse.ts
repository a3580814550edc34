import { isIP } from 'node:net';
import { lists, type ResourceName, resourceNames } from '../contract/lists.ts';
import { attempt } from '../errors.ts';

// Each of these reads one setting's text. If it can't be used, they throw an Error whose message completes "NAME: …".

/** The base address of a service. */
export function baseUrl(text: string): URL {
  const url = httpUrl(text, 'https://service.example');
  if (url.search === '') return url;
  throw new Error('the address must end before any ?');
}

/** Parameters for each request, as they are sent: `name=value&…`. docmirror sets the number and the size of pages itself. */
export function requestQuery(text: string): string {
  const name = "[\\w.~%!$'()*+,;:@/-]+";
  const pair = `${name}=[\\w.~%!$'()*+,;:@/?=-]*`;
  if (!new RegExp(`^${pair}(&${pair})*$`).test(text))
    throw new Error(
      'expected name=value&name=value as it is sent, without a ? before it, and other characters as in %20',
    );
  for (const name of new URLSearchParams(text).keys())
    if (/^page(No|Size)$/i.test(name)) throw new Error(`${name} is a parameter that docmirror sets itself`);
  return text;
}

/** The address of a check, which can have a query. `%c` in it stays as it is. The message never shows it, because it is secret. */
export function pingUrl(text: string): string {
  httpUrl(text, 'https://hc-ping.com/UUID');
  return text;
}

/** A space would be sent as %20. If a user means that, they can write %20. */
function httpUrl(text: string, example: string): URL {
  assertNotPasted(text, 'the address');
  const url = /\s/.test(text) ? null : URL.parse(text);
  const isHttp = url !== null && /^https?:$/.test(url.protocol);
  if (isHttp && url.username + url.password + url.hash === '') return url;
  throw new Error(`not an address without a user name and #; expected something like ${example}`);
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
  assertNotPasted(token, 'the token');
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new Error('the token contains characters that no HTTP header can carry');
  return token;
}

const assignment = /^(export\s+)?([A-Z][A-Z0-9_]*|token)=[^=]/;

/** What a person copies with a text by mistake. The words say what to take away, and show nothing of the text. */
const pasted: readonly (readonly [form: RegExp, words: string])[] = [
  [assignment, 'begins with NAME=; leave out everything up to the equals sign'],
  [/^["'`\u2018-\u201f]|["'`\u2018-\u201f]$/, 'is in quotes, or has one at an end; leave the quotes out'],
  [/^Authorization:/i, 'begins with "Authorization:"; leave the name of the header and the word Bearer out'],
  [/^Bearer\s/i, 'begins with the word Bearer; leave it out'],
];

function assertNotPasted(text: string, what: string): void {
  const found = pasted.find(([form]) => form.test(text));
  if (found !== undefined) throw new Error(`${what} ${found[1]}`);
}

/** Any text that is not empty, for example a path. The message never shows it, because it can be a password. */
export function filledText(text: string): string {
  if (text === '') throw new Error('it is empty');
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

const printableLine = /^(?=.*\S)[^\p{Cc}\p{Bidi_Control}\u2028\u2029]{1,200}$/u;

/** Who runs docmirror, in a line. */
export const actor = matching(printableLine, 'a name of 1 to 200 characters that can be printed');

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** The least level of a log line. */
export const logLevel = matching(new RegExp(`^(${levels.join('|')})$`), `one of ${levels.join(', ')}`);

/** Records of a page; null if docmirror finds out what the service allows. */
export function pageSize(text: string): number | null {
  return text === 'auto' ? null : wholeNumber(text, 1, 100_000, 'auto or ');
}

/** A whole number between two bounds, both included; `alternative` is what the message says is allowed, too. */
export function wholeNumber(text: string, min: number, max: number, alternative = ''): number {
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
export function percentage(text: string): number {
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

function msFrom(minMs: number, maxMs: number, expected: string): (text: string) => number {
  return text => {
    const [, number, unit = 'ms'] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)$/.exec(text) ?? [];
    // 1.005 s is 1004.9999999999999 ms, and timers and random numbers take whole ones.
    const ms = text === '0' ? 0 : Math.round(Number(number) * unitsMs[unit as keyof typeof unitsMs]);
    if (ms >= minMs && ms <= maxMs) return ms;
    throw got(expected, text);
  };
}

/** A length of time in milliseconds, from a text like `26h`. */
export const lengthOfTime = msFrom(0, timeMsMax, 'a time such as 90s, 30m, 24h or 7d, or 0');

/** A length of time that a timer can count, in milliseconds. */
export const timer = msFrom(0, timerMsMax, 'a time such as 90s, 30m or 24h, at most 24d, or 0');

/** How long a run can take, in milliseconds. In no time, nothing could be done. */
export const deadline = msFrom(1, timerMsMax, 'a time such as 50m, at most 24d');

/** How long history is kept, in milliseconds; null means forever. 0 is refused, because it would delete all history. */
export function keepHistory(text: string): number | null {
  return text === 'forever' ? null : keptMs(text);
}

const keptMs = msFrom(1, timeMsMax, 'forever, or a time such as 400d');

/** The values that each field of a cron expression has, the last fields alone if it has no seconds. */
const cronFields = [60, 60, 24, 31, 12, 7];

/** A cron expression; its fields are checked when the clock is made. */
export function schedule(text: string): string {
  const fields = text.trim().split(/\s+/);
  const counts = cronFields.slice(-fields.length);
  for (const [at, field] of fields.entries()) {
    const values = counts[at] ?? Number.POSITIVE_INFINITY;
    const step = field.split(',').find(part => Number(/\/(\d+)$/.exec(part)?.[1]) > values);
    const tooLong = `the step of ${step} is longer than its field, which has ${values} values, so it would never be taken; use several times, as in "0 0,3,6 * * *"`;
    if (step !== undefined) throw new Error(tooLong);
  }
  return text;
}

/** The name of a time zone that this machine knows. */
export function timezone(text: string): string {
  // Every machine knows UTC, and loading the table of all zones takes as long as all other settings together.
  if (text === 'UTC' || attempt(() => new Intl.DateTimeFormat('en', { timeZone: text })) !== null)
    return text;
  const said = JSON.stringify(text);
  throw new Error(`there is no time zone ${said}; expected a name such as Europe/Berlin or UTC`);
}

/** Names that log lines and metrics use themselves. */
const labelsTaken =
  /^(time|level|msg|command|runId|resource|status|trigger|completeness|version|mirror|state|error|err|le|quantile)$/;

/** Names and values by which an operator recognises a mirror, from a text like `tenant=acme,env=prod`; none from an empty text. */
export function labelPairs(text: string): Readonly<Record<string, string>> {
  const pair =
    /^\s*([A-Za-z][A-Za-z0-9_]*)\s*=\s*([^\s\p{Cc}\p{Bidi_Control}][^\p{Cc}\p{Bidi_Control}]{0,199})$/u;
  const labels: Record<string, string> = {};
  for (const part of text.trim() === '' ? [] : text.trim().split(',')) {
    const [, name = '', value = ''] = pair.exec(part) ?? [];
    if (name === '') throw got('NAME=VALUE pairs such as tenant=acme,env=prod', text);
    if (labelsTaken.test(name) || Object.hasOwn(labels, name))
      throw new Error(`${name} is there twice, or log lines and metrics have it themselves`);
    labels[name] = value.trim();
  }
  return labels;
}

/** For each list that has any, the names of its fields whose changes do not count, in order, from a text like `webhooks.etag`. */
export function ignoreFields(text: string): Readonly<Partial<Record<ResourceName, readonly string[]>>> {
  const named: Partial<Record<ResourceName, readonly string[]>> = {};
  for (const part of text.trim() === '' ? [] : text.split(',')) {
    const [, name, field = ''] = /^\s*([^\s.]+)\.(\S(?:.*\S)?)\s*$/.exec(part) ?? [];
    if (name === undefined || /[\p{Cc}\p{Bidi_Control}]/u.test(part))
      throw got('LIST.FIELD with commas between, such as document-exports.downloadUrl,webhooks.etag', text);
    const list = lists.find(({ resource }) => resource === name);
    const none = `there is no list ${JSON.stringify(name)}; expected one of ${resourceNames.join(', ')} before the point`;
    if (list === undefined) throw new Error(none);
    const always = `${list.resource}.${field} always counts, because it is a field of the contract; only a field without a column (in _extra) can be ignored`;
    if (field === 'id' || list.fields.some(known => known.name === field)) throw new Error(always);
    named[list.resource] = [...new Set([...(named[list.resource] ?? []), field])].sort();
  }
  return named;
}

/** Names with commas between them, each once and in order. */
export function names(text: string): readonly string[] {
  const all = text.split(',').map(name => name.trim());
  return [...new Set(all.filter(name => name !== ''))].sort();
}
