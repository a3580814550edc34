import { existsSync, statSync } from 'node:fs';
import { addressOf, resolveOne } from '../config/resolve.ts';
import { exitCodes, MirrorFileError, OtherShapeError, UsageError } from '../errors.ts';
import { printable } from '../printable.ts';
import { acceptedLine } from '../render/accepted.ts';
import { bytesText, duration as lengthText } from '../render/numbers.ts';
import { linesOf, renderTable } from '../render/table.ts';
import { verificationText, verifiedOf } from '../render/verification.ts';
import { backUp, copiesOfBefore, listBackups, restore, rulesByPath } from '../store/copies/backup.ts';
import { checkpointBeside } from '../store/copies/manifest.ts';
import type { Retention } from '../store/copies/retention.ts';
import { fileBehind } from '../store/file/open.ts';
import { writeWhole } from '../store/file/whole-file.ts';
import { ageMs } from '../store/read/list-state.ts';
import type { Verification } from '../store/verify/verify.ts';
import { checkpointIn, readSigningKey, verifyWithCheckpoints } from './checkpoint-file.ts';
import { type Context, command, type Told } from './command.ts';
import { mirrorSettings, notifierSettings, numeral, timeSpan, typed } from './flags.ts';
import { failureOf, whenFree } from './io.ts';

const differencesMax = 100;

export default command({
  arguments: { destination: typed('DEST') },
  flags: {
    keep: numeral('N', [1, 100_000]),
    keepDaily: numeral('N', [1, 100_000]),
    keepWeekly: numeral('N', [1, 100_000]),
    keepMonthly: numeral('N', [1, 100_000]),
    check: typed('FILE'),
    restore: typed('FILE'),
    list: typed('FOLDER'),
    maxAge: timeSpan,
  },
  settings: ['baseUrl', 'signingKeyFile', 'actor', 'waitMs', ...notifierSettings, ...mirrorSettings],
  notifies: ({ check, restore, list }) => check === null && restore === null && list === null,
  async run({ destination, maxAge, check, restore: copy, list, ...rules }, context): Promise<Told> {
    const { keep: newest, keepDaily: daily, keepWeekly: weekly, keepMonthly: monthly } = rules;
    const counts = { newest, daily, weekly, monthly };
    const keep = Object.values(counts).some(each => each !== null) ? counts : null;
    // A setting that can't be used comes before a flag.
    void context.config;
    const given = [destination, check, copy, list].filter(each => each !== null);
    if (given.length !== 1 || (keep !== null && destination === null && list === null))
      throw new UsageError(
        'Name the file to write: docmirror backup DEST. Or give one of --check, --restore and --list, without DEST and --keep.',
      );
    const named = check ?? copy;
    context.line.work(destination === null ? 'checking the copy' : 'copying the mirror');
    if (named !== null && !existsSync(fileBehind(named)))
      throw new MirrorFileError(`There is no backup at ${named}.`);
    if (maxAge !== null && list === null) throw new UsageError('--max-age goes with --list.');
    if (destination !== null) return makeBackup(destination, keep, context);
    if (list !== null) return listFolder(list, maxAge, keep, context);
    if (copy !== null) return restoreMirror(copy, context);
    return audited(await audit(check ?? '', context), context);
  },
  output: ({ output }) => output,
  text: ({ text }, width) => text(width),
});

async function makeBackup(destination: string, keep: Retention | null, context: Context): Promise<Told> {
  const { signal, notifier } = context;
  const { database, signingKeyFile, labels } = context.config;
  if (signingKeyFile !== null) readSigningKey(signingKeyFile);
  notifier?.begun();
  const options = { limit: differencesMax, signal };
  const { made, verification } = await backUp(database, destination, keep, labels, options);
  if (made === null)
    return refused(verification, 'so it was not kept. Run "docmirror verify" on the mirror.', context);
  const { path, runId, bytes, removed } = made;
  if (signingKeyFile !== null) writeWhole(checkpointBeside(path), checkpointIn(path, signingKeyFile));
  notifier?.backup({ runId, bytes });
  const said = `${path}: the mirror as of run ${runId}, ${bytesText(bytes)}, verified.`;
  const lines = [said, ...removed.map(name => `Removed ${name}.`)];
  return { output: made, text: () => linesOf(lines.map(printable)) };
}

