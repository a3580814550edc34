import { DocmirrorError, exitCodes, RefusedFileError } from '../errors.ts';
import { printable } from '../printable.ts';
import type { UpgradeOutput } from '../render/outputs/files.ts';
import { readManifest } from '../store/backup/manifest.ts';
import { upgradeMirror, upgradesFrom } from '../store/file/open-to-write.ts';
import { explainSqliteError } from '../store/file/sqlite-errors.ts';
import { command } from './command.ts';
import { files, yes } from './flags.ts';
import { mirrorSettings } from './shared-flags.ts';
import { whenFree } from './when-free.ts';

/** The result for one mirror; with `--check`, what an upgrade would do. */
type UpgradedMirror = UpgradeOutput['mirrors'][number];

/** `docmirror upgrade` */
export const upgrade = command({
  arguments: { mirrors: files('the mirrors (default: that of the settings)') },
  flags: { check: yes('only say what would happen; exit 4 if a mirror has to be upgraded') },
  settings: ['waitMs', ...mirrorSettings],
  examples: [
    { line: 'docmirror upgrade', meaning: 'after docmirror itself was updated' },
    { line: 'docmirror upgrade --check mirrors/*.sqlite', meaning: 'does any of them have to be?' },
  ],
  notes: [
    'A mirror is copied to FILE.before-VERSION first, and then upgraded in one step, which is done or not begun. That takes twice its size of free disk. "sync" and "watch" do the same when they begin. If one of many files can not be upgraded, the others are.',
    'Mirrors of 0.1 and 0.2 are not upgraded (mirror_too_old). docs/upgrading.md has the way back to an older docmirror.',
  ],
  exitCodes:
    '0 done, or nothing to do, 1 failed, 2 a file that is no mirror, or of 0.1, 0.2 or a newer docmirror, 4 with --check: a mirror has to be upgraded, 11 a run is using the mirror. Of several failures, the first counts.',
  async run(given, context) {
    const { signal, config } = context;
    const paths = given.mirrors.length === 0 ? [config.database] : given.mirrors;
    const bringUp = (path: string) =>
      given.check ? look(path) : whenFree(config.waitMs, signal, () => upgradeOne(path));
    const mirrors: UpgradedMirror[] = [];
    const failures: number[] = [];
    for (const path of paths) {
      signal.throwIfAborted();
      try {
        mirrors.push({ ...untouched(path), ...(await bringUp(path)) });
      } catch (error) {
        const known = explainSqliteError(error, path);
        // A single mirror fails like that of any command. If one of many fails, the others are still upgraded.
        if (paths.length === 1 || signal.aborted || !(known instanceof DocmirrorError)) throw error;
        const { code, message } = known;
        failures.push(known.exitCode);
        mirrors.push({ ...untouched(path), state: 'failed', error: { code, message } });
        context.stderr.write(`docmirror: ${printable(message)} [${code}]\n`);
      }
    }
    const isToDo = mirrors.some(({ state }) => state === 'older');
    context.exitCode = failures[0] ?? (isToDo ? exitCodes.difference : exitCodes.done);
    return { mirrors };
  },
  output: (upgraded): UpgradeOutput => upgraded,
  text: ({ mirrors }) => mirrors.map(textOf).join(''),
});

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
