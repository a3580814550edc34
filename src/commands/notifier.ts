import { readFileSync } from 'node:fs';
import { checkpointText } from '../audit/checkpoint.ts';
import type { Labels } from '../config/parse.ts';
import { proxyFor } from '../config/proxy.ts';
import { resolveOne } from '../config/resolve.ts';
import type { SettingName, SettingValues } from '../config/settings.ts';
import { DocmirrorError, exitCodes } from '../errors.ts';
import { labelledFigures, metricsText, textOf } from '../serve/metrics.ts';
import { sendPing } from '../service/ping.ts';
import type { Secrets } from '../service/secrets.ts';
import { writeWhole } from '../store/file/atomic-file.ts';
import { checkpointOf } from '../store/read/checkpoint-of.ts';
import { version } from '../version.ts';
import { signedCheckpointOf } from './checkpoint-file.ts';
import type { Failure, Output, Settings } from './io.ts';
import { createLogger } from './logging.ts';

/** The parts of a command's context that a notifier needs. */
interface Notified {
  readonly settings: Settings;
  readonly secrets: Secrets;
  readonly stderr: Output;
}

/** Reports on a command to people who do not watch it, with pings and a file of metrics. If that fails, it logs a warning. */
export class Notifier {
  readonly #name: string;
  readonly #context: Notified;
  readonly #pingUrl: string | null;
  #start: Promise<void> | undefined;
  #summary = '';
  #backup: BackupFigures | null = null;

  /** @param name the name of the command. */
  constructor(name: string, context: Notified) {
    this.#name = name;
    this.#context = context;
    this.#pingUrl = this.#setting('pingUrl');
    if (this.#pingUrl !== null) context.secrets.add(this.#pingUrl);
  }

  /** The work has begun, and its lock is held if it has one. */
  begun(): void {
    this.#start ??= this.#ping('/start', '');
  }

  /** The result as a person would read it. */
  summary(text: string): void {
    this.#summary = text;
  }

  /** A backup was made. */
  backup(figures: BackupFigures): void {
    this.#backup = figures;
  }

  /** The command, or its run, has ended. */
  async ended(exitCode: number): Promise<void> {
    await this.#start;
    this.#start = undefined;
    this.#writeMetrics(exitCode);
    if (exitCode === exitCodes.done) await this.#ping('', this.#summary);
    else if (exitCode !== exitCodes.busy) await this.#ping('/fail', this.#summary);
    this.#summary = '';
    this.#backup = null;
  }

  /** It ended with an error. */
  async failed({ exitCode, message, code }: Failure): Promise<void> {
    this.#summary = `docmirror ${this.#name}: ${message} [${code}]\n`;
    await this.ended(exitCode);
  }

  /** A setting that can't be used counts as not set: the command itself fails because of it, and that failure has to be reported. */
  #setting<Name extends SettingName>(name: Name): SettingValues[Name] | null {
    const { flags, environment } = this.#context.settings;
    return resolveOne(name, flags, environment);
  }

