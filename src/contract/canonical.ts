import { hasUncertainNumbers, isExactlyDouble, isRawNumber, parseExact } from './exact-json.ts';

/** A member of an object: its name, and its value as canonical JSON. */
export type Member = readonly [name: string, json: string];

/**
 * Canonical JSON (RFC 8785) of a parsed value. Beyond the RFC, a number that a double can't represent keeps its digits
 * as received, and a lone surrogate is written as its `\uXXXX`. It recurses, so the value's depth must be bounded.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (isRawNumber(value)) return isExactlyDouble(value) ? String(Number(value.rawJSON)) : value.rawJSON;
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  return canonicalObject(Object.entries(value).map(([name, each]) => [name, canonicalJson(each)]));
}

/** An object of members that are canonical already, in the order of their names by UTF-16 code units. */
export function canonicalObject(members: Member[]): string {
  return `{${members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join(',')}}`;
}

/**
 * Parses a JSON text. Numbers that a double can't represent keep their digits. The slow exact parser runs only if the
 * text needs it.
 */
export function parseKept(text: string): unknown {
  return hasUncertainNumbers(text) ? parseExact(text) : JSON.parse(text);
}
