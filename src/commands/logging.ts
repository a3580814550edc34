import { type Logger as PinoLogger, pino } from 'pino';
import type { Config } from '../config/resolve.ts';
import { printableJson } from '../printable.ts';
import { logLineForPeople } from '../render/log-line.ts';
import type { Secrets } from '../service/secrets.ts';
import { failureOf, type Output, type Settings } from './io.ts';
import type { StatusLine } from './terminal.ts';

/** A logger whose lines tell of which run they are. */
export type Logger = PinoLogger & {
  readonly current: { runId: number | null };
  /** Whether it logs how lists and shares end. On a terminal the command says it, and logs it only if it also logs what is no warning. */
  readonly logsEnds: boolean;
};

/** What of a command's context a logger needs. */
export interface LoggerContext {
  readonly stderr: Output;
  readonly secrets: Secrets;
  readonly settings: Settings;
  readonly line?: StatusLine;
}

/** Bytes that wait until the log can be written again; what is more is lost. */
const unwrittenMax = 1024 * 1024;

/** Makes the logger: JSON lines, or sentences on a terminal, whose usual level is `onTerminal`. No line shows a secret. */
export function createLogger(
  { logLevel, labels }: Pick<Config, 'logLevel' | 'labels'>,
  { stderr, secrets, settings, line }: LoggerContext,
  onTerminal: Config['logLevel'] = 'warn',
): Logger {
  const isChosen = settings.flags.logLevel || settings.environment.DOCMIRROR_LOG_LEVEL || logLevel !== 'info';
  const level = stderr.isTTY && !isChosen ? onTerminal : logLevel;
  const current: Logger['current'] = { runId: null };
  const streamWrite = (json: string) => {
    const redacted = secrets.redact(json);
    if (!stderr.isTTY) return printableJson(redacted);
    return `${line?.erase() ?? ''}${logLineForPeople(redacted)}`;
  };
  const options = {
    level,
    base: labels,
    formatters: { level: (label: string) => ({ level: label }) },
    mixin: () => (current.runId === null ? {} : { runId: current.runId }),
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: { streamWrite },
  };
  // When the disk is full, the writer of a file of the process goes on: the lines follow when there is room.
  const { fd } = stderr;
  const file = fd === undefined ? null : pino.destination({ dest: fd, sync: true, maxLength: unwrittenMax });
  file?.on('error', () => undefined);
  const logger = pino(options, file ?? stderr);
  return Object.assign(logger, { current, logsEnds: !stderr.isTTY || logger.isLevelEnabled('info') });
}

/** The fields of a log line about an error: its code and message. A fault of docmirror itself has its stack, too. */
export function loggedError(error: unknown): object {
  const { code, message } = failureOf(error);
  return code === 'internal' ? { err: error } : { error: { code, message } };
}
