const dateAndTime =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,18})?)?)(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

// `2026-11-20T18:00:00.000Z`, with or without the fraction, on a day that each month has. Its digits are read in half the time of `Date.parse`.
const usual =
  /^[1-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3})?Z$/;

function usualMs(text: string): number {
  const digit = (at: number) => text.charCodeAt(at) - 48;
  const two = (at: number) => digit(at) * 10 + digit(at + 1);
  const ms = text.length > 20 ? two(20) * 10 + digit(22) : 0;
  return Date.UTC(two(0) * 100 + two(2), two(5) - 1, two(8), two(11), two(14), two(17), ms);
}

const firstMs = Date.parse('0000-01-01T00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

/** An ISO 8601 or RFC 3339 text in milliseconds since 1970, in UTC if it gives no zone; null for others, and a year beyond four digits. */
export function instantMs(text: string): number | null {
  if (usual.test(text)) return usualMs(text);
  const [, date, time = '00:00', zone = 'Z'] = dateAndTime.exec(text) ?? [];
  // JavaScript reads 30 February as 2 March.
  if (date === undefined || new Date(`${date}T00:00Z`).getUTCDate() !== Number(date.slice(8))) return null;
  // It reads no `+01` and no `+0100`.
  const minutes = zone.length === 1 ? '' : `:${zone.slice(3).replace(':', '') || '00'}`;
  const ms = Date.parse(`${date}T${time}${zone.slice(0, 3).toUpperCase()}${minutes}`);
  return ms >= firstMs && ms <= lastMs ? ms : null;
}

/** Whether two texts are one instant, by all digits of its second; false if one of them is none. */
export function isSameInstant(one: string, other: string): boolean {
  const ms = instantMs(one);
  return ms !== null && ms === instantMs(other) && digitsBehindMs(one) === digitsBehindMs(other);
}

function digitsBehindMs(text: string): string {
  return /\.\d{3}(\d*?)0*(?!\d)/.exec(text)?.[1] ?? '';
}
