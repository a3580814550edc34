import { readFileSync, statSync } from 'node:fs';
import { isValid, type Shape, type ValueOf } from '../../contract/shapes.ts';
import { attempt, tryToRead } from '../../errors.ts';

/** More than any note, manifest or file of metrics has, in bytes. */
const bytesMax = 4 * 1024 * 1024;

/** The text of a file that docmirror left beside a mirror or a backup; null, without waiting, if anything else is there by now. */
export function textBeside(path: string): string | null {
  return attempt(() => {
    const stat = statSync(path);
    return stat.isFile() && stat.size <= bytesMax ? readFileSync(path, 'utf8') : null;
  });
}

/** The JSON of such a file; null if it does not have the shape. */
export function readBeside<S extends Shape>(shape: S, path: string): ValueOf<S> | null {
  const value: unknown = tryToRead(() => JSON.parse(textBeside(path) ?? ''));
  return isValid(shape, value) ? (value as ValueOf<S>) : null;
}
