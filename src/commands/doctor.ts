import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { isOpenToOthers, readHeadersFile } from '../config/headers-file.ts';
import type { ServiceConfig } from '../config/resolve.ts';
import { type ListDefinition, lists } from '../contract/lists.ts';
import { readRecords } from '../contract/record.ts';
import { adviceOn, DocmirrorError, exitCodes, ServiceError } from '../errors.ts';
import { type CheckResult, checkText, checkTones, diagnosisText } from '../render/checks.ts';
import { bytesText, counted } from '../render/numbers.ts';
import { copiesOfBefore } from '../store/copies/backup.ts';
import { assertShareOf, shareTarget } from '../store/copies/share.ts';
import { tryLocks } from '../store/file/lock-trial.ts';
import { mirrorToWrite } from '../store/file/open.ts';
import { writing } from '../store/file/unfinished.ts';
import { replaceable } from '../store/file/whole-file.ts';
import { checkMirror } from '../store/write/altered-mirror.ts';
import { type FirstPage, getFirstPage, pagesStated } from '../sync/first-page.ts';
import { tooManyPages } from '../sync/pages.ts';
import { type Context, command } from './command.ts';
import { mirrorSettings, runSettings } from './flags.ts';
import { failureOf, widthOf } from './io.ts';
import { createLogger } from './logging.ts';
import { assertIsForMetrics } from './notifier.ts';
import { assertIsMirrorOf, openService } from './run-once.ts';
import { ticksOf, zoneOf } from './schedule.ts';
import { assertShareFits, groupToLose } from './share.ts';
import { painted } from './terminal.ts';
import { readToken } from './token.ts';

export default command({
  flags: {},
  settings: [...runSettings, 'schedule', 'timezone', ...mirrorSettings],
  async run({ json }, context) {
    const checks: CheckResult[] = [];
    const check: Check = async (name, part) => {
      const end = await Promise.try(part).catch((error: unknown): Partial<Verdict> => {
        const { message, code, exitCode } = failureOf(error);
        if (code === 'internal') throw error;
        const isLeftAlone = error instanceof ServiceError && error.retryAfterUntil !== null;
        const todo = adviceOn(code, { hasAnswered: false, isLeftAlone });
        return { status: 'failed', found: message, todo, code, exitCode };
      });
      const verdict = typeof end === 'string' ? { found: end } : end;
      const { exitCode = exitCodes.done, found = '', ...rest } = verdict;
      const usual = { check: name, status: 'ok', todo: null, code: null } as const;
      const finding = { ...usual, ...rest, found: context.secrets.redact(found) };
      checks.push(finding);
      await context.line.clear();
      const text = checkText(finding, widthOf(context.stdout));
      if (!json) context.stdout.write(painted(text, checkTones(finding), context.stdout));
      context.exitCode ||= exitCode;
      return finding;
    };
    await examine(context, check);
    return { ok: checks.every(({ status }) => status !== 'failed'), exitCode: context.exitCode, checks };
  },
  output: found => found,
  text: diagnosisText,
});

/** A result, and what `sync` would exit with for it; 0 if it would go on. */
type Verdict = CheckResult & { readonly exitCode: number };

/** A part of a run. What it returns is what was found; what it throws is what a run would end with. */
type Part = () => string | Partial<Verdict> | Promise<string | Partial<Verdict>>;

type Check = (name: string, part: Part) => Promise<CheckResult>;

async function examine(context: Context, check: Check): Promise<void> {
  const { signal, secrets } = context;
  const settings = await check('settings', () => {
    void context.config;
    void context.service;
    return 'complete and usable';
  });
  if (settings.code !== null) return;
  const { config, service } = context;
  const { database, share } = config;
  const mirror = await check('mirror', async () => {
    const path = mirrorToWrite(database);
    assertIsMirrorOf(database, service);
    context.line.work(`checking ${path}`);
    try {
      const times = await checkMirror(path, signal);
      if (times === undefined) return `there is none at ${path} yet; the first run makes it`;
      const whole = `${path} can be opened, and its rows are as docmirror wrote them`;
      if (times === null) return whole;
      const found = `${whole}; the time of ${counted(times.count, 'record')} can't be read, for example ${JSON.stringify(times.example)}`;
      return { status: 'warning', found, todo: 'Tell those who run the service.' };
    } catch (error) {
      if (failureOf(error).code !== 'upgrade_needed') throw error;
      const copied = `the next run copies it, for which ${bytesText(statSync(path).size)} must be free,`;
      return `${path} is of an older docmirror; ${copied} and brings it up to date`;
    }
  });
  // A token is for the service of its mirror alone.
  if (mirror.code === 'settings') return;
  await check('folder', () => {
    const folder = dirname(resolve(database));
    accessSync(folder, constants.W_OK | constants.X_OK);
    const { bavail, bsize, type } = statfsSync(folder);
    const free = bavail * bsize;
    if (free < roomMin) throw new DocmirrorError('disk_full', `${folder} has only ${bytesText(free)} free`);
    tryLocks(dirname(mirrorToWrite(database)));
    const ofLocks = type === fuseMagic ? 'on this mount alone (FUSE: other mounts do not see them), ' : '';
    return `${folder} can be written, also for temporary files, its locks work ${ofLocks}and ${bytesText(free)} are free`;
  });
  for (const { path, bytes, canGoFrom } of copiesOfBefore(database))
    await check('copy', () => {
      const found = `${path} is from before an upgrade, ${bytesText(bytes)}; it can go from ${canGoFrom.slice(0, 10)} on`;
      return Date.parse(canGoFrom) > Date.now() ? found : { status: 'warning', found, todo: 'Remove it.' };
    });
  await check('share', () => {
    if (share === null) return { status: 'skipped', found: 'none is set (DOCMIRROR_SHARE)' };
    assertShareFits(config);
    try {
      assertShareOf(database, share);
      tryLocks(dirname(shareTarget(share, 'DOCMIRROR_SHARE')));
    } catch (error) {
      const { code, message } = failureOf(error);
      throw new DocmirrorError(code, message, { exitCode: exitCodes.partial });
    }
    const found = groupToLose(share);
    if (found !== null)
      return { status: 'warning', found, todo: 'Add the user to the group, and log in again.' };
    return `${share} can be made`;
  });
  await check('schedule', () => {
    const { timezone, from } = zoneOf(config.timezone, context.settings.environment.TZ);
    const next = new Date(ticksOf(config.schedule, timezone)(Date.now())).toISOString();
    return `"watch" would run at ${JSON.stringify(config.schedule)} in ${timezone}, by ${from}; next at ${next}`;
  });
  const { pingUrl, metricsFile } = config;
  if (pingUrl !== null) await check('ping', () => `pings go to ${new URL(pingUrl).origin}; none was sent`);
  if (metricsFile !== null)
    await check('metrics', () => {
      try {
        const path = replaceable(metricsFile);
        assertIsForMetrics(path);
        writing(path, () => accessSync(dirname(path), constants.W_OK | constants.X_OK));
        return `${metricsFile} is written after each command`;
      } catch (error) {
        // A run warns of it, and goes on.
        const { message, code } = failureOf(error);
        return { status: 'warning', found: message, todo: adviceOn(code), code };
      }
    });
  await examineRequests(service, check);
  const { from } = service.token;
  let text = '';
  const token = await check('token', async () => {
    text = await readToken(service.token, signal);
    secrets.add(text);
    return `there is one, from ${from}`;
  });
  if (token.status === 'ok') await examineLists({ ...service, token: { text, from } }, context, check);
}

