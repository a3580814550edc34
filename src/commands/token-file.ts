import { readFileSync } from 'node:fs';
import { checkToken } from '../config/settings.ts';
import { UsageError } from '../errors.ts';

/**
 * Reads a token from its file.
 *
 * @throws UsageError that names the flag or variable; the token is never shown.
 */
export function readTokenFile(from: string, path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'no reason given';
    throw new UsageError(`${from}: ${path} can't be read (${code}).`);
  }
  return checkToken(from, text);
}
