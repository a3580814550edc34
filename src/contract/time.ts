const withoutZone = /^\d{4}-\d\d-\d\dT[\d:.]+$/;

/**
 * A point in time as the service writes it (ISO 8601, UTC), in milliseconds since 1970; NaN where it can't be read. A text
 * without a zone is UTC too: the machine's own zone must not count.
 */
export function instantMs(text: string): number {
  const isWithoutZone = !text.endsWith('Z') && withoutZone.test(text);
  return Date.parse(isWithoutZone ? `${text}Z` : text);
}
