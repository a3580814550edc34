import type { Labels } from '../config/parse.ts';
import { proxyFor } from '../config/proxy.ts';
import { type Environment, type Given, resolveOne } from '../config/resolve.ts';
import { DocmirrorError, exitCodes } from '../errors.ts';
import { sendPing } from '../service/ping.ts';
import type { Secrets } from '../service/secrets.ts';
import { explainSqliteError } from '../store/file/sqlite-errors.ts';
import { version } from '../version.ts';
import type { Output } from './io.ts';
import { createLogger } from './logging.ts';
import { type BackupFigures, writeMetricsFiles } from './metrics-file.ts';

/** The parts of a command's context that a notifier needs. */
interface Notified {
  readonly settings: { readonly flags: Given; readonly environment: Environment };
  readonly stderr: Output;
  readonly secrets: Secrets;
}

/** How long the ping of the start can continue after the command has ended, in milliseconds. */
const startMsAfterEnd = 1_000;

/** The longest body of a ping, in bytes. */
const bodyBytesMax = 10_000;

/** Reports on a command to people who do not watch it, with pings and a file of metrics. If that fails, it logs a warning. */
export class Notifier {
  readonly #name: string;
  readonly #settings: NotifierSettings;
  readonly #context: Notified;
  #start: Promise<void> | undefined;
  #starting = new AbortController();
  #summary = '';
  #backup: BackupFigures | null = null;

  /** @param name the name of the command. */
  constructor(name: string, context: Notified) {
    this.#name = name;
    this.#context = context;
    this.#settings = settingsOf(context);
  }

  /** The work has begun, and its lock is held if it has one. */
  begun(): void {
    this.#start ??= this.#ping('/start', '', this.#starting.signal);
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
    await this.#endStart();
    await this.#writeMetrics(exitCode);
    if (exitCode === exitCodes.done) await this.#ping('', this.#summary);
    else if (exitCode !== exitCodes.busy) await this.#ping('/fail', this.#summary);
    this.#summary = '';
    this.#backup = null;
  }

  /** It ended with an error. */
  async failed(error: unknown): Promise<void> {
    const explained = explainSqliteError(error, 'the mirror');
    const isForeseen = explained instanceof DocmirrorError;
    const code = isForeseen ? explained.code : 'internal';
    const message = isForeseen ? explained.message : 'this is a fault of docmirror itself';
    this.#summary = `docmirror ${this.#name}: ${message} [${code}]\n`;
    await this.ended(isForeseen ? explained.exitCode : exitCodes.failed);
  }

  /** If the ping of the start has not arrived, the ping of the end follows anyway. */
  async #endStart(): Promise<void> {
    if (this.#start === undefined) return;
    const timer = setTimeout(() => this.#starting.abort(), startMsAfterEnd);
    await this.#start.finally(() => clearTimeout(timer));
    this.#start = undefined;
    this.#starting = new AbortController();
  }

  async #ping(
    ending: string,
    summary: string,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<void> {
    const { pingUrl, labels } = this.#settings;
    if (pingUrl === null) return;
    const url = new URL(pingUrl.replaceAll('%c', encodeURIComponent(this.#name.split(' ')[0] ?? '')));
    url.pathname = `${url.pathname.replace(/\/+$/, '')}${ending}`;
    const { secrets } = this.#context;
    const body = secrets.redact(bodyOf(summary, labels, await this.#checkpoint()));
    const proxy = proxyFor(url, this.#context.settings.environment);
    const why = await sendPing({ url, body, proxy, userAgent: `docmirror/${version}` }, signal);
    if (why !== null) await this.#warn({ to: url.origin, why }, 'the ping could not be sent');
  }

  /** The checkpoint of the mirror, signed if a key is set; empty if there is none. */
  async #checkpoint(): Promise<string> {
    const { database, signingKeyFile } = this.#settings;
    try {
      if (signingKeyFile !== null) {
        const { signedCheckpointOf } = await import('./checkpoint-file.ts');
        return await signedCheckpointOf(database ?? '', signingKeyFile);
      }
      const { checkpointOf } = await import('../store/read/checkpoint-of.ts');
      const { checkpointText } = await import('../audit/checkpoint.ts');
      return checkpointText(checkpointOf(database ?? ''));
    } catch {
      return '';
    }
  }

  async #writeMetrics(exitCode: number): Promise<void> {
    const { metricsFile, database, labels } = this.#settings;
    if (metricsFile === null || this.#name.startsWith('publish')) return;
    const ended = { command: this.#name, exitCode, atMs: Date.now(), backup: this.#backup };
    try {
      writeMetricsFiles(metricsFile, { database: database ?? '', labels }, ended);
    } catch (error) {
      if (!(error instanceof DocmirrorError)) throw error;
      const { code, message } = error;
      await this.#warn({ error: { code, message } }, 'the metrics could not be written');
    }
  }

  async #warn(what: object, message: string): Promise<void> {
    const { labels, logLevel } = this.#settings;
    const { stderr, secrets } = this.#context;
    createLogger({ labels, logLevel }, { stderr, secrets }).warn(what, message);
  }
}

interface NotifierSettings {
  readonly pingUrl: string | null;
  readonly metricsFile: string | null;
  readonly labels: Labels;
  readonly database: string | null;
  readonly signingKeyFile: string | null;
  readonly logLevel: string;
}

/** A setting that can't be used counts as not set: the command itself fails because of it, and that failure has to be reported. */
function settingsOf({ settings, secrets }: Notified): NotifierSettings {
  const { flags, environment } = settings;
  const pingUrl = resolveOne('pingUrl', flags, environment);
  if (pingUrl !== null) secrets.add(pingUrl);
  return {
    pingUrl,
    metricsFile: resolveOne('metricsFile', flags, environment),
    labels: resolveOne('labels', flags, environment) ?? {},
    database: resolveOne('database', flags, environment),
    signingKeyFile: resolveOne('signingKeyFile', flags, environment),
    logLevel: resolveOne('logLevel', flags, environment) ?? 'info',
  };
}

/** The summary, cut so that all fits, the labels, and the checkpoint at the end. */
function bodyOf(summary: string, labels: Labels, checkpoint: string): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const tail = [...(pairs.length === 0 ? [] : [`${pairs.join(',')}\n`]), checkpoint].filter(
    text => text !== '',
  );
  const rest = tail.join('\n');
  const bytes = Buffer.from(summary);
  const room = bodyBytesMax - Buffer.byteLength(rest) - 1;
  const cut =
    bytes.length <= room ? summary : `${bytes.toString('utf8', 0, room - 10).replace(/\uFFFD+$/, '')}…\n`;
  return cut === '' || rest === '' ? `${cut}${rest}` : `${cut}\n${rest}`;
}
