import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { JsonSchema } from './lists.ts';

/** Made when the first schema is compiled. */
let compiler: Ajv | undefined;

function ajv(): Ajv {
  // Unions like `["string", "null"]` are how this contract says that anything can be null. The schemas are this
  // program's own, so they are not checked: that takes longer than to compile them. To optimize the code takes as long
  // as the rest of compiling, and V8 does it again.
  compiler ??= new Ajv({
    allowUnionTypes: true,
    meta: false,
    validateSchema: false,
    code: { optimize: false },
  });
  return compiler;
}

/** A compiled schema. It says whether a value fits, and if not, why. */
export interface Check<T> {
  (value: unknown): value is T;
  /** Why the value that was checked last does not fit, and where: a path like `sourceConnection.id`. */
  why(): { readonly path: readonly string[]; readonly message: string };
}

/** Compiles a schema when the first value is checked: that costs milliseconds, and not every loaded schema is used. */
export function compile<T>(schema: JsonSchema): Check<T> {
  let validate: ValidateFunction<T> | undefined;
  const check = (value: unknown): value is T => {
    validate ??= ajv().compile<T>(schema);
    return validate(value);
  };
  return Object.assign(check, { why: () => explain(validate?.errors?.[0]) });
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

function explain(error: ErrorObject | undefined) {
  const path = error?.instancePath.split('/').slice(1) ?? [];
  return {
    path,
    message: error?.message?.replace(/,null$/, ' or null') ?? 'does not have the expected shape',
  };
}
