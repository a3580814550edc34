import { existsSync, rmSync } from 'node:fs';
import { addressOf, resolveOne } from '../config/resolve.ts';
import { exitCodes, MirrorFileError, UsageError } from '../errors.ts';
import { printable } from '../printable.ts';
import { bytesText } from '../render/numbers.ts';
import { verificationText, verifyOutputOf } from '../render/verification.ts';
import { type Backup, type BackupOptions, backUp } from '../store/backup/backup.ts';
import { checkpointBeside, nameInFolder, rotate } from '../store/backup/backup-rotation.ts';
import { writeManifest } from '../store/backup/manifest.ts';
import { restore } from '../store/backup/restore.ts';
import { fileBehind } from '../store/file/mirror-path.ts';
import { type Verification, type VerifyOptions, verifyMirror } from '../store/verify/verify.ts';
import { listFolder } from './backup/list.ts';
import { manifestOf } from './backup/manifest.ts';
import { assertCanSign, signedCheckpointOf, verifyWithCheckpoints } from './checkpoint-file.ts';
import { type Context, command, type Shown } from './command.ts';
import { duration, file, number } from './flags.ts';
import { writeNamed } from './named-file.ts';
import { StatusLine } from './progress.ts';
import { mirrorSettings, notifierSettings } from './shared-flags.ts';
import { whenFree } from './when-free.ts';

const differencesMax = 100;

/** `docmirror backup` */
export const backup = command({
  arguments: {
    destination: file('the file to write, or with --keep the folder', { valueName: 'DEST' }),
  },
  flags: {
    keep: number(
      'N',
      "write into the folder DEST under the mirror's name and the time of now, and keep the newest N of this mirror",
      [1, 100_000],
    ),
    check: file('make no backup, but verify an old one', { isOnce: true }),
    restore: file('make no backup, but replace the mirror by an old one', { isOnce: true }),
    list: file(
      'make no backup, but list those in a folder, mirror by mirror, and check the SHA-256 of the newest',
      { valueName: 'FOLDER', isOnce: true },
    ),
    maxAge: duration(
      'with --list: exit 4 if the newest of a mirror is older, for example 26h, or there is none',
    ),
  },
  settings: ['baseUrl', 'signingKeyFile', 'waitMs', ...notifierSettings, ...mirrorSettings],
  examples: [
    { line: 'docmirror backup copy.sqlite', meaning: 'one file, replaced when the new copy is proven' },
    { line: 'docmirror backup backups --keep 14', meaning: 'files named by mirror and time, the newest 14' },
    { line: 'docmirror backup --list backups --max-age 26h', meaning: 'is there a new one, unaltered?' },
    { line: 'docmirror backup --restore copy.sqlite', meaning: 'replace the mirror by it' },
  ],
  notes: [
    "A sync can run meanwhile. The backup is one state of the mirror, in a single file that opens anywhere and only its owner can read. Beside it is its manifest, COPY.json: mirror, run, root hash, counts, size and SHA-256. If DOCMIRROR_SIGNING_KEY_FILE is set, backup also writes a signed checkpoint, and --check compares the copy with it. --restore replaces the mirror, if the backup is proven and no run is using the mirror. Don't copy a backup there by hand: files that SQLite left beside the old mirror would damage it.",
  ],
  exitCodes:
    "0 done, 1 failed, 2 a file that is not docmirror's is in the way, or the backup is of another service, 4 the newest backup is too old or altered, or a copy is not sound, 11 a run is using the mirror that was to be restored.",
  notifies: ({ check, restore, list }) => check === null && restore === null && list === null,
  run({ destination, keep, maxAge, ...given }, context): Promise<Shown> {
    void context.config;
    if (maxAge !== null && given.list === null) throw new UsageError('--max-age goes with --list.');
    const [other, ...more] = (['check', 'restore', 'list'] as const).filter(name => given[name] !== null);
    if (other === undefined) return makeBackup(destination, keep, context);
    if (destination !== null || keep !== null || more.length > 0)
      throw new UsageError(`--${other} makes no backup, so it goes without DEST and other flags.`);
    const path = given[other] ?? '';
    if (other === 'list') return listFolder(path, maxAge, context);
    assertThere(`--${other}`, path);
    return other === 'check' ? check(path, context) : restoreMirror(path, context);
  },
  output: ({ output }) => output,
  text: ({ text }, width) => text(width),
});

