import { type DestinationStream, type Logger as PinoLogger, pino } from 'pino';
import type { Config } from '../config/resolve.ts';
import { printableJson } from '../printable.ts';
import { logLineForPeople } from '../render/log-line.ts';
import type { Secrets } from '../service/secrets.ts';
import { failureOf, type Output } from './io.ts';

/** A logger whose lines tell of which run they are. */
export type Logger = PinoLogger & {
  /** `runId` is null while there is no run. */
  readonly current: { runId: number | null };
};

/** Bytes that wait until the log can be written again; what is more is lost. */
const unwrittenMax = 1024 * 1024;

/**
 * Makes the logger: JSON lines on standard error, or lines for people where that is a terminal. No line shows a secret, and what a
 * person sees can't steer the terminal.
 */
export function createLogger(
  { logLevel: level, labels }: Pick<Config, 'logLevel' | 'labels'>,
  { stderr, secrets }: { readonly stderr: Output; readonly secrets: Secrets },
): Logger {
  const current: Logger['current'] = { runId: null };
  const streamWrite = (line: string) => {
    const redacted = secrets.redact(line);
    return stderr.isTTY ? logLineForPeople(redacted) : printableJson(redacted);
  };
  const options = {
    level,
    base: labels,
    formatters: { level: (label: string) => ({ level: label }) },
    mixin: () => (current.runId === null ? {} : { runId: current.runId }),
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: { streamWrite },
  };
  return Object.assign(pino(options, destinationOf(stderr)), { current });
}

/** The stream itself. If it is a file of the process, a writer that goes on when the disk is full: the lines follow when there is room. */
function destinationOf(stderr: Output): DestinationStream {
  if (stderr.fd === undefined) return stderr;
  const destination = pino.destination({ dest: stderr.fd, sync: true, maxLength: unwrittenMax });
  destination.on('error', () => undefined);
  return destination;
}

/** The fields of a log line about an error: its code and message. A fault of docmirror itself has its stack, too. */
export function loggedError(error: unknown): object {
  const { code, message } = failureOf(error);
  return code === 'internal' ? { err: error } : { error: { code, message } };
}
