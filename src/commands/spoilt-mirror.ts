import { type Environment, type Flags, resolveConfig } from '../config/resolve.ts';
import { MirrorFileError } from '../errors.ts';
import { openForReading } from '../store/file/open.ts';
import { misfitOf } from '../store/file/whole.ts';

/**
 * Looks at the mirror of a command that ended by an error which nobody foresaw: where it holds a value of another type than
 * docmirror writes, that is what the command stumbled over.
 *
 * @returns what to say of the mirror; null where it holds no such value, or can't be looked at.
 */
export function faultOfMirror(flags: Flags, environment: Environment): MirrorFileError | null {
  try {
    using file = openForReading(resolveConfig(flags, environment).database);
    const misfit = misfitOf(file);
    return misfit === null ? null : new MirrorFileError(misfit);
  } catch {
    return null;
  }
}
