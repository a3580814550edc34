import { Ajv, type ErrorObject } from 'ajv';
import type { JsonSchema } from './lists.ts';

// Unions such as `["string", "null"]` are how this contract says that anything may be null.
const ajv = new Ajv({ allowUnionTypes: true });

/** A schema, compiled: says whether a value fits it and, where it does not, in words why. */
export interface Check<T> {
  (value: unknown): value is T;
  /** Why the value that was checked last does not fit, and where in it: a path such as `sourceConnection.id`. */
  why(): { readonly path: readonly string[]; readonly message: string };
}

/** Compiles a schema. It costs milliseconds, so each is compiled once. */
export function compile<T>(schema: JsonSchema): Check<T> {
  const validate = ajv.compile<T>(schema);
  const check = (value: unknown): value is T => validate(value);
  return Object.assign(check, { why: () => explain(validate.errors?.[0]) });
}

function explain(error: ErrorObject | undefined) {
  const path = error?.instancePath.split('/').slice(1) ?? [];
  return {
    path,
    message: error?.message?.replace(/,null$/, ' or null') ?? 'does not have the expected shape',
  };
}
