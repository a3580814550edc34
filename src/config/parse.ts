import { isIP } from 'node:net';

// Each of these reads one setting's text. If it can't be used, they throw an Error whose message completes "NAME: …".

/** The service's base address. */
export function parseBaseUrl(text: string): URL {
  // A space would be sent as %20. If a user means that, they can write %20.
  if (/\s/.test(text) || !URL.canParse(text))
    throw new Error('not an address; expected something like https://service.example');
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new Error('the address must begin with https://');
  if (url.username !== '' || url.password !== '')
    throw new Error('the address must not contain a user name or password');
  if (url.search !== '' || url.hash !== '') throw new Error('the address must end before any ? or #');
  return url;
}

/** The address of a check, which can have a query. `%c` in it stays as it is. The message never shows it, because it is secret. */
export function parsePingUrl(text: string): string {
  const url = URL.canParse(text) && !/\s/.test(text) ? new URL(text) : null;
  if (
    url === null ||
    !/^https?:$/.test(url.protocol) ||
    url.username !== '' ||
    url.password !== '' ||
    url.hash !== ''
  )
    throw new Error('not an address; expected something like https://hc-ping.com/UUID');
  return text;
}

/** True for a host that is always this machine. Other names, for example `a.localhost`, could resolve to another machine. */
export function isLoopback(host: string): boolean {
  const address = host.replace(/^\[|\]$/g, '');
  if (isIP(address) === 4) return address.startsWith('127.');
  return address === '::1' || address === 'localhost';
}

/** `true` or `false`; also `1`, `yes`, `on`, and `0`, `no`, `off`. */
export function parseBoolean(text: string): boolean {
  if (/^(true|1|yes|on)$/i.test(text)) return true;
  if (/^(false|0|no|off)$/i.test(text)) return false;
  throw new Error('expected true or false');
}

/** A bearer token, trimmed; the message never shows it. */
export function parseToken(text: string): string {
  const token = text.trim();
  if (token === '') throw new Error('the token is empty');
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new Error('the token contains characters that no HTTP header can carry');
  return token;
}

/** Any text that is not empty, for example a path. */
export function parseText(text: string): string {
  if (text === '' || text.includes('\0')) throw new Error('it is empty or not a text');
  return text;
}

const actorLengthMax = 200;

/** The name of the user who runs docmirror, for receipts. */
export function parseActor(text: string): string {
  const actor = text.trim();
  if (actor === '' || actor.length > actorLengthMax || /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(actor))
    throw new Error(`expected a name of 1 to ${actorLengthMax} characters that can be printed`);
  return actor;
}

/**
 * A whole number between two bounds, both included.
 *
 * @param alternative what else is allowed, as the message says it.
 */
export function parseInteger(text: string, min: number, max: number, alternative = ''): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new Error(
      `expected ${alternative}a whole number from ${min} to ${max}, got ${JSON.stringify(text)}`,
    );
  }
  return value;
}

/** A length of time in milliseconds, from a text like `26h`. */
export function parseTime(text: string): number {
  const ms = text === '0' ? 0 : timeIn(text);
  if (ms === null)
    throw new Error(`expected a time such as 90s, 30m, 24h or 7d, or 0, got ${JSON.stringify(text)}`);
  return ms;
}

/** A length of time that a timer can count, in milliseconds. */
export function parseTimer(text: string): number {
  const ms = parseTime(text);
  if (ms > timerMsMax) throw new Error(`expected a time of no more than 24d, got ${JSON.stringify(text)}`);
  return ms;
}

/** How long a run can take, in milliseconds. 0 is refused, because nothing could be done in that time. */
export function parseDeadline(text: string): number {
  const ms = parseTimer(text);
  if (ms === 0) throw new Error('expected a time such as 50m; without it a run can take any time');
  return ms;
}

/** A decimal number between two bounds, both included. */
export function parseDecimal(text: string, min: number, max: number): number {
  const value = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || value < min || value > max)
    throw new Error(`expected a number from ${min} to ${max}, such as 2.5, got ${JSON.stringify(text)}`);
  return value;
}

