import * as Type from 'typebox';
import { Check } from 'typebox/schema';

// The words in which outputs and receipts are declared, as plain JSON Schema. A description is there if the name does not say enough.

/** A declaration. */
export type Shape = Type.TSchema;

/** The type of the values of a declaration; nobody writes into one. */
export type ValueOf<S extends Shape> = Frozen<Type.Static<S>>;

/** The type of an object with fields of these declarations. */
export type FieldsOf<Fields extends Type.TProperties> = ValueOf<Type.TObject<Fields>>;

type Frozen<T> = T extends object ? { readonly [Name in keyof T]: Frozen<T[Name]> } : T;

/** A text. */
export const text = (description = '', pattern?: string) =>
  Type.String({ description, ...(pattern !== undefined && { pattern }) });
/** A time as docmirror writes it. */
export const time = (description = '') =>
  text([...(description === '' ? [] : [description]), 'in UTC (ISO 8601)'].join(', '));
/** A text of so many hexadecimal digits. */
export const hex = (digits: number, description: string) =>
  text(`${description} (${digits} hexadecimal digits)`, `^[0-9a-f]{${digits}}$`);
/** A whole number; some have a least value. */
export const whole = (description = '', minimum?: number) =>
  Type.Integer({ description, ...(minimum !== undefined && { minimum, maximum: Number.MAX_SAFE_INTEGER }) });
/** A number that can have a fraction. */
export const number = (description: string) => Type.Number({ description });
/** True or false. */
export const yesOrNo = (description = '') => Type.Boolean({ description });
/** A list of exactly two values. */
export const pair = <First extends Shape, Second extends Shape>(first: First, second: Second) =>
  Type.Tuple([first, second]);
/** One of some words. */
export const oneOf = <const Word extends string>(words: readonly Word[], description = '') =>
  Type.Unsafe<Word>({ type: 'string', enum: words, description });
/** Several values of one shape. */
export const list = <Item extends Shape>(items: Item, description = '') => Type.Array(items, { description });
/** An object. It can have further fields, which readers ignore. */
export const object = <Fields extends Type.TProperties>(fields: Fields, description = '') =>
  Type.Object(fields, { description });
/** An object with any fields: a record, labels. */
export const anyObject = <Value extends object = object>(description = '') =>
  Type.Unsafe<Value>({ type: 'object', description });
/** Fields that can all be left out. */
export const partial = <Fields extends Type.TProperties>(fields: Fields) =>
  Type.Partial(Type.Object(fields)).properties;
// A field that can be left out, one of some shapes, and any value.
export const { Optional: optional, Union: anyOf, Unknown: anything } = Type;

/** The same, or null. */
export function orNull<S extends Shape>(shape: S) {
  const { type, enum: words, ...rest }: { type?: string; enum?: readonly unknown[] } = shape;
  return Type.Unsafe<Type.Static<S> | null>({
    ...rest,
    type: [type, 'null'],
    ...(words !== undefined && { enum: [...words, null] }),
  });
}

/** Whether a value is as a schema says. */
export function isValid<S extends Shape>(schema: S, value: unknown): value is ValueOf<S> {
  return Check(schema, value);
}

/** The same schema, so that an object can have no field that it does not name. */
export function exact<Part>(part: Part): Part {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) return part.map(exact) as Part;
  const entries = Object.entries(part).map(([keyword, value]) => [keyword, exact(value)]);
  return { ...Object.fromEntries(entries), ...('properties' in part && { additionalProperties: false }) };
}
