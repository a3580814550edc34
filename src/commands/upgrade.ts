import type { Command } from 'commander';
import { resolveConfig } from '../config/resolve.ts';
import { DocmirrorError, exitCodes, RefusedFileError } from '../errors.ts';
import { printable } from '../printable.ts';
import { readManifest } from '../store/backup/manifest.ts';
import { upgradeMirror, upgradesFrom } from '../store/file/open-to-write.ts';
import { explainSqliteError } from '../store/file/sqlite-errors.ts';
import type { CommandContext } from './context.ts';
import { jsonOutput } from './json-output.ts';
import { whenFree } from './when-free.ts';

interface UpgradeFlags {
  readonly check?: boolean;
  readonly json?: boolean;
}

/** The result for one mirror; with `--check`, what an upgrade would do. */
interface UpgradedMirror {
  readonly database: string;
  readonly state: 'upgraded' | 'current' | 'older' | 'failed';
  /** The version of docmirror that made it or last upgraded it; null if there is nothing to upgrade. */
  readonly fromVersion: string | null;
  /** The path of the copy from before the upgrade. */
  readonly copy: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** `docmirror upgrade`; its flags are in the table of commands. */
export async function upgrade(command: Command, context: CommandContext): Promise<void> {
  const { environment, stdout, signal, setExitCode } = context;
  const { check = false, json } = command.opts<UpgradeFlags>();
  const { database, waitMs, labels } = resolveConfig(command.opts(), environment);
  const files = command.args.length === 0 ? [database] : command.args;
  const bringUp = (path: string) => (check ? look(path) : whenFree(waitMs, signal, () => upgradeOne(path)));
  const mirrors: UpgradedMirror[] = [];
  const failures: number[] = [];
  for (const path of files) {
    signal.throwIfAborted();
    try {
      mirrors.push({ ...untouched(path), ...(await bringUp(path)) });
    } catch (error) {
      const known = explainSqliteError(error, path);
      // A single mirror fails like that of any command. If one of many fails, the others are still upgraded.
      if (files.length === 1 || signal.aborted || !(known instanceof DocmirrorError)) throw error;
      const { code, message } = known;
      failures.push(known.exitCode);
      mirrors.push({ ...untouched(path), state: 'failed', error: { code, message } });
      context.stderr.write(`docmirror: ${printable(message)} [${code}]\n`);
    }
    const [newest] = mirrors.slice(-1);
    if (!json && newest !== undefined) stdout.write(textOf(newest));
  }
  if (json) stdout.write(jsonOutput(`${JSON.stringify({ mirrors })}\n`, labels));
  const isToDo = mirrors.some(({ state }) => state === 'older');
  setExitCode(failures[0] ?? (isToDo ? exitCodes.difference : exitCodes.done));
}

const untouched = (database: string): UpgradedMirror => ({
  database,
  state: 'current',
  fromVersion: null,
  copy: null,
  error: null,
});

function look(path: string): Partial<UpgradedMirror> {
  assertNoBackup(path);
  const fromVersion = upgradesFrom(path);
  return fromVersion === null ? {} : { state: 'older', fromVersion };
}

function upgradeOne(path: string): Partial<UpgradedMirror> {
  assertNoBackup(path);
  const done = upgradeMirror(path);
  return done === null ? {} : { state: 'upgraded', ...done };
}

/** Backups are refused here, because a user might name all files of a folder. */
function assertNoBackup(path: string): void {
  if (readManifest(path) === null) return;
  throw new RefusedFileError(`${path} is a backup. It stays as it is; restore it, and upgrade the mirror.`);
}

function textOf({ database, state, fromVersion, copy }: UpgradedMirror): string {
  const words = {
    upgraded: `upgraded from docmirror ${fromVersion}. The mirror of before is ${copy}.`,
    older: `was made by docmirror ${fromVersion}. "docmirror upgrade" copies it and brings it up to date.`,
    current: 'up to date.',
    failed: null,
  }[state];
  return words === null ? '' : `${printable(`${database}: ${words}`)}\n`;
}
