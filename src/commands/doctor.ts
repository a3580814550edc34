import type { Config, ServiceConfig } from '../config/resolve.ts';
import { exitCodes, TokenUnavailableError, UsageError } from '../errors.ts';
import { diagnosisText, doctorOutputOf, findingText } from '../render/findings.ts';
import { readSigningKey } from './checkpoint-file.ts';
import { type Context, command } from './command.ts';
import { checkFiles, fileChecks } from './doctor/file-checks.ts';
import { checkNetwork } from './doctor/network-checks.ts';
import { checkNotifier, notifierChecks } from './doctor/notifier-checks.ts';
import { checkShare, shareCheck } from './doctor/share-check.ts';
import { failed, ok, skipped, type Verdict, warning } from './doctor/verdict.ts';
import { createLogger } from './logging.ts';
import { assertIsMirrorOf, readExtraCa } from './run-once.ts';
import { mirrorSettings, runSettings } from './shared-flags.ts';
import { readToken } from './token.ts';
import { widthOf } from './widths.ts';

/** `docmirror doctor` */
export const doctor = command({
  flags: {},
  settings: [...runSettings, 'signingKeyFile', ...mirrorSettings],
  examples: [
    { line: 'docmirror doctor', meaning: 'a line a check: what was tried, what was found, what to do' },
    { line: 'docmirror doctor --json > checks.json', meaning: 'for scripts' },
  ],
  notes: [
    'Nothing is changed, and no secret is shown: what it prints can be pasted into a ticket. The mirror is audited as "verify" does it, which can take long if it is large.',
    'It also says who else could read the mirror and the share, what killed backups left, and if pings and metrics get through. It only connects to the server of the pings, because a request would count as a ping.',
  ],
  exitCodes: '0, or what "docmirror sync" would end with.',
  async run({ json }, context) {
    const verdicts: Verdict[] = [];
    for await (const verdict of examine(context)) {
      const found = context.secrets.redact(verdict.found);
      verdicts.push({ ...verdict, found });
      if (!json) context.stdout.write(findingText({ ...verdict, found }, widthOf(context.stdout)));
    }
    context.exitCode = exitCodeOf(verdicts);
    const findings = verdicts.map(({ exitCode: _exitCode, ...finding }) => finding);
    return { findings, exitCode: context.exitCode };
  },
  output: doctorOutputOf,
  text: diagnosisText,
});

/** In the order in which a run needs things: it looks at the mirror before it asks the service. */
const networkChecks = ['name', 'proxy', 'certificate', 'access', 'pages'];

function exitCodeOf(verdicts: readonly Verdict[]): number {
  const isLater = ({ check }: Verdict) => networkChecks.includes(check);
  const ordered = [...verdicts.filter(each => !isLater(each)), ...verdicts.filter(isLater)];
  return ordered.find(({ status }) => status === 'failed')?.exitCode ?? 0;
}

async function* examine(context: Context): AsyncGenerator<Verdict> {
  const config = await attempt(() => context.config);
  const service = await attempt(() => context.service);
  const extraCa = await attempt(async () => service instanceof UsageError || (await readExtraCa(service)));
  const bound = await attempt(() => assertMirrorFits(config, service));
  const wrong = [config, service, extraCa, bound].flatMap(each =>
    each instanceof UsageError ? [each.message] : [],
  );
  const words = [...new Set(wrong)].join(' ');
  const todo =
    bound instanceof UsageError && wrong.length === 1
      ? 'Name a mirror and a service that belong together.'
      : '"docmirror sync --help" explains each.';
  yield wrong.length === 0
    ? await checkKey(config)
    : failed('settings', words, todo, exitCodes.usage, 'settings');
  const isUnusable = service instanceof UsageError || config instanceof UsageError || wrong.length > 0;
  const why = wrong.length === 1 && bound instanceof UsageError ? otherService : incomplete;
  if (isUnusable) yield* skippedChecks(['token', ...networkChecks], why);
  else yield* checkService(service, config, context);
  if (config instanceof UsageError)
    yield* skippedChecks([...fileChecks, shareCheck, ...notifierChecks], incomplete);
  else {
    yield* checkFiles(config.database, context.signal);
    yield await checkShare(config);
    yield* checkNotifier(config, context.environment, context.signal);
  }
}

/** No run needs the key that signs: where it can't be used, others end with it. */
async function checkKey(config: Config | UsageError): Promise<Verdict> {
  const path = config instanceof UsageError ? null : config.signingKeyFile;
  const key = await attempt(async () => path !== null && (await readSigningKey(path)));
  if (!(key instanceof UsageError)) return ok('settings', 'complete and usable');
  const todo = 'Runs do without it; "docmirror backup" and "docmirror audit checkpoint" would exit with 2.';
  return warning('settings', key.message, todo);
}

/**
 * Refuses another service than the mirror's before it is asked for anything, as a run does.
 *
 * @throws UsageError if the mirror is of another base address.
 */
function assertMirrorFits(config: Config | UsageError, service: ServiceConfig | UsageError): void {
  if (config instanceof UsageError || service instanceof UsageError) return;
  try {
    assertIsMirrorOf(config.database, service.baseUrl);
  } catch (error) {
    // The checks of the file report its other faults.
    if (error instanceof UsageError) throw error;
  }
}

async function* checkService(
  service: ServiceConfig,
  config: Config,
  context: Context,
): AsyncGenerator<Verdict> {
  const token = await readToken(service.token, context.signal).catch((error: unknown) => {
    if (error instanceof TokenUnavailableError) return error;
    throw error;
  });
  if (token instanceof TokenUnavailableError) {
    yield failed('token', token.message, 'Without a token nothing can be asked.', token.exitCode, token.code);
    yield* networkChecks.map(check => skipped(check, 'there is no token'));
    return;
  }
  context.secrets.add(token);
  const file = 'file' in service.token ? `: the file ${service.token.file}` : '';
  yield ok('token', `there is one, from ${service.token.from}${file}`);
  const logger = createLogger({ logLevel: 'silent', labels: {} }, context);
  const known = { ...service, token: { text: token, from: service.token.from } };
  yield* checkNetwork(known, config, { secrets: context.secrets, signal: context.signal, logger });
}

const incomplete = 'the settings are not complete';
const otherService = 'the mirror is of another service';

function skippedChecks(checks: readonly string[], why: string): Verdict[] {
  return checks.map(check => skipped(check, why));
}

/** The result of some work, or the usage error that it ends with. */
async function attempt<T>(work: () => T | Promise<T>): Promise<T | UsageError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UsageError) return error;
    throw error;
  }
}
