import { checkToken, type ServiceConfig } from '../config/resolve.ts';
import { nameOfSecretFile, readSmallFile } from '../config/small-file.ts';
import { TokenUnavailableError, UsageError } from '../errors.ts';
import { runTokenCommand } from './token-command.ts';

/** The longest token, with spaces around it, in bytes. */
const tokenBytesMax = 16 * 1024;

/**
 * Gets the service's token from the source that the settings name. A file is read, or a command run, again each time.
 *
 * @throws TokenUnavailableError that names the setting; the token is never shown.
 */
export async function readToken(token: ServiceConfig['token'], signal: AbortSignal): Promise<string> {
  if ('text' in token) return token.text;
  try {
    if ('file' in token) return await readTokenFile('DOCMIRROR_TOKEN_FILE', token.file);
    return await runTokenCommand(token, signal);
  } catch (error) {
    // The settings are right: the file or command can work again at the next run.
    if (error instanceof UsageError) throw new TokenUnavailableError(error.message, { cause: error });
    throw error;
  }
}

/**
 * Reads a token from its file.
 *
 * @throws UsageError that names the flag or variable; the token is never shown.
 */
export async function readTokenFile(from: string, path: string): Promise<string> {
  const text = readSmallFile(`${from}: `, path, tokenBytesMax, nameOfSecretFile(path));
  return checkToken(`${from}: ${path}`, text);
}
