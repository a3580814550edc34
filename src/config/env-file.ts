import { parseEnv } from 'node:util';
import { UsageError } from '../errors.ts';
import type { Environment } from './resolve.ts';
import { readSmallFile } from './small-file.ts';

/** Far more than settings take, in bytes. */
const bytesMax = 256 * 1024;

/**
 * The environment with the lines `NAME=value` of a file below it: what the environment says goes before what the file says, and
 * an empty variable says nothing. Comments and quotes are understood as Node's own `--env-file` does.
 *
 * @throws UsageError that names the file where it can't be read.
 */
export async function withEnvFile(path: string, environment: Environment): Promise<Environment> {
  const text = await readSmallFile(path, bytesMax).catch((error: Error) => {
    throw new UsageError(`--env-file: ${path} ${error.message}.`);
  });
  const said = Object.entries(environment).filter(([, value]) => value !== undefined && value.trim() !== '');
  return { ...parseEnv(text.replace(/^\uFEFF/, '')), ...Object.fromEntries(said) };
}
