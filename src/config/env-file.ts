import { statSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import { parseEnv } from 'node:util';
import { UsageError } from '../errors.ts';
import type { Environment } from './resolve.ts';
import { settings } from './settings.ts';
import { readSmallFile } from './small-file.ts';

/** Variables of one group set the same thing: `DOCMIRROR_TOKEN` and `DOCMIRROR_TOKEN_FILE`, `http_proxy` and `HTTP_PROXY`. */
const groupOf = (name: string) => name.toUpperCase().replace(/_(FILE|COMMAND)$/, '');

const beginsQuoted = /^[^#=]*=\s*["'`]/;
/** A value whose one quote is its last sign: the quote before it was lost. */
const endsHalfQuoted = /^[^#=]*=[^"'`]*["'`]\s*$/;
const isQuoted = /^[^#=]*=\s*(["'`])(?:(?!\1).)*\1\s*(#.*)?$/;

/**
 * The environment, overridden by the lines `NAME=value` of a file, each of which also hides the other variables of its group. Empty ones
 * count as not set. Quotes work as in Node's own `--env-file`, and relative paths go by the file's folder.
 */
export function withEnvFile(path: string, environment: Environment) {
  const text = readSmallFile('--env-file: ', path).replace(/^\uFEFF/, '');
  const isPipe = statSync(path, { throwIfNoEntry: false })?.isFile() !== true;
  // Otherwise the settings of the environment would count, and those might belong to another tenant.
  const empty = `--env-file: ${path} is a pipe that was empty. Either what writes to it failed, or Node.js has read it: start docmirror with "node -- …".`;
  if (text === '' && isPipe) throw new UsageError(empty);
  // Node's reader skips other lines, and ends a value at a #, which systemd and Docker keep.
  const line = /^\s*(#|$|(export\s+)?[A-Za-z_]\w*\s*=\s*(["'`#]|[^#]*$))/;
  text.split(/\r?\n/).forEach((each, at) => {
    const refuse = (what: string) => new UsageError(`--env-file: line ${at + 1} of ${path} ${what}`);
    if (!line.test(each))
      throw refuse(
        'is not of the form NAME=value. If it has a # in its value, put it in quotes, and a comment on a line of its own.',
      );
    // Node's reader looks for the other quote in later lines, and so takes their settings for a part of the value.
    if ((beginsQuoted.test(each) && !isQuoted.test(each)) || endsHalfQuoted.test(each))
      throw refuse(
        'has a quote that is not closed at its end. A value is on one line, and has no quote of its own kind. Name a longer text by a setting that ends with _FILE.',
      );
  });
  // A relative path goes by the folder of the file that names it.
  const folder = isPipe ? '.' : dirname(path);
  const isInFolder = (name: string, value: string) =>
    fileVariables.includes(name) && !/^:memory:$|^file:/.test(value) && folder !== '.' && !isAbsolute(value);
  const set = Object.entries(parseEnv(text))
    .filter(([, value = '']) => value.trim() !== '')
    .map(([name, value = '']) => [name, isInFolder(name, value) ? `${folder}/${value}` : value] as const);
  const groups = new Set(set.map(([name]) => groupOf(name)));
  const others = Object.entries(environment).filter(([name]) => !groups.has(groupOf(name)));
  const inEnvFile = new Set(set.map(([name]) => name));
  return { inEnvFile, environment: Object.fromEntries([...others, ...set]) };
}

const ofPaths = Object.values(settings).filter(({ kind }) => kind === 'path');
const fileVariables: readonly string[] = [...ofPaths.map(({ variable }) => variable), 'NODE_EXTRA_CA_CERTS'];
