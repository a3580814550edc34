import { readFileSync, statSync } from 'node:fs';
import { isValid, object, optional, type Shape, text, type ValueOf, whole } from '../../contract/shapes.ts';
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

/** The note beside a restored mirror: how many receipts the backup had and, of an older shape, the receipt of the restore as a text. */
export const restoredBeside = (mirror: string) => `${mirror}.restored`;
const restoredNote = object({ receipts: whole(), restore: optional(text()) });

/** The note of the last restore of a mirror; null if there was none. */
export const readRestored = (mirror: string) => readBeside(restoredNote, restoredBeside(mirror));
