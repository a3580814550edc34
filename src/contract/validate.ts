import { Ajv, type ValidateFunction } from 'ajv';
import type { JsonSchema } from './lists.ts';

/** Made when the first schema is compiled. */
let compiler: Ajv | undefined;

function ajv(): Ajv {
  // Unions like `["string", "null"]` are how this contract says that anything can be null. The schemas are this
  // program's own, so they are not checked: that takes longer than to compile them.
  compiler ??= new Ajv({
    allowUnionTypes: true,
    meta: false,
    validateSchema: false,
    code: { optimize: false },
  });
  return compiler;
}

/** Compiles a schema when the first value is checked: that costs milliseconds, and not every loaded schema is used. */
export function compile<T>(schema: JsonSchema): (value: unknown) => value is T {
  let validate: ValidateFunction<T> | undefined;
  return (value): value is T => {
    validate ??= ajv().compile<T>(schema);
    return validate(value);
  };
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
