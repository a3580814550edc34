import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import { type Config, resolveConfig, wholeNumber } from '../config/resolve.ts';
import { exitCodes, MirrorFileError, UsageError } from '../errors.ts';
import { printable } from '../printable.ts';
import { bytesText } from '../render/numbers.ts';
import { verificationText } from '../render/verification.ts';
import { type Backup, type BackupOptions, backUp } from '../store/backup/backup.ts';
import { checkpointBeside, nameInFolder, rotate } from '../store/backup/backup-rotation.ts';
import { restore } from '../store/backup/restore.ts';
import { fileBehind } from '../store/file/mirror-path.ts';
import { type Verification, type VerifyOptions, verifyMirror } from '../store/verify/verify.ts';
import {
  assertCanSign,
  removeCheckpoint,
  signedCheckpointOf,
  verifyWithCheckpoints,
  writeCheckpoint,
} from './checkpoint-file.ts';
import type { CommandContext } from './context.ts';
import { OneBar } from './one-bar.ts';
import { terminalWidth } from './terminal-width.ts';
import { whenFree } from './when-free.ts';

interface BackupFlags {
  readonly keep?: string;
  readonly check?: string;
  readonly restore?: string;
}

const keepMax = 100_000;
const differencesMax = 100;

/** `docmirror backup`; its flags stand in the table of commands. */
export async function backup(command: Command, context: CommandContext): Promise<void> {
  const [destination] = command.args;
  const flags = command.opts<BackupFlags>();
  const config = resolveConfig(command.opts(), context.environment);
  if (flags.check !== undefined || flags.restore !== undefined) {
    const flag = flags.check === undefined ? '--restore' : '--check';
    const others = [destination, flags.keep, flags.check === undefined ? undefined : flags.restore];
    if (others.some(other => other !== undefined))
      throw new UsageError(`${flag} makes no backup, so it goes without DEST and other flags.`);
    assertThere(flag, flags.check ?? flags.restore ?? '');
    if (flags.check !== undefined) return check(flags.check, config.signingKeyFile, context);
    return restoreMirror(flags.restore ?? '', config, context);
  }
  if (destination === undefined || destination === '')
    throw new UsageError('Name the file to write: docmirror backup DEST');
  const keep = flags.keep === undefined ? null : wholeNumber('--keep', flags.keep, 1, keepMax);
  const nextName = () => nameInFolder(destination, new Date());
  const wanted = keep === null ? destination : nextName();
  if (config.signingKeyFile !== null) await assertCanSign(checkpointBeside(wanted), config.signingKeyFile);
  context.teller?.begun();
  const made = await withBar('copying', context, options =>
    backUp(config.database, wanted, { ...options, ...(keep !== null && { nextName }) }),
  );
  if (made.verification.differenceCount > 0) {
    return refuse(made.verification, 'so it was not kept. Run "docmirror verify" on the mirror.', context);
  }
  const { path } = made;
  if (config.signingKeyFile !== null) {
    writeCheckpoint('DEST', checkpointBeside(path), await signedCheckpointOf(path, config.signingKeyFile));
  } else removeCheckpoint(checkpointBeside(path));
  const removed = keep === null ? [] : rotate(destination, path, keep);
  context.teller?.backup({ runId: made.newestRunId, bytes: made.bytes });
  context.teller?.summary(describe(made, removed));
  context.stdout.write(describe(made, removed));
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
  { database, signingKeyFile, waitMs }: Config,
  context: CommandContext,
): Promise<void> {
  const verify = (path: string, options: VerifyOptions) => audit(path, copy, signingKeyFile, options);
  const restored = await withBar('restoring', context, options =>
    whenFree(waitMs, context.signal, () => restore(copy, database, { ...options, verify })),
  );
  const { path, bytes, newestRunId, verification } = restored;
  if (verification !== null && verification.differenceCount > 0) {
    return refuse(verification, 'so the mirror was left as it is.', context);
  }
  const proof = verification === null ? "of an older docmirror's shape, and whole" : 'verified';
  context.stdout.write(
    `${printable(path)}: ${stateText(newestRunId)}, ${bytesText(bytes)}, ${proof}. "docmirror sync" brings it up to date.\n`,
  );
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

function refuse(
  found: Verification,
  consequence: string,
  { stdout, stderr, setExitCode }: CommandContext,
): void {
  stdout.write(verificationText(found, terminalWidth(stdout)));
  stderr.write(`docmirror: the copy is not sound, ${consequence}\n`);
  setExitCode(exitCodes.difference);
}

async function check(
  path: string,
  signingKeyFile: string | null,
  { stdout, signal, setExitCode }: CommandContext,
): Promise<void> {
  const verification = await audit(path, path, signingKeyFile, { limit: differencesMax, signal });
  stdout.write(verificationText(verification, terminalWidth(stdout)));
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
