const clock = /(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,18})?)?|24:00(?::00(?:\.0{1,18})?)?/.source;
const zones = /Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?/.source;
const dateAndTime = new RegExp(
  `^(\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01]))(?:[T ](${clock})(${zones})?)?$`,
  'i',
);

/** No text that names a point in time is longer, in bytes: `2026-11-20T18:00:00.123456789012345678+01:00`. */
export const instantBytesMax = 44;

const firstMs = Date.parse('0000-01-01T00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * The point in time that a text names in ISO 8601 or RFC 3339, in milliseconds since 1970: a day of the calendar, alone or with a
 * time, in UTC where it names no zone. Null for every other text, and for what is no year of four digits in UTC.
 */
export function instantMs(text: string): number | null {
  const [, date, time = '00:00', zone = 'Z'] = dateAndTime.exec(text) ?? [];
  if (date === undefined || !isCalendarDay(date)) return null;
  const ms = Date.parse(`${date}T${time}${withMinutes(zone)}`);
  return ms >= firstMs && ms <= lastMs ? ms : null;
}

/** JavaScript takes 30 February for 2 March. */
function isCalendarDay(date: string): boolean {
  const day = Number(date.slice(8));
  return day <= 28 || new Date(`${date}T00:00Z`).getUTCDate() === day;
}

/** `+01:00` of `+01` and `+0100`: JavaScript knows no shorter form. */
function withMinutes(zone: string): string {
  if (zone.length === 1) return 'Z';
  return `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`;
}
