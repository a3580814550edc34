import { parseExact } from '../../contract/exact-json.ts';
import { tryToRead } from './readable.ts';

/** The name of a connection, and its further fields as compact JSON; null if the service gave none. */
export interface NameAndExtra {
  readonly name: string | null;
  readonly extra: string | null;
}

/**
 * The columns of a connection's row. A name that is not well-formed Unicode, for example half a surrogate pair, is among the
 * further fields.
 */
export function columnsOf({ name, extra }: NameAndExtra): NameAndExtra {
  if (name === null || name.isWellFormed()) return { name, extra };
  const others = extra === null ? '' : `,${extra.slice(1, -1)}`;
  return { name: null, extra: `{"name":${JSON.stringify(name)}${others}}` };
}

/** The name and further fields that the columns of a connection's row say. */
export function saidIn({ name, extra }: NameAndExtra): NameAndExtra {
  if (name !== null || extra === null || !extra.includes('"name"')) return { name, extra };
  const read = tryToRead(() => parseExact(extra) as Record<string, unknown>);
  // Another program can have written any text.
  if (!('value' in read) || typeof read.value.name !== 'string') return { name, extra };
  const { name: said, ...others } = read.value;
  return { name: said as string, extra: Object.keys(others).length === 0 ? null : JSON.stringify(others) };
}

/** The given name and further fields, or else those of the row: a name stays until another one is given. */
export function orAsBefore({ name, extra }: NameAndExtra, row: NameAndExtra): NameAndExtra {
  const before = saidIn(row);
  return { name: name ?? before.name, extra: extra ?? before.extra };
}
