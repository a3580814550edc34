import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Config, ServiceConfig } from '../config/resolve.ts';
import { type ListDefinition, lists } from '../contract/lists.ts';
import { readRecords } from '../contract/record.ts';
import { adviceOn, exitCodes, MirrorFileError } from '../errors.ts';
import { diagnosisText, type Finding, findingText } from '../render/findings.ts';
import { bytesText, counted } from '../render/numbers.ts';
import type { Service } from '../service/service.ts';
import { mirrorToWrite } from '../store/file/mirror-path.ts';
import { openMirrorForReading } from '../store/file/open.ts';
import { assertNothingIntrusive } from '../store/file/own-objects.ts';
import { assertAsWritten } from '../store/receipts/altered-lists.ts';
import { SqliteMirror } from '../store/write/mirror.ts';
import { getFirstPage, pageSizeAtFirst, pagesStated } from '../sync/pages.ts';
import { assertPagesMax } from '../sync/read.ts';
import { TimeSlice } from '../time-slice.ts';
import { type Context, command } from './command.ts';
import { mirrorSettings, runSettings } from './flags.ts';
import { failureOf, widthOf } from './io.ts';
import { createLogger } from './logging.ts';
import { assertIsMirrorOf, openService } from './run-once.ts';
import { assertShareFits } from './share.ts';
import { readToken } from './token.ts';

/** `docmirror doctor` */
export const doctor = command({
  flags: {},
  settings: [...runSettings, ...mirrorSettings],
  examples: {
    'docmirror doctor': 'a line a check: what was tried, what was found, what to do',
  },
  notes: [
    'Nothing is changed, and no secret is shown: what it prints can be pasted into a ticket. It tries what a run does, with one request a list.',
  ],
  exitCodes: '0, or what "docmirror sync" would end with.',
  async run({ json }, context) {
    const findings: Finding[] = [];
    for await (const { exitCode, ...finding } of examine(context)) {
      const shown = { ...finding, found: context.secrets.redact(finding.found) };
      findings.push(shown);
      if (!json) context.stdout.write(findingText(shown, widthOf(context.stdout)));
      context.exitCode ||= exitCode;
    }
    const ok = findings.every(({ status }) => status !== 'failed');
    return { ok, exitCode: context.exitCode, checks: findings };
  },
  output: found => found,
  text: diagnosisText,
});

/** A finding, and what `sync` would exit with for it; 0 if it would go on. */
type Verdict = Finding & { readonly exitCode: number };

/** A check by a part of a run. What the part returns is what was found; what it throws is what a run would end with. */
async function tried(
  check: string,
  part: () => string | Partial<Verdict> | Promise<string | Partial<Verdict>>,
): Promise<Verdict> {
  const usual = { check, status: 'ok', found: '', todo: null, code: null, exitCode: exitCodes.done } as const;
  try {
    const found = await part();
    return { ...usual, ...(typeof found === 'string' ? { found } : found) };
  } catch (error) {
    const { message: found, code, exitCode } = failureOf(error);
    if (code === 'internal') throw error;
    return { check, status: 'failed', found, todo: adviceOn(code), code, exitCode };
  }
}

/** With less free space than this no run gets through, in bytes. */
const freeBytesMin = 256 * 1024;

