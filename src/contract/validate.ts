import { Check } from 'typebox/schema';
import type { JsonSchema } from './lists.ts';

/** Whether a value is as a schema says. */
export function isValid(schema: JsonSchema, value: unknown): boolean {
  return Check(schema, value);
}

/** The same schema, so that an object can have no field that it does not name. */
export function exact(schema: object): JsonSchema {
  const entries = Object.entries(schema).map(([keyword, value]) => [keyword, exactWithin(value)]);
  return { ...Object.fromEntries(entries), ...('properties' in schema && { additionalProperties: false }) };
}

function exactWithin(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(exactWithin);
  return typeof value === 'object' && value !== null ? exact(value) : value;
}