async function makeBackup(destination: string | null, keep: number | null, context: Context): Promise<Shown> {
  if (destination === null) throw new UsageError('Name the file to write: docmirror backup DEST');
  const { database, signingKeyFile, labels } = context.config;
  const nextName = () => nameInFolder(destination, database, context.clock());
  const wanted = keep === null ? destination : nextName();
  if (signingKeyFile !== null) await assertCanSign(checkpointBeside(wanted), signingKeyFile);
  context.notifier?.begun();
  const made = await withBar('copying', context, options =>
    backUp(database, wanted, { ...options, ...(keep !== null && { nextName }) }),
  );
  if (made.verification.differenceCount > 0) {
    const consequence = 'so it was not kept. Run "docmirror verify" on the mirror.';
    return refused(made.verification, consequence, context);
  }
  const { path } = made;
  if (signingKeyFile === null) rmSync(checkpointBeside(path), { force: true });
  else writeNamed('DEST', checkpointBeside(path), await signedCheckpointOf(path, signingKeyFile));
  const manifest = await manifestOf(made, labels, context.signal);
  writeManifest(path, manifest);
  const removed = keep === null ? [] : rotate(destination, path, keep);
  context.notifier?.backup({ runId: made.newestRunId, bytes: made.bytes });
  return { output: { path, ...manifest, removed }, text: () => describe(made, removed) };
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

async function restoreMirror(copy: string, context: Context): Promise<Shown> {
  const { signal, settings, environment } = context;
  const { database, signingKeyFile, waitMs } = context.config;
  const baseUrl = resolveOne('baseUrl', settings.flags, environment);
  const wanted = { baseUrl: baseUrl && addressOf(baseUrl) };
  const verify = (path: string, options: VerifyOptions) => audit(path, copy, signingKeyFile, options);
  const restored = await withBar('restoring', context, options =>
    whenFree(waitMs, signal, () => restore(copy, database, { ...options, verify, ...wanted })),
  );
  const { path, bytes, newestRunId, verification, mirrorId, baseUrl: whose } = restored;
  if (verification !== null && verification.differenceCount > 0)
    return refused(verification, 'so the mirror was left as it is.', context);
  const proof = verification === null ? "of an older docmirror's shape, and whole" : 'verified';
  const isVerified = verification !== null;
  return {
    output: { path, runId: newestRunId, bytes, mirrorId, baseUrl: whose, isVerified },
    text: () =>
      `${printable(path)}: ${stateText(newestRunId)}, ${bytesText(bytes)}, ${proof}. ${printable(whoseText(whose))}"docmirror sync" brings it up to date.\n`,
  };
}

/** The mirror that the backup was made of. */
function whoseText(baseUrl: string | null): string {
  return baseUrl === null ? '' : `It mirrors ${baseUrl}. `;
}

async function withBar<T>(
  what: string,
  { stderr, signal }: Context,
  work: (options: BackupOptions) => Promise<T>,
): Promise<T> {
  const line = new StatusLine(stderr);
  const onProgress = (done: number, total: number) =>
    line.show(`${what} ${Math.floor((done / total) * 100)} %`);
  const options = { limit: differencesMax, signal, onProgress };
  return work(options).finally(() => line.clear());
}

/** What is said of a copy that is not sound. */
function refused(found: Verification, consequence: string, context: Context): Shown {
  context.stderr.write(`docmirror: the copy is not sound, ${consequence} [mirror_file]\n`);
  return audited(found, context);
}

async function check(path: string, context: Context): Promise<Shown> {
  const { signal, config } = context;
  return audited(await audit(path, path, config.signingKeyFile, { limit: differencesMax, signal }), context);
}

function audited(found: Verification, context: Context): Shown {
  if (found.differenceCount > 0) context.exitCode = exitCodes.difference;
  return { output: verifyOutputOf(found, null), text: width => verificationText(found, width) };
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
        publicKey: null,
        signingKeyFile,
      })
    : verifyMirror(path, options);
}
