import { type Logger, pino } from 'pino';

export type { Logger };

/** Fields that must never be shown, wherever they stand in what is logged. */
const secretFields = ['token', 'authorization', 'endpoint'];
const standardError = 2;

/** Makes the logger: JSON lines on standard error, or lines for people where that is a terminal. */
export async function createLogger(level: string, isTerminal: boolean): Promise<Logger> {
  const redact = secretFields.flatMap(field => [field, `*.${field}`, `*.*.${field}`]);
  const options = { level, redact, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (!isTerminal) return pino(options, pino.destination({ dest: standardError, sync: true }));
  const { default: pretty } = await import('pino-pretty');
  return pino(options, pretty({ destination: standardError, sync: true, translateTime: 'HH:MM:ss' }));
}
