import type { RecordValues } from '../../contract/content.ts';
import { arrayFields, type ListDefinition, type Scalar, scalarFields } from '../../contract/lists.ts';

/** What one field says in the mirror and at the service. */
export interface FieldDifference {
  readonly field: string;
  readonly mirror: FieldValue;
  readonly service: FieldValue;
}

/** A value of a field as a difference shows it; an array where the field holds several. */
type FieldValue = Scalar | readonly Scalar[];

/** A record that the mirror and the service don't have alike. */
export interface LiveDifference {
  /** `missing` from the mirror, `extra` in the mirror, or `different` in both. */
  readonly kind: 'missing' | 'extra' | 'different';
  readonly resource: string;
  /** The row's id in the mirror; null where it has none. */
  readonly id: number | null;
  /** Who the record is, in the service's words. */
  readonly key: string;
  readonly fields: readonly FieldDifference[];
}

/** Who a record is: its id, or the fields that identify it. */
export function keyOf(list: ListDefinition, record: RecordValues): string {
  const { identity } = list;
  if (identity.by === 'id') return String(record.id);
  const scalars = scalarFields(list);
  return identity.fields
    .map(name => record.scalars[scalars.findIndex(field => field.name === name)])
    .map(value => (value === null || value === undefined ? '–' : String(value)))
    .join(' · ');
}

/** The fields in which two versions of a record differ. */
export function fieldDifferences(
  list: ListDefinition,
  mirror: RecordValues,
  service: RecordValues,
): FieldDifference[] {
  const pairs: FieldDifference[] = [
    ...scalarFields(list).map(({ name }, at) => ({
      field: name,
      mirror: mirror.scalars[at] ?? null,
      service: service.scalars[at] ?? null,
    })),
    ...arrayFields(list).map(({ name }, at) => ({
      field: name,
      mirror: mirror.arrays[at] ?? [],
      service: service.arrays[at] ?? [],
    })),
    { field: '_extra', mirror: mirror.extra, service: service.extra },
  ];
  return pairs.filter(pair => JSON.stringify(pair.mirror) !== JSON.stringify(pair.service));
}