/** A client certificate that expires sooner is a finding, in milliseconds. */
const certificateMsMin = 30 * 24 * 3_600_000;

async function examineRequests({ query, headersFile, clientCertificate }: ServiceConfig, check: Check) {
  if (query !== null)
    await check('query', () => `${[...new URLSearchParams(query).keys()].join(', ')} go with each request`);
  if (headersFile !== null)
    await check('headers', () => {
      const names = Object.keys(readHeadersFile(headersFile)).join(', ') || 'none';
      const found = `${names} from ${headersFile}`;
      if (!isOpenToOthers(headersFile)) return found;
      return { status: 'warning', found: `${found}, which others can read`, todo: `chmod o= ${headersFile}` };
    });
  if (clientCertificate !== null)
    await check('certificate', () => {
      const { expiresAtMs } = clientCertificate;
      const found = `the client certificate expires on ${new Date(expiresAtMs).toISOString()}`;
      if (expiresAtMs - Date.now() > certificateMsMin) return found;
      return { status: 'warning', found, todo: 'Get a new certificate before that day.' };
    });
}

/** On a file system of FUSE, such as a mount over SSH, a lock is for this mount alone. */
const fuseMagic = 0x65735546;

/** Less free room than this is too little for a first run of any list, in bytes. */
const roomMin = 500_000;

/** A wait that is shorter than this is no finding, in milliseconds. */
const momentMs = 2_000;

async function examineLists(service: ServiceConfig, context: Context, check: Check): Promise<void> {
  const { config, signal } = context;
  const { pageSize, maxPages: pagesMax } = config;
  const giveUpAfterMs = Math.min(config.giveUpAfterMs, config.timeoutMs + momentMs);
  const logger = createLogger({ logLevel: 'silent', labels: {} }, context);
  const source = openService(service, { ...config, giveUpAfterMs }, context, signal, logger);
  const pages = new Map<ListDefinition, FirstPage>();
  await check('access', async () => {
    context.line.work('asking for the first page of each list');
    const errors: DocmirrorError[] = [];
    for (const list of lists)
      try {
        const size = { wanted: pageSize ?? ('auto' as const), served: null, nowMs: Date.now() };
        const first = await getFirstPage(source, list, size, signal);
        const tooMany = tooManyPages({ list, pagesMax }, pagesStated(first));
        if (tooMany === null) pages.set(list, first);
        else errors.push(tooMany);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof DocmirrorError)) throw error;
        errors.push(error);
      }
    const [first] = errors;
    if (first === undefined)
      return `the token is accepted for ${lists.map(({ resource }) => resource).join(', ')}`;
    const isToken = errors.every(({ exitCode }) => exitCode === exitCodes.unauthorized);
    const whole = isToken ? exitCodes.unauthorized : exitCodes.failed;
    const exitCode = pages.size > 0 ? exitCodes.partial : whole;
    const causeOf = (error: DocmirrorError) =>
      errors.length > 1 && error instanceof ServiceError ? error.ofAnyList : error.message;
    const causes = new Set(errors.map(causeOf));
    const retryAfterUntil = first instanceof ServiceError ? first.retryAfterUntil : null;
    const end = { exitCode, retryable: false, retryAfterUntil };
    throw new ServiceError(first.code, [...causes].join('; '), end);
  }).finally(() => source.close());
  for (const [list, { page, firstPageNo, pageSize: size }] of pages)
    await check(list.resource, () => {
      const records = counted(page.pagination.totalRecordCount, 'record');
      const found = `first page ${firstPageNo}, ${size} a page, ${records}`;
      const [rejected] = readRecords(list, page.items ?? []).rejections;
      if (rejected === undefined) return found;
      const said = `${found}; a record can't be read (${rejected.reason})`;
      const todo =
        'A run sets such records aside, and removes nothing from that list. Ask who runs the service.';
      return { status: 'failed', found: said, todo, exitCode: exitCodes.partial };
    });
}
