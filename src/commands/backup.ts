import { existsSync, rmSync, statSync } from 'node:fs';
import { addressOf, resolveOne } from '../config/resolve.ts';
import { exitCodes, MirrorFileError, UsageError } from '../errors.ts';
import { ageMs, isFresh } from '../freshness.ts';
import { printable } from '../printable.ts';
import { bytesText, duration as lengthText } from '../render/numbers.ts';
import { renderTable } from '../render/table.ts';
import { verificationText, verifyOutputOf } from '../render/verification.ts';
import {
  backUp,
  checkpointBeside,
  type ListedBackup,
  listBackups,
  nameInFolder,
  rotate,
  writeManifest,
} from '../store/copies/backup.ts';
import { restore } from '../store/copies/restore.ts';
import { replaceable, writeWhole } from '../store/file/atomic-file.ts';
import { fileBehind } from '../store/file/mirror-path.ts';
import type { Verification, VerifyOptions } from '../store/verify/verify.ts';
import { readSigningKey, signedCheckpointOf, verifyWithCheckpoints } from './checkpoint-file.ts';
import { type Context, command, type Shown } from './command.ts';
import { duration, mirrorSettings, notifierSettings, number, text } from './flags.ts';
import { whenFree } from './when-free.ts';

const differencesMax = 100;

/** `docmirror backup` */
export const backup = command({
  arguments: { destination: text('DEST', 'the file to write, or with --keep the folder') },
  flags: {
    keep: number(
      'N',
      "write into the folder DEST under the mirror's name and the time of now, and keep the newest N of this mirror",
      [1, 100_000],
    ),
    check: text('FILE', 'make no backup, but verify an old one'),
    restore: text('FILE', 'make no backup, but replace the mirror by an old one'),
    list: text(
      'FOLDER',
      'make no backup, but list those in a folder, mirror by mirror, and check the SHA-256 of the newest',
    ),
    maxAge: duration(
      'with --list: exit 4 if the newest of a mirror is older, for example 26h, or there is none',
    ),
  },
  settings: ['baseUrl', 'signingKeyFile', 'waitMs', ...notifierSettings, ...mirrorSettings],
  examples: {
    'docmirror backup copy.sqlite': 'one file, replaced when the new copy is proven',
    'docmirror backup backups --keep 14': 'files named by mirror and time, the newest 14',
    'docmirror backup --list backups --max-age 26h': 'is there a new one, unaltered?',
    'docmirror backup --restore copy.sqlite': 'replace the mirror by it',
  },
  notes: [
    "A sync can run meanwhile. The backup is one state of the mirror, in a single file that opens anywhere and only its owner can read. Beside it is its manifest, COPY.json: mirror, run, root hash, counts, size and SHA-256. If DOCMIRROR_SIGNING_KEY_FILE is set, backup also writes a signed checkpoint, and --check compares the copy with it. --restore replaces the mirror, if the backup is proven and no run is using the mirror. Don't copy a backup there by hand: files that SQLite left beside the old mirror would damage it.",
  ],
  exitCodes:
    "0 done, 1 failed, 2 a file that is not docmirror's is in the way, or the backup is of another service, 4 the newest backup is too old or altered, or a copy is not sound, 11 a run is using the mirror that was to be restored.",
  notifies: ({ check, restore, list }) => check === null && restore === null && list === null,
  async run({ destination, keep, maxAge, ...given }, context): Promise<Shown> {
    const { config, signal } = context;
    if (maxAge !== null && given.list === null) throw new UsageError('--max-age goes with --list.');
    const [other, ...more] = (['check', 'restore', 'list'] as const).filter(name => given[name] !== null);
    if (other === undefined) return makeBackup(destination, keep, context);
    if (destination !== null || keep !== null || more.length > 0)
      throw new UsageError(`--${other} makes no backup, so it goes without DEST and other flags.`);
    const path = given[other] ?? '';
    if (other === 'list') return listFolder(path, maxAge, context);
    if (!existsSync(fileBehind(path, `--${other}`)))
      throw new MirrorFileError(`--${other}: there is no backup at ${path}.`);
    if (other === 'restore') return restoreMirror(path, context);
    const options = { limit: differencesMax, signal };
    return audited(await audit(path, path, config.signingKeyFile, options), context);
  },
  output: ({ output }) => output,
  text: ({ text }, width) => text(width),
});

