import { isObject } from '../contract/json.ts';
import { isInFuture } from '../store/read/list-state.ts';

/** A whole number for people: `12,345`. The first use of `Intl.NumberFormat` would cost 15 ms. */
export function count(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ',');
}

/** A number of things: `1 run`, `1,203 runs`; the plural ends in s. */
export function counted(value: number, thing: string): string {
  return `${count(value)} ${thing}${value === 1 ? '' : 's'}`;
}

/** A size for people: `1.4 MB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  const textIn = (at: number) => (bytes / 1_000 ** at).toFixed(1);
  let at = 1;
  // What is rounded to 1000.0 is one of the next unit.
  while (at < units.length && Number(textIn(at)) >= 1_000) at++;
  return `${textIn(at)} ${units[at - 1]}`;
}

/** A length of time for people, in its two greatest units: `3.2 s`, `5 min 10 s`, `2 d 4 h`. */
export function duration(ms: number): string {
  // Another program might have written times that are not valid.
  if (!Number.isFinite(ms)) return '–';
  if (Math.round(ms) < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  const whole = Math.max(ms, 60_000);
  const part = (unitMs: number, max = Number.POSITIVE_INFINITY) => Math.floor(whole / unitMs) % max;
  const [d, h, min, s] = [part(86_400_000), part(3_600_000, 24), part(60_000, 60), part(1_000, 60)];
  const parts = Object.entries({ d, h, min, s });
  const greatest = parts.findIndex(([, value]) => value > 0);
  const shown = parts.slice(greatest, greatest + 2).filter(([, value]) => value > 0);
  return shown.map(([unit, value]) => `${value} ${unit}`).join(' ');
}

/** An instant for people, in UTC: `2026-11-20 23:15:04Z`. */
export function instant(iso: string): string {
  return iso.replace('T', ' ').replace(/\.\d+Z$/, 'Z');
}

/** How long ago something was: `3 h ago`. */
export function ago(at: string | null, nowMs: number): string {
  if (at === null) return 'never';
  return isInFuture(at, nowMs) ? 'in the future' : `${duration(Math.max(0, nowMs - Date.parse(at)))} ago`;
}

/** A fact of the service, or what it rests on, in words: of its members, what is 0 or true is not named. */
export function told(value: unknown): string {
  if (Array.isArray(value)) return value.map(told).join(', ') || 'none';
  if (isObject(value)) {
    const members = Object.entries(value).filter(([, each]) => each !== 0 && each !== true);
    const spaced = (name: string) => name.replace(/[A-Z]/g, ' $&').toLowerCase();
    return members.map(([name, each]) => `${spaced(name)}: ${told(each)}`).join(', ') || 'none';
  }
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'number' ? count(value) : String(value ?? '–');
}
