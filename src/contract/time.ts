const clock = /(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,18})?)?|24:00(?::00(?:\.0{1,18})?)?/.source;
const zones = /Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?/.source;
const dateAndTime = new RegExp(
  `^(\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01]))(?:[T ](${clock})(${zones})?)?$`,
  'i',
);

// `2026-11-20T18:00:00.000Z`, with or without the fraction, on a day that each month has: read in a third of the time.
const usual = /^[1-9]\d{3}-\d\d-(?:[01]\d|2[0-8])T\d\d:\d\d:\d\d(?:\.\d{3})?Z$/;

const firstMs = Date.parse('0000-01-01T00:00Z');
const lastMs = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * The point in time that a text gives in ISO 8601 or RFC 3339, in milliseconds since 1970. The text is a date with or
 * without a time, in UTC if it gives no zone. Null for every other text, and if the year in UTC does not have four
 * digits.
 */
export function instantMs(text: string): number | null {
  if (usual.test(text)) {
    const ms = Date.parse(text);
    if (!Number.isNaN(ms)) return ms;
  }
  const [, date, time = '00:00', zone = 'Z'] = dateAndTime.exec(text) ?? [];
  // JavaScript reads 30 February as 2 March.
  if (date === undefined || new Date(`${date}T00:00Z`).getUTCDate() !== Number(date.slice(8))) return null;
  // It reads no `+01` and no `+0100`.
  const minutes = zone.length === 1 ? '' : `:${zone.slice(3).replace(':', '') || '00'}`;
  const ms = Date.parse(`${date}T${time}${zone.slice(0, 3).toUpperCase()}${minutes}`);
  return ms >= firstMs && ms <= lastMs ? ms : null;
}