/** What a run needs, in its order: the settings, the mirror, its folder, the share, the token, and the lists. */
async function* examine(context: Context): AsyncGenerator<Verdict> {
  const { signal, secrets } = context;
  let config: Config | undefined;
  let service: ServiceConfig | undefined;
  yield await tried('settings', () => {
    config = context.config;
    service = context.service;
    return 'complete and usable';
  });
  if (config === undefined) return;
  const { database, share } = config;
  const mirror = await tried('mirror', async () => {
    const path = mirrorToWrite(database);
    if (service !== undefined) assertIsMirrorOf(database, service.baseUrl);
    if (!existsSync(path)) return `there is none at ${path} yet; the first run makes it`;
    SqliteMirror.openDry(database, () => undefined, { signal }).close();
    using file = openMirrorForReading(database);
    assertNothingIntrusive(file);
    await assertAsWritten(file, new TimeSlice(signal));
    return `${path} can be opened, and its rows are as docmirror wrote them`;
  });
  yield mirror;
  // A token is for the service of its mirror alone.
  if (mirror.code === 'settings') return;
  yield await tried('folder', () => {
    const folder = dirname(resolve(database));
    accessSync(folder, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(folder);
    if (bavail * bsize < freeBytesMin)
      throw new MirrorFileError(`${folder} has ${bytesText(bavail * bsize)} free.`, { code: 'disk_full' });
    return `${folder} can be written, and ${bytesText(bavail * bsize)} are free`;
  });
  yield await tried('share', () => {
    if (share === null) return { status: 'skipped', found: 'none is set (DOCMIRROR_SHARE)' };
    assertShareFits(context.config);
    return `${share} can be made`;
  });
  if (service === undefined) return;
  const { token } = service;
  let text = '';
  const asked = await tried('token', async () => {
    text = await readToken(token, signal);
    secrets.add(text);
    return `there is one, from ${token.from}`;
  });
  yield asked;
  if (asked.status === 'ok') yield* checkLists({ ...service, token: { text, from: token.from } }, context);
}

/** A wait that is shorter than this is no finding, in milliseconds. */
const momentMs = 2_000;

/** The first page of each list. */
async function* checkLists(service: ServiceConfig, context: Context): AsyncGenerator<Verdict> {
  const { config, signal } = context;
  const giveUpAfterMs = Math.min(config.giveUpAfterMs, config.timeoutMs + momentMs);
  const logger = createLogger({ logLevel: 'silent', labels: {} }, context);
  const source = openService(service, { ...config, giveUpAfterMs }, context, signal, logger);
  const pages: Verdict[] = [];
  try {
    for (const list of lists)
      pages.push(await tried(list.resource, () => readFirstPage(list, source, config, signal)));
    signal.throwIfAborted();
  } finally {
    await source.close();
  }
  const refused = pages.filter(({ code }) => code !== null);
  yield await tried('access', () => accessOf(refused));
  yield* pages.filter(page => !refused.includes(page));
}

/** @throws ServiceError if the list can't be read. */
async function readFirstPage(
  list: ListDefinition,
  source: Service,
  { pageSize, maxPages }: Config,
  signal: AbortSignal,
): Promise<Partial<Verdict>> {
  const first = await getFirstPage(source, list, pageSize ?? pageSizeAtFirst, signal);
  const { page } = first;
  assertPagesMax({ list, pagesMax: maxPages }, pagesStated(first));
  const size = `${first.pageSize} a page, ${counted(page.pagination.totalRecordCount, 'record')}`;
  const found = `first page ${first.firstPageNo}, ${size}`;
  const [rejected] = page.content === null ? [] : readRecords(list, page.content).rejections;
  if (rejected === undefined) return { found };
  const todo = 'A run sets such records aside, and removes nothing from that list. Ask who runs the service.';
  const why = `${found}; a record can't be read (${rejected.reason})`;
  return { status: 'failed', found: why, todo, exitCode: exitCodes.partial };
}

/** What the lists that could not be read say of the service and the token. */
function accessOf(refused: readonly Verdict[]): Partial<Verdict> {
  const [first] = refused;
  const names = lists.map(({ resource }) => resource).join(', ');
  if (first === undefined) return { found: `the token is accepted for ${names}` };
  const isToken = refused.every(({ exitCode }) => exitCode === exitCodes.unauthorized);
  const whole = isToken ? exitCodes.unauthorized : exitCodes.failed;
  const exitCode = refused.length < lists.length ? exitCodes.partial : whole;
  return { ...first, check: 'access', found: refused.map(({ found }) => found).join('; '), exitCode };
}
