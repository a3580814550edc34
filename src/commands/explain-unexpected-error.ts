import { type Environment, type Flags, resolveConfig } from '../config/resolve.ts';
import { MirrorFileError } from '../errors.ts';
import { verifyMirror } from '../store/verify/verify.ts';

/**
 * Looks at the mirror of a command that ended by an error which nobody foresaw: where it is not as docmirror wrote it, that is what
 * the command stumbled over.
 *
 * @returns what to say of the mirror; null if it is sound, or can't be looked at.
 */
export async function explainUnexpectedError(
  flags: Flags,
  environment: Environment,
): Promise<MirrorFileError | null> {
  try {
    const { database } = resolveConfig(flags, environment);
    const words = await differenceIn(database);
    return words === null ? null : new MirrorFileError(words);
  } catch {
    return null;
  }
}

async function differenceIn(database: string): Promise<string | null> {
  const { signal } = new AbortController();
  const { path, differences } = await verifyMirror(database, { limit: 1, signal });
  const [first] = differences;
  if (first === undefined) return null;
  const place = first.table === null ? '' : `${first.table}${first.id === null ? '' : ` ${first.id}`}: `;
  return `${path} is not as docmirror wrote it (${place}${first.what}). "docmirror verify" names all differences. Restore it from a backup, or move it away and sync again.`;
}
