import { statSync } from 'node:fs';
import { attempt, UsageError } from '../errors.ts';
import { laterPerhaps, readSmallFile } from './small-file.ts';

/** What a request gets from the file of `DOCMIRROR_HEADERS_FILE`, by names in small letters. Values are secrets. */
export type FurtherHeaders = Readonly<Record<string, string>>;

const variable = 'DOCMIRROR_HEADERS_FILE';

/** docmirror sets these itself, or they are of one connection. */
const refused =
  /^(authorization|host|accept-encoding|range|if-.*|cache-control|content-length|expect|connection|keep-alive|te|trailer|transfer-encoding|upgrade|proxy-.*)$/;

/**
 * Reads lines `Name: value`; a # at the begin of a line or after a space begins a comment. Throws `token_unavailable` if the file can't be
 * read now, and a UsageError, which never shows a value, if a line can't be used.
 */
export function readHeadersFile(path: string): FurtherHeaders {
  const headers: Record<string, string> = {};
  for (const [at, line] of textOf(path).split(/\r?\n/).entries()) {
    const refuse = (why: string) => new UsageError(`${variable}: line ${at + 1} of ${path} ${why}`);
    const text = line.replace(/(^|\s)#.*$/, '').trim();
    if (text === '') continue;
    const [, given = '', value = ''] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.+)$/.exec(text) ?? [];
    if (given === '') throw refuse('is not of the form Name: value.');
    const name = given.toLowerCase();
    if (refused.test(name)) throw refuse(`has the name ${given}, which docmirror sets itself.`);
    if (Object.hasOwn(headers, name)) throw refuse(`has the name ${given} a second time.`);
    if (!/^[\t\x20-\x7e]+$/.test(value))
      throw refuse('has a value with characters that no HTTP header can carry.');
    headers[name] = value;
  }
  return headers;
}

function textOf(path: string): string {
  try {
    return readSmallFile(`${variable}: `, path).replace(/^\uFEFF/, '');
  } catch (error) {
    throw laterPerhaps(error);
  }
}

/** Whether others than the owner and the group can read a file. */
export function isOpenToOthers(path: string): boolean {
  return attempt(() => (statSync(path).mode & 0o004) !== 0) ?? false;
}
