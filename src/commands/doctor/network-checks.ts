import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isLoopback } from '../../config/parse.ts';
import type { Config, ServiceConfig } from '../../config/resolve.ts';
import { type ListDefinition, lists } from '../../contract/lists.ts';
import type { Pagination } from '../../contract/page.ts';
import { type Rejection, readRecords } from '../../contract/record.ts';
import { codeOf, exitCodes, ServiceError } from '../../errors.ts';
import { counted } from '../../render/numbers.ts';
import { certificateWords, lookAtCertificate } from '../../service/certificate.ts';
import type { Service } from '../../service/service.ts';
import { getFirstPage, pageSizeAtFirst, pagesStated } from '../../sync/pages.ts';
import { type Opening, openService, readExtraCa } from '../run-once.ts';
import { failed, ok, skipped, type Verdict, warning } from './verdict.ts';

/** The result of one request for a list. */
interface ListProbe {
  readonly list: ListDefinition;
  readonly page: Pagination | null;
  readonly error: ServiceError | null;
  /** The number of pages that a run would find, if they are more than it is allowed to read. */
  readonly excessPages: number | null;
  /** The first record of the page that a run would set aside. */
  readonly rejection: Rejection | null;
}

/** Tries the way to the service, by one request a list. */
export async function* checkNetwork(
  service: ServiceConfig,
  config: Config,
  context: Opening,
): AsyncGenerator<Verdict> {
  yield await checkName(service);
  const answers = await askOnce(service, config, context);
  yield checkProxy(service, answers);
  yield await checkCertificate(service, config, answers, context.signal);
  yield checkAccess(answers);
  yield checkPages(answers, config);
}

async function checkName({ baseUrl, proxy }: ServiceConfig): Promise<Verdict> {
  const host = new URL(proxy?.url ?? baseUrl).hostname.replace(/^\[|\]$/g, '');
  const whose = proxy === null ? host : `${host}, the proxy`;
  if (isIP(host) !== 0) return skipped('name', `${whose}: an address needs no look-up`);
  try {
    const found = await lookup(host, { all: true });
    return ok('name', `${whose}: ${found.map(({ address }) => address).join(', ')}`);
  } catch (error) {
    const code = codeOf(error) ?? 'no reason given';
    const todo = `Check ${proxy?.variable ?? 'DOCMIRROR_BASE_URL'} and this machine's name service. In a company's network, HTTPS_PROXY might be missing.`;
    return failed('name', `${whose}: not found (${code})`, todo, exitCodes.failed);
  }
}

/** A wait that is shorter than this is no finding, in milliseconds. */
const momentMs = 2_000;

/** One request a list, and another one if it might have too many pages. */
async function askOnce(service: ServiceConfig, config: Config, context: Opening): Promise<ListProbe[]> {
  const giveUpAfterMs = Math.min(config.giveUpAfterMs, config.timeoutMs + momentMs);
  const source = await openService(service, { ...config, giveUpAfterMs }, context);
  const answers: ListProbe[] = [];
  try {
    for (const list of lists) {
      try {
        const page = await source.getPage(list, { pageNo: null, pageSize: null }, context.signal);
        const { pagination, content } = page;
        const excessPages = await excessOf(pagination, source, list, config, context.signal);
        const [rejection = null] = content === null ? [] : readRecords(list, content).rejections;
        answers.push({ list, page: pagination, error: null, excessPages, rejection });
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        answers.push({ list, page: null, error, excessPages: null, rejection: null });
        if (isWithoutWay(error)) break;
      }
    }
    return answers;
  } finally {
    await source.close();
  }
}

/** A run finds out larger page sizes, so it reads fewer pages. This asks for them only if the usual size makes too many. */
async function excessOf(
  { pageCount, totalRecordCount, pageSize }: Pagination,
  source: Service,
  list: ListDefinition,
  config: Config,
  signal: AbortSignal,
): Promise<number | null> {
  const size = Math.min(pageSize, config.pageSize ?? pageSize);
  if (pageCount <= config.maxPages && totalRecordCount <= config.maxPages * size) return null;
  const { envelope } = await getFirstPage(source, list, config.pageSize ?? pageSizeAtFirst, signal);
  const pages = pagesStated(envelope);
  return pages > config.maxPages ? pages : null;
}

/** True if no other list can be reached, either; a connection that breaks can be the fault of this list alone. */
function isWithoutWay({ code, cause }: ServiceError): boolean {
  const isUnconnected = /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/.test(
    codeOf(cause) ?? '',
  );
  return isUnconnected || ['proxy', 'certificate', 'tls'].includes(code);
}

function errorOf(answers: readonly ListProbe[], ...codes: string[]): ServiceError | undefined {
  return answers.flatMap(({ error }) => error ?? []).find(({ code }) => codes.includes(code));
}