async function restoreMirror(copy: string, context: Context): Promise<Told> {
  const { signal, settings } = context;
  const { database, waitMs, actor } = context.config;
  const wanted = resolveOne('baseUrl', settings.flags, settings.environment);
  const verify = (path: string) => audit(copy, context, path);
  const options = { verify, baseUrl: wanted && addressOf(wanted), actor, signal };
  const put = () => restore(copy, database, options);
  const { verification, ...restored } = await whenFree(waitMs, signal, put);
  if (verification !== null && verification.differenceCount > 0)
    return refused(verification, 'so the mirror was left as it is.', context);
  const { path, runId, bytes, baseUrl, acceptances } = restored;
  const proof = verification === null ? 'not verified, because an older docmirror made it' : 'verified';
  const whose = baseUrl === null ? '' : ` It mirrors ${baseUrl}.`;
  const text = `${path}: the mirror as of run ${runId}, ${bytesText(bytes)}, ${proof}.${whose}`;
  const lines = (acceptances ?? []).map(each => {
    const what = each.withdrawnAt === null ? 'Lost' : 'In force again, because its withdrawal is lost';
    return `${what}: ${acceptedLine(each)}`;
  });
  lines.unshift(printable(`${text} "docmirror sync" brings it up to date.`));
  return { output: { ...restored, isVerified: verification !== null }, text: () => linesOf(lines) };
}

function refused(found: Verification, consequence: string, context: Context): Told {
  const { line, stderr } = context;
  stderr.write(`${line.erase()}docmirror: the copy is not sound, ${consequence} [mirror_file]\n`);
  return audited(found, context);
}

function audited(found: Verification, context: Context): Told {
  if (found.differenceCount > 0) context.exitCode = exitCodes.difference;
  const output = verifiedOf(found, null);
  return { output, text: width => verificationText(output, width) };
}

function audit(backup: string, { config, signal }: Context, path = backup): Promise<Verification> {
  const { signingKeyFile } = config;
  const checkpoints = [checkpointBeside(backup)].filter(file => existsSync(file));
  const options = { limit: differencesMax, signal, checkpoints, publicKey: null, signingKeyFile };
  return verifyWithCheckpoints(path, options).catch((error: unknown) => {
    if (failureOf(error).code !== 'upgrade_needed') throw error;
    const what =
      'was made by an older docmirror, so this version can\'t check it. It can be restored with "docmirror backup --restore"; the next sync then brings it up to date.';
    throw new OtherShapeError(backup, what);
  });
}

async function listFolder(folder: string, maxAgeMs: number | null, keep: Retention | null, context: Context) {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new UsageError(`--list: there is no folder ${folder}.`);
  const nowMs = Date.now();
  const found = await listBackups(folder, context.signal);
  const kept = keep === null ? null : rulesByPath(found, keep);
  const backups = found.map(backup => {
    const { path, isNewest, isSound, at } = backup;
    const age = ageMs(at, nowMs);
    let state = isSound === null ? 'no manifest' : 'ok';
    if (maxAgeMs !== null && (age ?? Infinity) > maxAgeMs) state = age === null ? 'in the future' : 'too old';
    if (isSound === false) state = existsSync(path) ? 'altered' : 'missing';
    const rules = kept === null ? {} : { keptBy: kept.get(path) ?? [] };
    return { ...backup, state: isNewest ? state : null, ageMs: age, ...rules };
  });
  const copies = copiesOfBefore(context.config.database);
  const isBad = backups.some(({ state }) => !['ok', 'no manifest', null].includes(state));
  if (isBad || (maxAgeMs !== null && backups.length === 0)) context.exitCode = exitCodes.difference;
  const ageText = (ms: number | null) => (ms === null ? 'in the future' : lengthText(ms));
  const ofRules = (cell: string) => (kept === null ? [] : [cell]);
  const rows = backups.map(({ path, baseUrl, runId, bytes, state, ...backup }) => {
    const whose = [baseUrl ?? '–', String(runId ?? '–'), ageText(backup.ageMs)];
    return [path, ...whose, bytesText(bytes), state ?? '', ...ofRules(backup.keptBy?.join(', ') || 'none')];
  });
  for (const { path, at, bytes, canGoFrom } of copies) {
    const state = `can go from ${canGoFrom.slice(0, 10)}`;
    rows.push([path, '–', '–', ageText(ageMs(at, nowMs) ?? 0), bytesText(bytes), state, ...ofRules('–')]);
  }
  const none = backups.length === 0 ? 'There is no backup here.\n' : '';
  const head = ['Backup', 'Service', 'Run', 'Age', 'Size', 'Newest', ...ofRules('Kept by')];
  const table = (width: number) => (rows.length === 0 ? '' : renderTable(head, rows, width));
  return { output: { backups, copies }, text: (width: number) => none + table(width) };
}
