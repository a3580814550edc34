import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { JsonSchema } from './lists.ts';

/** Made when the first schema is compiled. */
let compiler: Ajv | undefined;

function ajv(): Ajv {
  // Unions such as `["string", "null"]` are how this contract says that anything may be null. The schemas are this program's own:
  // to check them by the schema of schemas each time takes longer than to compile them.
  compiler ??= new Ajv({ allowUnionTypes: true, meta: false, validateSchema: false });
  return compiler;
}

/** A schema, compiled: says whether a value fits it and, where it does not, in words why. */
export interface Check<T> {
  (value: unknown): value is T;
  /** Why the value that was checked last does not fit, and where in it: a path such as `sourceConnection.id`. */
  why(): { readonly path: readonly string[]; readonly message: string };
}

/** Compiles a schema when the first value is checked: that costs milliseconds, and not all that is loaded is used. */
export function compile<T>(schema: JsonSchema): Check<T> {
  let validate: ValidateFunction<T> | undefined;
  const check = (value: unknown): value is T => {
    validate ??= ajv().compile<T>(schema);
    return validate(value);
  };
  return Object.assign(check, { why: () => explain(validate?.errors?.[0]) });
}

function explain(error: ErrorObject | undefined) {
  const path = error?.instancePath.split('/').slice(1) ?? [];
  return {
    path,
    message: error?.message?.replace(/,null$/, ' or null') ?? 'does not have the expected shape',
  };
}