function checkProxy({ proxy }: ServiceConfig, answers: readonly ListProbe[]): Verdict {
  if (proxy === null) return ok('proxy', 'none applies; the service is reached directly');
  const error = errorOf(answers, 'proxy');
  if (error === undefined) return ok('proxy', `${proxy.shown}, named by ${proxy.variable}`);
  const todo = `Check ${proxy.variable}; if the service can be reached without a proxy, add its host to NO_PROXY.`;
  return failed('proxy', error.message, todo, error.exitCode, error.code);
}

async function checkCertificate(
  service: ServiceConfig,
  { timeoutMs }: Config,
  answers: readonly ListProbe[],
  signal: AbortSignal,
): Promise<Verdict> {
  const { protocol, hostname } = new URL(service.baseUrl);
  if (protocol === 'http:' && isLoopback(hostname)) {
    return skipped('certificate', 'http has none, and what it carries does not leave this machine');
  }
  if (protocol === 'http:') {
    return warning('certificate', 'http has none', 'Anyone on the way can read the token. Use https.');
  }
  const error = errorOf(answers, 'certificate', 'tls');
  if (error !== undefined) return failed('certificate', error.message, null, error.exitCode, error.code);
  if (answers.every(each => errorOf([each], 'proxy', 'network', 'timeout') !== undefined))
    return skipped('certificate', 'the service was not reached');
  const extraCa = await readExtraCa(service);
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const certificate = await lookAtCertificate({ ...service, extraCa }, inTime);
  signal.throwIfAborted();
  return ok('certificate', certificate === null ? 'accepted' : certificateWords(certificate));
}

/** The advice for an answer that is no page, by the error's code. */
const advice: Readonly<Record<string, string>> = {
  unauthorized: 'Get a new token, and put it where the settings say that it is.',
  forbidden: 'Ask for a token that is allowed to read this list.',
  not_found: 'Check the path in DOCMIRROR_BASE_URL: the lists are below it, under /v2/.',
  redirected: 'Set DOCMIRROR_BASE_URL to the final address.',
  invalid_response: 'Something else seems to answer there: check DOCMIRROR_BASE_URL.',
  network: 'Check that the service runs, and that no firewall is in between.',
  timeout: 'Try again, check the way to the service, or set DOCMIRROR_TIMEOUT_MS to more.',
};
const laterAdvice = 'Try again later, or ask who runs the service.';

function checkAccess(answers: readonly ListProbe[]): Verdict {
  const [first] = answers.flatMap(({ error }) => error ?? []);
  const names = answers.map(({ list }) => list.resource).join(', ');
  if (first === undefined) return ok('access', `the token is accepted for ${names}`);
  if (['proxy', 'certificate', 'tls'].includes(first.code))
    return skipped('access', 'the service was not reached');
  const errors = answers.flatMap(({ list, error }) =>
    error === null ? [] : [`${list.resource}: ${error.message}`],
  );
  return failed(
    'access',
    errors.join('; '),
    advice[first.code] ?? laterAdvice,
    runExitCode(answers),
    first.code,
  );
}

function runExitCode(answers: readonly ListProbe[]): number {
  if (answers.some(({ error, excessPages }) => error === null && excessPages === null))
    return exitCodes.partial;
  return answers.every(({ error }) => error?.refusedToken) ? exitCodes.unauthorized : exitCodes.failed;
}

function checkPages(answers: readonly ListProbe[], { maxPages }: Config): Verdict {
  const pages = answers.flatMap(({ list, page }) => (page === null ? [] : [{ list, page }]));
  if (pages.length === 0) return skipped('pages', 'no page was read');
  const words = pages.map(
    ({ list, page }) =>
      `${list.resource}: first page ${page.pageNo}, ${page.pageSize} a page, ${counted(page.totalRecordCount, 'record')}`,
  );
  const excess = answers.flatMap(({ list, excessPages }) =>
    excessPages === null ? [] : [`${list.resource} has ${excessPages} pages`],
  );
  const rejected = answers.flatMap(({ list, rejection }) =>
    rejection === null ? [] : [`${list.resource} lists a record that can't be read (${rejection.reason})`],
  );
  if (excess.length === 0 && rejected.length > 0) {
    const todo =
      'A run sets such records aside, and removes nothing from that list. Ask who runs the service.';
    return failed('pages', `${rejected.join('; ')}; ${words.join('; ')}`, todo, exitCodes.partial);
  }
  if (excess.length === 0) return ok('pages', words.join('; '));
  const found = `${excess.join(', ')}, but no more than ${maxPages} are read; ${words.join('; ')}`;
  const todo = 'If that is right, set DOCMIRROR_MAX_PAGES or --max-pages.';
  return failed('pages', found, todo, runExitCode(answers));
}
