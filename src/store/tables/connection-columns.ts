import { parseExact } from '../../contract/exact-json.ts';
import { tryToRead } from './readable.ts';

/** What is said of a connection: its name, whatever it is, and its further fields as compact JSON; null where nothing is said. */
export interface NameAndExtra {
  readonly name: string | null;
  readonly extra: string | null;
}

/** What stands in the columns of a connection's row: a name that no column holds, such as half a surrogate pair, is among the further fields. */
export function columnsOf({ name, extra }: NameAndExtra): NameAndExtra {
  if (name === null || name.isWellFormed()) return { name, extra };
  const others = extra === null ? '' : `,${extra.slice(1, -1)}`;
  return { name: null, extra: `{"name":${JSON.stringify(name)}${others}}` };
}

/** What the columns of a connection's row say. */
export function saidIn({ name, extra }: NameAndExtra): NameAndExtra {
  if (name !== null || extra === null || !extra.includes('"name"')) return { name, extra };
  const read = tryToRead(() => parseExact(extra) as Record<string, unknown>);
  // What another program wrote there may be anything.
  if (!('value' in read) || typeof read.value.name !== 'string') return { name, extra };
  const { name: said, ...others } = read.value;
  return { name: said as string, extra: Object.keys(others).length === 0 ? null : JSON.stringify(others) };
}

/** What is said of a connection, with what its row says if that is not said: a name stays until another one is given. */
export function orAsBefore({ name, extra }: NameAndExtra, row: NameAndExtra): NameAndExtra {
  const before = saidIn(row);
  return { name: name ?? before.name, extra: extra ?? before.extra };
}
