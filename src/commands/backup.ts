import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { Labels } from '../config/parse.ts';
import {
  addressOf,
  type Config,
  durationMs,
  resolveConfig,
  resolveOne,
  wholeNumber,
} from '../config/resolve.ts';
import { exitCodes, MirrorFileError, UsageError } from '../errors.ts';
import { printable } from '../printable.ts';
import { bytesText } from '../render/numbers.ts';
import { verificationJson, verificationText } from '../render/verification.ts';
import { type Backup, type BackupOptions, backUp } from '../store/backup/backup.ts';
import { checkpointBeside, nameInFolder, rotate } from '../store/backup/backup-rotation.ts';
import { writeManifest } from '../store/backup/manifest.ts';
import { restore } from '../store/backup/restore.ts';
import { fileBehind } from '../store/file/mirror-path.ts';
import { type Verification, type VerifyOptions, verifyMirror } from '../store/verify/verify.ts';
import { listFolder } from './backup/list.ts';
import { manifestOf } from './backup/manifest.ts';
import {
  assertCanSign,
  removeCheckpoint,
  signedCheckpointOf,
  verifyWithCheckpoints,
  writeCheckpoint,
} from './checkpoint-file.ts';
import type { CommandContext } from './context.ts';
import { jsonOutput } from './json-output.ts';
import { OneBar } from './one-bar.ts';
import { terminalWidth } from './terminal-width.ts';
import { whenFree } from './when-free.ts';

interface BackupFlags {
  readonly keep?: string;
  readonly check?: string;
  readonly restore?: string;
  readonly list?: string;
  readonly maxAge?: string;
  readonly json?: boolean;
}

const keepMax = 100_000;
const differencesMax = 100;

/** `docmirror backup`; its flags are in the table of commands. */
export async function backup(command: Command, context: CommandContext): Promise<void> {
  const [destination] = command.args;
  const flags = command.opts<BackupFlags>();
  const config = resolveConfig(command.opts(), context.environment);
  const json = flags.json ?? false;
  if (flags.maxAge !== undefined && flags.list === undefined)
    throw new UsageError('--max-age goes with --list.');
  const [other, ...more] = (['check', 'restore', 'list'] as const).filter(name => flags[name] !== undefined);
  if (other === undefined) return makeBackup(destination, flags, config, context);
  if (destination !== undefined || flags.keep !== undefined || more.length > 0)
    throw new UsageError(`--${other} makes no backup, so it goes without DEST and other flags.`);
  const path = flags[other] ?? '';
  if (other === 'list') {
    const maxAgeMs = flags.maxAge === undefined ? null : durationMs('--max-age', flags.maxAge);
    return listFolder(path, { maxAgeMs, json, labels: config.labels }, context);
  }
  assertThere(`--${other}`, path);
  if (other === 'check') return check(path, config, json, context);
  const baseUrl = resolveOne('baseUrl', command.opts(), context.environment);
  return restoreMirror(path, { ...config, json, baseUrl: baseUrl && addressOf(baseUrl) }, context);
}

async function makeBackup(
  destination: string | undefined,
  flags: BackupFlags,
  config: Config,
  context: CommandContext,
): Promise<void> {
  if (destination === undefined || destination === '')
    throw new UsageError('Name the file to write: docmirror backup DEST');
  const { database, signingKeyFile, labels } = config;
  const keep = flags.keep === undefined ? null : wholeNumber('--keep', flags.keep, 1, keepMax);
  const nextName = () => nameInFolder(destination, database, new Date());
  const wanted = keep === null ? destination : nextName();
  if (signingKeyFile !== null) await assertCanSign(checkpointBeside(wanted), signingKeyFile);
  context.teller?.begun();
  const made = await withBar('copying', context, options =>
    backUp(database, wanted, { ...options, ...(keep !== null && { nextName }) }),
  );
  if (made.verification.differenceCount > 0) {
    const consequence = 'so it was not kept. Run "docmirror verify" on the mirror.';
    return refuse(made.verification, { consequence, json: flags.json ?? false, labels }, context);
  }
  const { path } = made;
  if (signingKeyFile !== null) {
    writeCheckpoint('DEST', checkpointBeside(path), await signedCheckpointOf(path, signingKeyFile));
  } else removeCheckpoint(checkpointBeside(path));
  const manifest = await manifestOf(made, labels, context.signal);
  writeManifest(path, manifest);
  const removed = keep === null ? [] : rotate(destination, path, keep);
  context.teller?.backup({ runId: made.newestRunId, bytes: made.bytes });
  context.teller?.summary(describe(made, removed));
  context.stdout.write(
    flags.json
      ? jsonOutput(`${JSON.stringify({ path, ...manifest, removed })}\n`, {})
      : describe(made, removed),
  );
}