/** Node's timers count up to 2^31 milliseconds, some days more than this. */
const timerMsMax = 24 * 24 * 3_600_000;

/** About a thousand years, in milliseconds. Dates that are farther away are not supported. */
const timeMsMax = 365_000 * 24 * 3_600_000;

const unitsMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 24 * 3_600_000,
  w: 7 * 24 * 3_600_000,
};

function timeIn(text: string): number | null {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d|w)$/.exec(text) ?? [];
  if (number === undefined) return null;
  const ms = Number(number) * (unitsMs[unit] ?? 1);
  if (ms > timeMsMax) throw new Error(`expected a time of no more than 365000d, got ${JSON.stringify(text)}`);
  return ms;
}

/** How long history is kept, in milliseconds; null means forever. 0 is refused, because it would delete all history. */
export function parseKeepHistory(text: string): number | null {
  if (text === 'forever') return null;
  const ms = timeIn(text);
  if (ms === null || ms === 0)
    throw new Error(`expected forever, or a time such as 400d, got ${JSON.stringify(text)}`);
  return ms;
}

/** A share from 0 to 1, from a text like `50%`. */
export function parseShare(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*%$/.exec(text);
  const share = match === null ? Number.NaN : Number(match[1]) / 100;
  if (!(share >= 0 && share <= 1))
    throw new Error(`expected a share from 0% to 100%, got ${JSON.stringify(text)}`);
  return share;
}

/** The name of a time zone that this machine knows. */
export function parseTimezone(text: string): string {
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

/** A cron expression. Only its form is checked here; the clock of `watch` checks its fields. */
export function parseSchedule(text: string): string {
  const fields = text.trim().split(/\s+/);
  if (fields.length === 5 || fields.length === 6 || /^@[a-z]+$/.test(text.trim())) return text;
  throw new Error(
    `${JSON.stringify(text)} is not a cron expression. Expected five fields, or six with seconds first, such as "0 * * * *"`,
  );
}

const labelsMax = 20;
const labelLengthMax = 200;

/** Names that log lines and metrics use themselves. */
const labelsTaken = new Set(
  'time level msg runId resource status trigger completeness version mirror state error err le quantile'.split(
    ' ',
  ),
);

/** Names and values by which an operator recognises a mirror, for example its tenant. */
export type Labels = Readonly<Record<string, string>>;

/** Labels from a text like `tenant=acme,env=prod`; none from an empty text. */
export function parseLabels(text: string): Labels {
  const pairs = text.trim() === '' ? [] : text.split(',').map(pairIn);
  if (pairs.length > labelsMax) throw new Error(`expected no more than ${labelsMax} labels`);
  const labels = Object.fromEntries(pairs);
  if (Object.keys(labels).length < pairs.length) throw new Error('a name is given twice');
  return labels;
}

function pairIn(text: string): readonly [name: string, value: string] {
  const at = text.indexOf('=');
  const [name, value] = [text.slice(0, Math.max(0, at)).trim(), text.slice(at + 1).trim()];
  if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name) || value === '')
    throw new Error(
      `expected NAME=VALUE pairs such as tenant=acme,env=prod, with letters, digits and "_" in each name, got ${JSON.stringify(text)}`,
    );
  if (labelsTaken.has(name))
    throw new Error(`${name} can't be a label, because log lines and metrics have it themselves`);
  if (
    value.length > labelLengthMax ||
    /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(value) ||
    !value.isWellFormed()
  )
    throw new Error(`${name}: expected a value of 1 to ${labelLengthMax} characters that can be printed`);
  return [name, value];
}

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];

/** One of pino's levels. */
export function parseLogLevel(text: string): string {
  if (!logLevels.includes(text))
    throw new Error(`expected one of ${logLevels.join(', ')}, got ${JSON.stringify(text)}`);
  return text;
}

/** A name that can be part of a table, a label and a file's name. */
export function parseName(text: string): string {
  if (!/^[A-Za-z0-9._-]{1,64}$/.test(text))
    throw new Error(`expected 1 to 64 letters, digits, ".", "_" or "-", got ${JSON.stringify(text)}`);
  return text;
}