async function makeBackup(destination: string | null, keep: number | null, context: Context): Promise<Shown> {
  if (destination === null) throw new UsageError('Name the file to write: docmirror backup DEST');
  const { config, signal, notifier } = context;
  const { database, signingKeyFile, labels } = config;
  const nextName = keep === null ? undefined : () => nameInFolder(destination, database, new Date());
  const wanted = nextName?.() ?? destination;
  if (signingKeyFile !== null) {
    replaceable(checkpointBeside(wanted));
    readSigningKey(signingKeyFile);
  }
  notifier?.begun();
  const made = await backUp(database, wanted, { nextName, limit: differencesMax, signal });
  const { path, runId, verification } = made;
  if (verification.differenceCount > 0)
    return refused(verification, 'so it was not kept. Run "docmirror verify" on the mirror.', context);
  if (signingKeyFile === null) rmSync(checkpointBeside(path), { force: true });
  else writeWhole(checkpointBeside(path), signedCheckpointOf(path, signingKeyFile));
  const manifest = await writeManifest(path, runId, labels, signal);
  const { bytes } = manifest;
  const removed = keep === null ? [] : rotate(destination, path, keep);
  notifier?.backup({ runId, bytes });
  const lines = [
    `${path}: ${stateText(runId)}, ${bytesText(bytes)}, verified.`,
    ...removed.map(name => `Removed ${name}.`),
  ];
  const text = lines.map(line => `${printable(line)}\n`).join('');
  return { output: { path, ...manifest, removed }, text: () => text };
}

function stateText(runId: number): string {
  return runId === 0 ? 'an empty mirror' : `the mirror as of run ${runId}`;
}

async function restoreMirror(copy: string, context: Context): Promise<Shown> {
  const { signal, settings } = context;
  const { database, signingKeyFile, waitMs } = context.config;
  const wanted = resolveOne('baseUrl', settings.flags, settings.environment);
  const restored = await whenFree(waitMs, signal, () =>
    restore(copy, database, {
      limit: differencesMax,
      signal,
      verify: (path, options) => audit(path, copy, signingKeyFile, options),
      baseUrl: wanted && addressOf(wanted),
    }),
  );
  const { verification, ...of } = restored;
  if (verification !== null && verification.differenceCount > 0)
    return refused(verification, 'so the mirror was left as it is.', context);
  const proof = verification === null ? "of an older docmirror's shape, and whole" : 'verified';
  const whose = of.baseUrl === null ? '' : ` It mirrors ${of.baseUrl}.`;
  const text = `${of.path}: ${stateText(of.runId)}, ${bytesText(of.bytes)}, ${proof}.${whose}`;
  return {
    output: { ...of, isVerified: verification !== null },
    text: () => `${printable(text)} "docmirror sync" brings it up to date.\n`,
  };
}

/** What is said of a copy that is not sound. */
function refused(found: Verification, consequence: string, context: Context): Shown {
  context.stderr.write(`docmirror: the copy is not sound, ${consequence} [mirror_file]\n`);
  return audited(found, context);
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
  const checkpoints = [checkpointBeside(backup)].filter(file => existsSync(file));
  return verifyWithCheckpoints(path, { ...options, checkpoints, publicKey: null, signingKeyFile });
}

/** Lists the backups in a folder. The exit code is 4 if the newest of a mirror is older than `maxAgeMs` or not what its manifest says. */
async function listFolder(folder: string, maxAgeMs: number | null, context: Context): Promise<Shown> {
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw new UsageError(`--list: there is no folder ${folder}.`);
  const nowMs = Date.now();
  const stateOf = ({ isNewest, isSound, at, manifest }: ListedBackup): string | null => {
    if (!isNewest) return null;
    if (isSound === false) return 'altered';
    if (maxAgeMs !== null && !isFresh(at, nowMs, maxAgeMs)) return 'too old';
    return manifest === null ? 'no manifest' : 'ok';
  };
  const backups = (await listBackups(folder, context.signal)).map(each => ({
    ...each,
    state: stateOf(each),
    ageMs: ageMs(each.at, nowMs),
  }));
  const isBad = backups.some(({ state }) => state === 'altered' || state === 'too old');
  if (isBad || (maxAgeMs !== null && backups.length === 0)) context.exitCode = exitCodes.difference;
  const rows = backups.map(each => [
    printable(each.path),
    printable(each.baseUrl ?? '–'),
    String(each.manifest?.runId ?? '–'),
    each.ageMs === null ? 'in the future' : lengthText(each.ageMs),
    bytesText(each.bytes),
    each.state ?? '',
  ]);
  const head = ['Backup', 'Service', 'Run', 'Age', 'Size', 'Newest'];
  return {
    output: { backups: backups.map(({ manifest, ...each }) => ({ ...manifest, ...each })) },
    text: width => (rows.length === 0 ? 'There is no backup here.\n' : renderTable(head, rows, width)),
  };
}