/** @throws UsageError, MirrorFileError that speak of the backup, where the store would speak of the mirror. */
function assertThere(flag: string, path: string): void {
  if (!existsSync(fileBehind(path, flag)))
    throw new MirrorFileError(`${flag}: there is no backup at ${path}.`);
}

function describe({ path, bytes, newestRunId }: Backup, removed: readonly string[]): string {
  const lines = [
    `${path}: ${stateText(newestRunId)}, ${bytesText(bytes)}, verified.`,
    ...removed.map(name => `Removed ${name}.`),
  ];
  return lines.map(line => `${printable(line)}\n`).join('');
}

function stateText(newestRunId: number): string {
  return newestRunId === 0 ? 'an empty mirror' : `the mirror as of run ${newestRunId}`;
}

async function restoreMirror(
  copy: string,
  { database, signingKeyFile, waitMs, json, labels, baseUrl }: RestoreConfig,
  context: CommandContext,
): Promise<void> {
  const verify = (path: string, options: VerifyOptions) => audit(path, copy, signingKeyFile, options);
  const restored = await withBar('restoring', context, options =>
    whenFree(waitMs, context.signal, () => restore(copy, database, { ...options, verify, baseUrl })),
  );
  const { path, bytes, newestRunId, verification, mirrorId, baseUrl: whose } = restored;
  if (verification !== null && verification.differenceCount > 0) {
    return refuse(verification, { consequence: 'so the mirror was left as it is.', json, labels }, context);
  }
  const proof = verification === null ? "of an older docmirror's shape, and whole" : 'verified';
  const facts = {
    path,
    runId: newestRunId,
    bytes,
    mirrorId,
    baseUrl: whose,
    isVerified: verification !== null,
  };
  context.stdout.write(
    json
      ? jsonOutput(`${JSON.stringify(facts)}\n`, labels)
      : `${printable(path)}: ${stateText(newestRunId)}, ${bytesText(bytes)}, ${proof}. ${printable(whoseText(whose))}"docmirror sync" brings it up to date.\n`,
  );
}

/** The mirror that the backup was made of. */
function whoseText(baseUrl: string | null): string {
  return baseUrl === null ? '' : `It mirrors ${baseUrl}. `;
}

interface RestoreConfig extends Config {
  readonly json: boolean;
  /** The service that the settings name; null if they name none. */
  readonly baseUrl: string | null;
}

async function withBar<T>(
  what: string,
  { stderr, signal }: CommandContext,
  work: (options: BackupOptions) => Promise<T>,
): Promise<T> {
  const bar = new OneBar(stderr, `${what} {bar} {percentage}%`);
  const options = { limit: differencesMax, signal, onProgress: bar.update };
  return work(options).finally(() => bar.stop());
}

interface Refusal {
  readonly consequence: string;
  readonly json: boolean;
  readonly labels: Labels;
}

function refuse(
  found: Verification,
  { consequence, json, labels }: Refusal,
  { stdout, stderr, setExitCode, teller }: CommandContext,
): void {
  teller?.summary(verificationText(found));
  stdout.write(
    json ? jsonOutput(verificationJson(found, null), labels) : verificationText(found, terminalWidth(stdout)),
  );
  stderr.write(`docmirror: the copy is not sound, ${consequence} [mirror_file]\n`);
  setExitCode(exitCodes.difference);
}

async function check(
  path: string,
  { signingKeyFile, labels }: Config,
  json: boolean,
  { stdout, signal, setExitCode }: CommandContext,
): Promise<void> {
  const verification = await audit(path, path, signingKeyFile, { limit: differencesMax, signal });
  stdout.write(
    json
      ? jsonOutput(verificationJson(verification, null), labels)
      : verificationText(verification, terminalWidth(stdout)),
  );
  if (verification.differenceCount > 0) setExitCode(exitCodes.difference);
}

/** Audits a backup, or what was copied of it, against the checkpoint that lies beside the backup. */
function audit(
  path: string,
  backup: string,
  signingKeyFile: string | null,
  options: VerifyOptions,
): Promise<Verification> {
  const checkpoint = checkpointBeside(backup);
  return existsSync(checkpoint)
    ? verifyWithCheckpoints(path, {
        ...options,
        checkpoints: [checkpoint],
        publicKey: undefined,
        signingKeyFile,
      })
    : verifyMirror(path, options);
}
