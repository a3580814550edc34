import { readFileSync } from 'node:fs';
import { checkpointText } from '../audit/checkpoint.ts';
import type { Labels } from '../config/parse.ts';
import { proxyFor } from '../config/proxy.ts';
import { resolveOne } from '../config/resolve.ts';
import type { SettingName, SettingValues } from '../config/settings.ts';
import { DocmirrorError, exitCodes } from '../errors.ts';
import { type LabelledFigures, labelledFigures, metricsText, textOf } from '../serve/metrics.ts';
import { sendPing } from '../service/ping.ts';
import type { Secrets } from '../service/secrets.ts';
import { writeWhole } from '../store/file/atomic-file.ts';
import { checkpointOf } from '../store/read/checkpoint-of.ts';
import { version } from '../version.ts';
import { signedCheckpointOf } from './checkpoint-file.ts';
import type { Failure, Output, Settings } from './io.ts';
import { createLogger } from './logging.ts';

/** At the end, the ping of the start is given up after this, in milliseconds. */
const startMsMax = 1_000;

/** The parts of a command's context that a notifier needs. */
type Context = { readonly settings: Settings; readonly secrets: Secrets; readonly stderr: Output };

/** Reports on a command to people who do not watch it, with pings and a file of metrics. If that fails, it logs a warning. */
export class Notifier {
  readonly #name: string;
  readonly #context: Context;
  readonly #pingUrl: string | null;
  #start: Promise<void> | undefined;
  #ending = new AbortController();
  #summary = '';
  #backup: BackupFigures | null = null;

  /** @param name the name of the command. */
  constructor(name: string, context: Context) {
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
    // A monitor that does not answer holds up the end just once.
    const timer = setTimeout(() => this.#ending.abort(), startMsMax);
    await this.#start;
    clearTimeout(timer);
    this.#start = undefined;
    this.#ending = new AbortController();
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
    const { signal } = this.#ending;
    const why = await sendPing({ url, body, proxy, userAgent: `docmirror/${version}`, signal });
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
    const figures = labelledFigures(this.#setting('database') ?? '', this.#setting('labels') ?? {});
    try {
      writeMetricsFiles(path, figures, this.#name, exitCode, this.#backup);
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

/** The newest run that a backup contains, and its size. */
type BackupFigures = { readonly runId: number; readonly bytes: number };

/** Everybody can read the files: the collector runs as another user, and the metrics are not secret. */
const publicMode = 0o644;

/** Writes the metrics of a mirror, and how its commands ended last, for node_exporter's textfile collector; backups have a second file. */
function writeMetricsFiles(
  path: string,
  figures: LabelledFigures,
  command: string,
  exitCode: number,
  backup: BackupFigures | null,
): void {
  const nowS = Date.now() / 1000;
  const gauge = (name: string, help: string, value: number, own: Labels = {}) =>
    textOf([[name, help, () => [[value, own]]]], [figures]);
  // The other commands' metrics belong to the families of this one.
  const others = linesOf(path).filter(line => !line.includes(`command="${command}"`));
  const ofCommand = (name: string, help: string, value: number) =>
    gauge(name, help, value, { command }) + others.filter(line => line.startsWith(name)).join('');
  const exitHelp = 'What the command exited with, the last time.';
  const endHelp = 'When the command ended the last time, in seconds since 1970.';
  const texts = [
    metricsText([figures]),
    ofCommand('docmirror_command_last_exit_code', exitHelp, exitCode),
    ofCommand('docmirror_command_last_end_timestamp_seconds', endHelp, nowS),
  ];
  writeWhole(path, texts.join('\n'), publicMode);
  if (command !== 'backup') return;
  const backupPath = `${path.replace(/\.prom$/, '')}-backup.prom`;
  // If a backup failed, the last successful one is still the newest.
  const before = backup === null ? linesOf(backupPath) : [];
  const ofBackup = (name: string, help: string, value: number) => {
    const text = gauge(`docmirror_backup_last_success_${name}`, help, value);
    const kept = before.filter(line => line.startsWith(`docmirror_backup_last_success_${name}`)).join('');
    return kept === '' ? text : text.replace(/^[^#].*\n/m, kept);
  };
  // Before the first backup the time is 0, so that an alert on its age fires.
  const madeAtS = backup === null ? 0 : nowS;
  const backupTexts = [
    ofBackup('timestamp_seconds', 'When the newest backup was made, in seconds since 1970.', madeAtS),
    ofBackup('bytes', 'How large the newest backup is, in bytes.', backup?.bytes ?? 0),
    ofBackup('run_id', 'The newest run that the newest backup contains.', backup?.runId ?? 0),
    gauge('docmirror_backup_last_exit_code', 'What the last backup exited with.', exitCode),
  ];
  writeWhole(backupPath, backupTexts.join('\n'), publicMode);
}

/** The lines of a file that an earlier command wrote; none if it can't be read. */
function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').match(/.*\n/g) ?? [];
  } catch {
    return [];
  }
}
