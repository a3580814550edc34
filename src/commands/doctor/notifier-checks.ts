import { constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { proxyFor } from '../../config/proxy.ts';
import type { Config, Environment } from '../../config/resolve.ts';
import { DocmirrorError } from '../../errors.ts';
import { duration } from '../../render/numbers.ts';
import { unreachable } from '../../service/reach.ts';
import { assertReplaceable } from '../../store/file/atomic-file.ts';
import { readersOf } from '../../store/file/readers-of.ts';
import { denial } from './file-checks.ts';
import { ok, skipped, type Verdict, warning } from './verdict.ts';

/** How the runs tell others of themselves, in this order. No run fails because of it, so what is wrong is a warning. */
export const notifierChecks = ['ping', 'metrics file'];

/** Nobody waits longer for the server of the pings, in milliseconds. */
const reachMsMax = 5_000;
/** Older metrics are of no run of the last day, with two hours more, in milliseconds. */
const metricsMsMax = 26 * 60 * 60 * 1000;
/** node_exporter runs as another user. */
const metricsMode = 0o644;

/** Looks at where pings and metrics go. */
export async function* checkNotifier(
  { pingUrl, metricsFile }: Config,
  environment: Environment,
  signal: AbortSignal,
): AsyncGenerator<Verdict> {
  yield pingUrl === null
    ? skipped('ping', 'none is set (DOCMIRROR_PING_URL)')
    : await checkPing(pingUrl, environment, signal);
  yield metricsFile === null
    ? skipped('metrics file', 'none is set (DOCMIRROR_METRICS_FILE)')
    : checkMetricsFile(metricsFile);
}

/** Connects and asks for nothing: a request would count as a ping. Only the origin is shown, because the path is secret. */
async function checkPing(pingUrl: string, environment: Environment, signal: AbortSignal): Promise<Verdict> {
  const url = new URL(pingUrl.replaceAll('%c', 'sync'));
  const inTime = AbortSignal.any([signal, AbortSignal.timeout(reachMsMax)]);
  const why = await unreachable(url, proxyFor(url, environment), inTime);
  signal.throwIfAborted();
  if (why === null) return ok('ping', `${url.origin} can be reached; nothing was sent`);
  const todo = 'Check DOCMIRROR_PING_URL, and the way there. Runs go on without pings.';
  return warning('ping', `${url.origin} can't be reached (${why})`, todo);
}

function checkMetricsFile(path: string): Verdict {
  const folder = dirname(resolve(path));
  const code = denial(folder, constants.W_OK | constants.X_OK);
  const todo = 'Let the user who runs docmirror write there, or name another place. Runs go on without it.';
  if (code !== null) return warning('metrics file', `${folder} can't be written (${code})`, todo);
  try {
    assertReplaceable(path);
  } catch (error) {
    if (!(error instanceof DocmirrorError)) throw error;
    return warning('metrics file', error.message, 'Name another file in DOCMIRROR_METRICS_FILE.');
  }
  const { readers, mode, closedFolder } = readersOf(path, metricsMode);
  if (readers === 'its owner alone') {
    const why = closedFolder === null ? `its mode is ${mode}` : `${closedFolder} keeps others out`;
    return warning('metrics file', `${path}: ${why}`, 'Let the user of the collector read it.');
  }
  return checkAge(path);
}

function checkAge(path: string): Verdict {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return ok('metrics file', `${path} can be written; there is none yet`);
  const ageMs = Math.max(0, Date.now() - stat.mtimeMs);
  const found = `${path} was written ${duration(ageMs)} ago`;
  return ageMs <= metricsMsMax
    ? ok('metrics file', found)
    : warning('metrics file', found, 'Each run writes it: check that runs are still started.');
}
