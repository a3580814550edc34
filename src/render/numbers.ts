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
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  const at = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)));
  return at === 0 ? `${bytes} bytes` : `${(bytes / 1000 ** at).toFixed(1)} ${units[at]}`;
}

/** A length of time for people, in its two greatest units: `3.2 s`, `5 min 10 s`, `2 d 4 h`. */
export function duration(ms: number): string {
  // Another program might have written times that are not valid.
  if (Number.isNaN(ms)) return '–';
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  const units: [name: string, ms: number][] = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1_000],
  ];
  const at = units.findIndex(([, unitMs]) => ms >= unitMs);
  const [[name, unitMs], next] = [units[at] as [string, number], units[at + 1]];
  const rest = next === undefined ? 0 : Math.floor((ms % unitMs) / next[1]);
  return `${Math.floor(ms / unitMs)} ${name}${rest > 0 && next !== undefined ? ` ${rest} ${next[0]}` : ''}`;
}

/** An instant for people, in UTC: `2026-11-20 23:15:04Z`. */
export function instant(iso: string): string {
  return iso.replace('T', ' ').replace(/\.\d+Z$/, 'Z');
}
