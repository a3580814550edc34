import { isDeepStrictEqual } from 'node:util';
import { lists } from '../../contract/lists.ts';
import type { RecordChange } from '../write/list-context.ts';

/** The values of one field in the mirror and at the service. */
export interface FieldDifference {
  readonly field: string;
  readonly mirror: unknown;
  readonly service: unknown;
}

/** A record that differs between the mirror and the service. */
export interface LiveDifference {
  /** `missing` from the mirror, `extra` in the mirror, or `different` in both. */
  readonly kind: 'missing' | 'extra' | 'different';
  readonly resource: string;
  /** The row's id in the mirror; null if it has none. */
  readonly id: number | null;
  /** The record's key, in the service's words. */
  readonly key: string;
  readonly fields: readonly FieldDifference[];
}

type Item = { readonly [name: string]: unknown };

const kinds = { insert: 'missing', update: 'different', removal: 'extra' } as const;

/** The difference between the mirror and the service in a record that a dry run would change. */
export function differenceOf({
  resource,
  operation,
  recordId,
  record,
  before,
}: RecordChange): LiveDifference {
  const service: Item = JSON.parse(record);
  const mirror: Item | null = before === null ? null : JSON.parse(before);
  return {
    kind: kinds[operation],
    resource,
    id: operation === 'insert' ? null : recordId,
    key: keyOf(resource, recordId, service),
    fields: mirror === null ? [] : fieldsThatDiffer(mirror, service),
  };
}

function keyOf(resource: string, recordId: number, item: Item): string {
  const identity = lists.find(list => list.resource === resource)?.identity;
  if (identity?.by !== 'content') return String(recordId);
  return identity.fields.map(name => textOf(item[name])).join(' · ');
}

function textOf(value: unknown): string {
  const shown = typeof value === 'object' && value !== null && 'id' in value ? value.id : value;
  return shown === null || shown === undefined ? '–' : String(shown);
}

function fieldsThatDiffer(mirror: Item, service: Item): FieldDifference[] {
  const names = new Set([...Object.keys(mirror), ...Object.keys(service)]);
  return [...names]
    .map(field => ({ field, mirror: mirror[field] ?? null, service: service[field] ?? null }))
    .filter(pair => !isDeepStrictEqual(pair.mirror, pair.service));
}