  async #ping(ending: string, summary: string): Promise<void> {
    if (this.#pingUrl === null) return;
    const { secrets, settings } = this.#context;
    const url = new URL(this.#pingUrl.replaceAll('%c', encodeURIComponent(this.#name.split(' ')[0] ?? '')));
    url.pathname = `${url.pathname.replace(/\/+$/, '')}${ending}`;
    const body = secrets.redact(this.#body(summary));
    const proxy = proxyFor(url, settings.environment);
    const why = await sendPing({ url, body, proxy, userAgent: `docmirror/${version}` });
    if (why !== null) this.#warn({ to: url.origin, why }, 'the ping could not be sent');
  }

  /** The summary, the labels, and the checkpoint at the end. */
  #body(summary: string): string {
    const labels = Object.entries(this.#setting('labels') ?? {}).map(([name, value]) => `${name}=${value}`);
    const parts = [summary, labels.length === 0 ? '' : `${labels.join(',')}\n`, this.#checkpoint()];
    return parts.filter(text => text !== '').join('\n');
  }

  /** The checkpoint of the mirror, signed if a key is set; empty if there is none. */
  #checkpoint(): string {
    const database = this.#setting('database') ?? '';
    const signingKeyFile = this.#setting('signingKeyFile');
    try {
      return signingKeyFile === null
        ? checkpointText(checkpointOf(database))
        : signedCheckpointOf(database, signingKeyFile);
    } catch {
      return '';
    }
  }

  #writeMetrics(exitCode: number): void {
    const path = this.#setting('metricsFile');
    if (path === null || this.#name.startsWith('publish')) return;
    const ended = { command: this.#name, exitCode, atMs: Date.now(), backup: this.#backup };
    try {
      writeMetricsFiles(path, this.#setting('database') ?? '', this.#setting('labels') ?? {}, ended);
    } catch (error) {
      if (!(error instanceof DocmirrorError)) throw error;
      const { code, message } = error;
      this.#warn({ error: { code, message } }, 'the metrics could not be written');
    }
  }

  #warn(what: object, message: string): void {
    const [labels, logLevel] = [this.#setting('labels') ?? {}, this.#setting('logLevel') ?? 'info'];
    createLogger({ labels, logLevel }, this.#context).warn(what, message);
  }
}

/** The figures of a backup. */
export interface BackupFigures {
  readonly runId: number;
  readonly bytes: number;
}

/** A command that has ended. */
interface EndedCommand {
  readonly command: string;
  readonly exitCode: number;
  readonly atMs: number;
  /** Null if none was made. */
  readonly backup: BackupFigures | null;
}

/** Everybody can read the files: the collector runs as another user, and the metrics are not secret. */
const publicMode = 0o644;

type Gauge = readonly [name: string, help: string, numberOf: (ended: EndedCommand) => number];

const commandGauges: readonly Gauge[] = [
  [
    'docmirror_command_last_exit_code',
    'What the command exited with, the last time.',
    ({ exitCode }) => exitCode,
  ],
  [
    'docmirror_command_last_end_timestamp_seconds',
    'When the command ended the last time, in seconds since 1970.',
    ({ atMs }) => atMs / 1000,
  ],
];

const backupExitCode = 'docmirror_backup_last_exit_code';

const backupGauges: readonly Gauge[] = [
  [
    'docmirror_backup_last_success_timestamp_seconds',
    'When the newest backup was made, in seconds since 1970.',
    // Before the first backup the time is 0, so that an alert on its age fires.
    ({ backup, atMs }) => (backup === null ? 0 : atMs / 1000),
  ],
  [
    'docmirror_backup_last_success_bytes',
    'How large the newest backup is, in bytes.',
    ({ backup }) => backup?.bytes ?? 0,
  ],
  [
    'docmirror_backup_last_success_run_id',
    'The newest run that the newest backup contains.',
    ({ backup }) => backup?.runId ?? 0,
  ],
  [backupExitCode, 'What the last backup exited with.', ({ exitCode }) => exitCode],
];

/**
 * Writes the metrics of a mirror, and how its commands ended last, for node_exporter's textfile collector. `backup` also writes a
 * second file next to it.
 *
 * @param labels of all metrics; if there are none, those of the mirror's newest run.
 * @throws RefusedFileError if it can't be written there.
 */
export function writeMetricsFiles(path: string, database: string, labels: Labels, ended: EndedCommand): void {
  const figures = labelledFigures(database, labels);
  const text = ([name, help, numberOf]: Gauge, own: Labels) =>
    textOf([{ name, help, samples: () => [[numberOf(ended), own]] }], [figures]);
  // The other commands' metrics belong to the families of this one.
  const others = linesOf(path).filter(line => !line.includes(`command="${ended.command}"`));
  const families = commandGauges.map(gauge => {
    const kept = others.filter(line => line.startsWith(gauge[0]));
    return text(gauge, { command: ended.command }) + kept.join('');
  });
  writeWhole(path, [metricsText([figures]), ...families].join('\n'), publicMode);
  if (ended.command !== 'backup') return;
  const backupPath = `${path.replace(/\.prom$/, '')}-backup.prom`;
  const before = linesOf(backupPath);
  const texts = backupGauges.map(gauge => {
    // If a backup failed, the last successful one is still the newest.
    const isKept = ended.backup === null && gauge[0] !== backupExitCode;
    const kept = before.filter(line => isKept && line.startsWith(gauge[0]));
    return kept.length === 0 ? text(gauge, {}) : text(gauge, {}).replace(/^[^#].*\n/m, kept.join(''));
  });
  writeWhole(backupPath, texts.join('\n'), publicMode);
}

/** The lines of a file that an earlier command wrote; none if it can't be read. */
function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').match(/.*\n/g) ?? [];
  } catch {
    return [];
  }
}
