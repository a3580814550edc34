import { printable } from '../printable.ts';

/** A field that the service sends and that has no column, with one of its JSON types. */
interface Field {
  readonly field: string;
  readonly jsonType: string;
}

/** The most fields that are named. */
const fieldsMax = 20;

/** Fields with their types, in one line: `owner (null, string), tags (array)`. */
export function fieldsText(fields: readonly Field[]): string {
  const byName = [...Map.groupBy(fields, ({ field }) => field)];
  const named = byName
    .slice(0, fieldsMax)
    .map(([name, types]) => printable(`${name} (${types.map(({ jsonType }) => jsonType).join(', ')})`));
  return [...named, ...(byName.length > fieldsMax ? [`${byName.length - fieldsMax} more`] : [])].join(', ');
}
