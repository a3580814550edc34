import { statSync } from 'node:fs';
import type { Config } from '../config/resolve.ts';
import { readSmallFile } from '../config/small-file.ts';
import { RefusedFileError, UsageError } from '../errors.ts';
import { printable } from '../printable.ts';
import { bytesText } from '../render/numbers.ts';
import type { OutputOf } from '../render/outputs.ts';
import { linesOf } from '../render/table.ts';
import { isCurrent, type ShareOptions, shareTarget } from '../store/copies/share.ts';
import { openMirrorForReading } from '../store/file/open.ts';
import { SqliteMirror } from '../store/write/mirror.ts';
import { runErrorOf } from '../sync/list.ts';
import { command } from './command.ts';
import { mirrorSettings, repeated, typed, yes } from './flags.ts';
import { whenFree } from './io.ts';
import type { Logger } from './logging.ts';
import { makeShareApart } from './share-apart.ts';

export default command({
  arguments: { target: typed('FILE') },
  flags: { without: repeated(typed('FIELD')), withoutHistory: yes, sql: typed('FILE') },
  settings: ['waitMs', ...mirrorSettings],
  async run({ without, withoutHistory, ...given }, { config, signal, line }) {
    const { database, waitMs } = config;
    const target = given.target ?? config.share;
    if (target === null)
      throw new UsageError('Name the file to write, or set DOCMIRROR_SHARE: docmirror share FILE');
    const sql = given.sql === null ? readShareSql(config.shareSql) : readShareSql(given.sql, '--sql');
    const ofSettings = config.shareWithout;
    const asked = [...without, ...(withoutHistory ? ['history'] : [])].sort();
    const chosen = asked.length === 0 ? ofSettings : asked;
    const path = shareTarget(target, 'FILE');
    const isOfRuns = config.share !== null && path === shareTarget(config.share, setting);
    const isOther = chosen.join() !== ofSettings.join() || sql?.text !== readShareSql(config.shareSql)?.text;
    const undone = `${path} is what DOCMIRROR_SHARE names, so the next run would make it by the settings again. Set DOCMIRROR_SHARE_WITHOUT or DOCMIRROR_SHARE_SQL, or name another file.`;
    if (isOfRuns && isOther) throw new UsageError(undone);
    line.work('making the share');
    // Opened to be written, it would be made or brought up to date.
    openMirrorForReading(database).close();
    const mirror = await whenFree(waitMs, signal, () => SqliteMirror.open(database, { signal }));
    try {
      await mirror.recordDeadRuns();
      return await makeShareApart({ database, path, ...selectionOf(chosen), sql, signal });
    } finally {
      mirror.close();
    }
  },
  output: (made): OutputOf['share'] => made,
  text({ path, runId, bytes, leftOut }) {
    const state = runId === null ? 'no run has ended yet' : `the mirror as of run ${runId}`;
    const lines = [
      `${path}: ${state}, ${bytesText(bytes)}.`,
      ...leftOut.map(view => `The view ${view} was left out: it can't be read without what the share lacks.`),
    ];
    return linesOf(lines.map(printable));
  },
});

function readShareSql(path: string | null, name = 'DOCMIRROR_SHARE_SQL'): ShareOptions['sql'] {
  return path === null ? null : { path, text: readSmallFile(`${name}: `, path) };
}

const setting = 'DOCMIRROR_SHARE';

/** What is left out, by the names of fields, and `history`. */
const selectionOf = (names: readonly string[]) => ({
  without: names.filter(name => name !== 'history'),
  withHistory: !names.includes('history'),
});

type ShareSettings = Pick<Config, 'database' | 'share' | 'shareSql' | 'shareWithout'>;

/** Makes sure, before a run begins, that a share can follow it: a file that must not be replaced is refused. */
export function assertShareFits({ share, shareSql }: ShareSettings): void {
  if (share === null) return;
  readShareSql(shareSql);
  try {
    shareTarget(share, setting);
  } catch (error) {
    // A share that is damaged is no reason not to sync; that it can't be replaced is said after the run.
    if (error instanceof UsageError || error instanceof RefusedFileError) throw error;
  }
}

const groupOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.gid ?? null;

const lostGroupWords = (group: number) =>
  `the share can not keep its group ${group}, because this user is not in it; its readers are locked out until an administrator runs "usermod -aG GROUP USER"`;

/** What a run will do to the group of a share, in words; null if the group can stay. */
export function groupToLose(path: string): string | null {
  const group = groupOf(path);
  const [own, all = []] = [process.getegid?.(), process.getgroups?.()];
  const canStay = group === null || process.geteuid?.() === 0 || group === own || all.includes(group);
  return canStay ? null : lostGroupWords(group);
}

/** Makes the share again after a run, which still has the lock, if its content would differ; null if none is set. A failure is logged. */
export async function shareAfterRun(settings: ShareSettings, logger: Logger, signal: AbortSignal) {
  const { database, share: target, shareSql } = settings;
  if (target === null) return null;
  const startedAtMs = performance.now();
  try {
    signal.throwIfAborted();
    const place = shareTarget(target, setting);
    const sql = readShareSql(shareSql);
    const making = { ...selectionOf(settings.shareWithout), sql };
    const groupBefore = groupOf(place);
    if (!isCurrent(database, place, making)) {
      const order = { database, path: place, ...making, signal };
      const { path, runId, bytes, leftOut } = await makeShareApart(order);
      const durationMs = Math.round(performance.now() - startedAtMs);
      logger.info({ path, runId, bytes, leftOut, durationMs }, 'share made');
      if (groupBefore !== null && groupBefore !== groupOf(path))
        logger.warn({ path, group: groupBefore }, lostGroupWords(groupBefore));
    }
    return { path: target, error: null };
  } catch (error) {
    const why = runErrorOf(error);
    if (!signal.aborted && logger.logsEnds)
      logger.error({ path: target, error: why }, 'the share could not be made');
    return { path: target, error: why };
  }
}
