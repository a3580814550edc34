import { type Logger, pino } from 'pino';
import { DocmirrorError } from '../errors.ts';
import { printable, printableLines } from '../printable.ts';
import type { Secrets } from '../service/secrets.ts';
import { explainSqliteError } from '../store/file/sqlite-errors.ts';

export type { Logger };

/** Fields that must never be shown, wherever they stand in what is logged. */
const secretFields = ['token', 'authorization', 'endpoint'];
const standardError = 2;
/** Bytes that wait until the log can be written again; what is more is lost. */
const unwrittenMax = 1024 * 1024;

/**
 * Makes the logger: JSON lines on standard error, or lines for people where that is a terminal. No line shows a secret, and what a
 * person sees can't steer the terminal.
 */
export async function createLogger(level: string, isTerminal: boolean, secrets: Secrets): Promise<Logger> {
  const redact = secretFields.flatMap(field => [field, `*.${field}`, `*.*.${field}`]);
  const streamWrite = (line: string) => {
    const redacted = secrets.redact(line);
    return isTerminal ? printableLine(redacted) : redacted;
  };
  const options = {
    level,
    redact,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: { streamWrite },
  };
  if (!isTerminal) {
    const destination = pino.destination({ dest: standardError, sync: true, maxLength: unwrittenMax });
    // A run goes on where its log can't be written, as on a disk that is full; the lines follow when there is room.
    destination.on('error', () => undefined);
    return pino(options, destination);
  }
  const { default: pretty } = await import('pino-pretty');
  return pino(options, pretty({ destination: standardError, sync: true, translateTime: 'HH:MM:ss' }));
}

/** What a log line says of an error: of one in words its code and these, of a fault of docmirror itself where it came from, too. */
export function loggedError(error: unknown): object {
  const explained = explainSqliteError(error, 'the mirror');
  if (!(explained instanceof DocmirrorError)) return { err: error };
  const { code, message } = explained;
  return { error: { code, message } };
}

/** A JSON line with all its texts made printable; a stack keeps its lines. */
function printableLine(line: string): string {
  const shown: unknown = JSON.parse(line, (key, value: unknown) => {
    if (typeof value !== 'string') return value;
    return key === 'stack' ? printableLines(value) : printable(value);
  });
  return `${JSON.stringify(shown)}\n`;
}
