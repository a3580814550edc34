import { closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { proxyFor } from '../config/proxy.ts';
import { resolveOne } from '../config/resolve.ts';
import type { SettingName } from '../config/settings.ts';
import { attempt, codeOf, DocmirrorError, exitCodes, RefusedFileError } from '../errors.ts';
import { type LabelledFigures, labelledFigures, metricsText } from '../serve/metrics.ts';
import { textBeside } from '../store/file/beside.ts';
import { privateFileMode } from '../store/file/rights.ts';
import { ending } from '../store/file/unfinished.ts';
import { writeWhole } from '../store/file/whole-file.ts';
import { version } from '../version.ts';
import { checkpointIn } from './checkpoint-file.ts';
import type { Io } from './io.ts';
import { createLogger, type LoggerContext, loggedError } from './logging.ts';

/** At the end, the ping of the start is waited for this long, in milliseconds. */
const startMsMax = 1_000;

/** Reports on a command. */
export type Notifier = ReturnType<typeof notifierOf>;

/** Reports on a command to people who do not watch it, with pings and a file of metrics. If that fails, it logs a warning. */
export function notifierOf(command: string, context: LoggerContext & Pick<Io, 'stdout'>) {
  const { secrets, settings } = context;
  // If a setting can't be used, the command itself fails because of it, and that failure has to be reported.
  const setting = <Name extends SettingName>(name: Name) =>
    resolveOne(name, settings.flags, settings.environment);
  const pingUrl = setting('pingUrl');
  const metricsFile = command.startsWith('publish') ? null : setting('metricsFile');
  const database = setting('database') ?? '';
  const labels = setting('labels') ?? {};
  const [successUrl, failureUrl] = [setting('pingSuccessUrl'), setting('pingFailureUrl')];
  for (const url of [pingUrl, successUrl, failureUrl]) secrets.add(url ?? '');
  let start: Promise<void> | undefined;
  let made: Backup | null = null;

  const warn = (what: object, message: string) =>
    createLogger({ labels, logLevel: setting('logLevel') ?? 'info' }, context).warn(what, message);

  const send = async (ending: string, summary: string) => {
    if (pingUrl === null) return;
    const url = new URL(pingUrl.replaceAll('%c', encodeURIComponent(command.split(' ')[0] ?? '')));
    url.pathname = `${url.pathname.replace(/\/+$/, '')}${ending}`;
    const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
    const checkpoint = attempt(() => checkpointIn(database, setting('signingKeyFile'))) ?? '';
    const parts = [summary, pairs.join(','), checkpoint];
    const body = secrets.redact(parts.flatMap(text => text.trimEnd() || []).join('\n\n'));
    await sendTo(url, body);
  };
  const sendTo = async (url: URL, body: string | null) => {
    const { sendPing } = await import('../service/ping.ts');
    const proxy = proxyFor(url, settings.environment);
    const why = await sendPing({ url, body, proxy, userAgent: `docmirror/${version}` });
    if (why !== null) warn({ to: url.origin, why }, 'the ping could not be sent');
  };
  /** It never rejects: nobody waits for the ping of the start, and a proxy that can't be read is no reason to fail. */
  const warnIfFailed = (sending: Promise<void>) =>
    sending.catch((error: unknown) => warn(loggedError(error), 'the ping could not be sent'));
  const ping = (ending: string, summary: string) => warnIfFailed(send(ending, summary));

  const writeAllMetrics = (exitCode: number) => {
    if (metricsFile === null) return;
    try {
      // A person at a terminal sees a failure, and no alert should follow that only another success there could end.
      const isSeen = command !== 'watch' && (context.stdout.isTTY || context.stderr.isTTY);
      inTurn(metricsFile, () => {
        const figures = labelledFigures(database, labels);
        writeMetrics(metricsFile, figures, command, isSeen && exitCode !== exitCodes.done ? null : exitCode);
        if (command === 'backup') writeBackupMetrics(metricsFile, figures, exitCode, made);
      });
    } catch (error) {
      if (!(error instanceof DocmirrorError)) throw error;
      warn(loggedError(error), 'the metrics could not be written');
    }
  };

  return {
    /** The work has begun, and its lock is held if it has one. */
    begun(): void {
      start ??= ping('/start', '');
    },

    backup(figures: Backup): void {
      made = figures;
    },

    /** The command, or its run, has ended; `summary` is the result as a person would read it. */
    async ended(exitCode: number, summary: string): Promise<void> {
      // A monitor that does not answer holds up the end just once.
      await Promise.race([start, wait(startMsMax, undefined, { ref: false })]);
      start = undefined;
      writeAllMetrics(exitCode);
      if (exitCode === exitCodes.busy) return;
      const isDone = exitCode === exitCodes.done;
      const plain = isDone ? successUrl : failureUrl;
      const plainSent = plain === null ? null : warnIfFailed(sendTo(new URL(plain), null));
      await Promise.all([ping(isDone ? '' : '/fail', summary), plainSent]);
    },
  };
}

type Backup = { readonly runId: number; readonly bytes: number };

/** How long a command waits until another one has written the metrics, and from what age on that one is dead, in milliseconds. */
const [turnMsMax, turnAgeMsMax] = [5_000, 3_000];

/** Writes a file of metrics when no other command does: a file beside it says so, which SQLite and collectors do not look at. */
function inTurn(metricsFile: string, write: () => void): void {
  const path = `${metricsFile}.turn${ending}`;
  const sleeper = new Int32Array(new SharedArrayBuffer(4));
  const endMs = performance.now() + turnMsMax;
  let code: string | null = 'EEXIST';
  while (code === 'EEXIST' && performance.now() < endMs) {
    try {
      closeSync(openSync(path, 'wx', privateFileMode));
      code = null;
    } catch (error) {
      code = codeOf(error) ?? '';
      const stat = attempt(() => statSync(path, { throwIfNoEntry: false }));
      if (stat && Date.now() - stat.mtimeMs > turnAgeMsMax) rmSync(path, { force: true });
      else if (code === 'EEXIST') Atomics.wait(sleeper, 0, 0, 10);
    }
  }
  try {
    // If it got no turn, it goes on without.
    write();
  } finally {
    if (code === null) rmSync(path, { force: true });
  }
}

/** Everybody can read the files: the collector runs as another user, and the metrics are not secret. */
const publicMode = 0o644;

/** Refuses a file that is there and has other contents than metrics, such as a token. Those that end with .prom are for metrics alone. */
export function assertIsForMetrics(path: string): void {
  if (path.endsWith('.prom') || !existsSync(path)) return;
  if (/^(# HELP docmirror_|$)/.test(textBeside(path) ?? 'no text')) return;
  const message = `${path} has no metrics of docmirror. It stays as it is; name another file.`;
  throw new RefusedFileError(message, { code: 'output_failed' });
}

/** Writes the metrics of a mirror, and how its commands ended last. If `exitCode` is null, the end of this command before stays. */
function writeMetrics(path: string, figures: LabelledFigures, command: string, exitCode: number | null) {
  assertIsForMetrics(path);
  const line = /^(docmirror_command_\w+)\{.*command="([^"]+)"\} (.+)$/gm;
  const all = [...(textBeside(path) ?? '').matchAll(line)];
  const before = all.filter(([, , other]) => exitCode === null || other !== command);
  const samplesOf = (name: string, value: number | null) => {
    const others = before.filter(([, family]) => family === `docmirror_command_last_${name}`);
    const samples = others.map(([, , other = '', text]) => [Number(text), { command: other }] as const);
    return () => [...(exitCode === null ? [] : [[value, { command }] as const]), ...samples];
  };
  const families = {
    docmirror_command_last_exit_code: samplesOf('exit_code', exitCode),
    docmirror_command_last_end_timestamp_seconds: samplesOf('end_timestamp_seconds', Date.now() / 1000),
  };
  writeWhole(path, metricsText([figures], families), publicMode);
}

/** Writes the metrics of backups beside those of the mirror. If a backup failed, the last successful one is still the newest. */
function writeBackupMetrics(file: string, figures: LabelledFigures, exitCode: number, made: Backup | null) {
  const path = `${file.replace(/\.prom$/, '')}-backup.prom`;
  assertIsForMetrics(path);
  const before = made === null ? (textBeside(path) ?? '') : '';
  const exit = 'docmirror_backup_last_exit_code';
  // Before the first backup the time is 0, so that an alert on its age fires.
  const [atS, runId, bytes] = made === null ? [0, 0, 0] : [Date.now() / 1000, made.runId, made.bytes];
  const families = {
    docmirror_backup_last_success_timestamp_seconds: () => [[atS]] as const,
    docmirror_backup_last_success_bytes: () => [[bytes]] as const,
    docmirror_backup_last_success_run_id: () => [[runId]] as const,
    [exit]: () => [[exitCode]] as const,
  };
  const text = before.includes(exit)
    ? before.replace(new RegExp(`^(${exit}.*) .*$`, 'm'), `$1 ${exitCode}`)
    : metricsText([figures], families, {});
  writeWhole(path, text, publicMode);
}
